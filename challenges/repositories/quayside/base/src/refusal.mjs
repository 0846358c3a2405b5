/** A request that we will not carry out, with a code that the web form can show. */
export class Refusal extends Error {
  constructor(code, message) {
    super(message);
    this.code = code;
  }
}

/** The named field as a non-empty string, or a refusal that names it. */
export function text(request, field) {
  const value = request[field];
  if (typeof value !== 'string' || value.trim() === '') {
    throw new Refusal('bad-field', `${field} must be a text`);
  }
  return value.trim();
}
