/**
 * The error catalogue: the only place where a code, its sentence, its exit status and its HTTP status stand.
 * Promises: every fault that leaves this program has a code from this list and says what was wanted and found.
 * Does not promise: translation, or that two faults of one code share a cause.
 */

interface Row {
  /** One sentence for a person; no full stop. */
  readonly sentence: string;
  /** Exit status of the command line. */
  readonly exit: number;
  /** Status of the HTTP API. */
  readonly http: number;
}

const row = (sentence: string, exit: number, http: number): Row => ({ sentence, exit, http });

/** code -> sentence, exit, http. Exit 2: the input is bad; 3: not there; 4: damage; 5: refused by a gate; 6: busy or the world; 1: our fault. */
export const ERRORS = {
  E_INTERNAL: row('a fault of ashlar itself', 1, 500),
  E_USAGE: row('the command line is not of the expected form', 2, 400),
  E_CID: row('not a CID or digest in an accepted spelling', 2, 400),
  E_CODEC: row('not canonical dag-json', 2, 400),
  E_JSON: row('not acceptable JSON', 2, 400),
  E_PATH: row('not an acceptable path', 2, 400),
  E_TREE: row('not a well-formed tree node', 2, 400),
  E_NOTE: row('not a well-formed signed note', 2, 400),
  E_SIGNATURE: row('a signature does not verify', 4, 422),
  E_PROOF: row('a Merkle proof does not verify', 4, 422),
  E_DIGEST: row('the bytes do not have the digest they should have', 4, 422),
  E_NOT_FOUND: row('no such object', 3, 404),
  E_KIND: row('a record of another kind was expected', 2, 422),
  E_CONTRACT: row('the record breaks its contract', 2, 422),
  E_LINK: row('a linked object is absent or of the wrong kind', 2, 422),
  E_DUPLICATE: row('a record for this key exists already', 5, 409),
  E_NAME_CONFLICT: row('the name has moved since it was read', 5, 409),
  E_READ_ONLY: row('the store cannot be written', 6, 403),
  E_STORE_BUSY: row('another process owns the store', 6, 503),
  E_STORE_FORMAT: row('not an ashlar store, or one of another version', 2, 400),
  E_STORE_EXISTS: row('there is something already', 2, 409),
  E_STORE_DAMAGED: row('the store is damaged', 4, 500),
  E_LOG_ROLLBACK: row('a log is shorter than its last checkpoint', 4, 500),
  E_LOG_KEY: row('the log key is absent or unfit', 6, 500),
  E_IO: row('the file system refused', 6, 500),
  E_CHANGED: row('the folder changed while it was read', 6, 409),
  E_GIT: row('Git cannot give this object', 2, 422),
  E_GIT_LAYOUT: row('this back end cannot read the repository', 2, 422),
  E_GIT_REF: row('a full commit id is needed', 2, 400),
  E_CAR: row('not a well-formed CAR file', 2, 400),
  E_INCOMPLETE: row('the closure is not complete', 3, 422),
  E_RULE_UNKNOWN: row('no such rule or rule version', 2, 422),
  E_RULE_INPUT: row('a rule was given inputs it cannot be applied to', 2, 422),
  E_CONFIG: row('the configuration is not usable', 2, 400),
  E_PROVISION: row('the provisioner failed', 6, 502),
  E_EXECUTOR: row('the sandbox failed', 6, 502),
  E_METER: row('the meter refused', 6, 502),
  E_BUDGET: row('the spending cap does not allow it', 5, 402),
  E_GATE: row('a gate did not pass', 5, 422),
  E_DESIGN: row('the registered design cannot reach its own alpha, or contradicts itself', 5, 422),
  E_CLAIM: row('a claim is not what it names', 5, 422),
  E_VERIFY: row('the release does not verify', 4, 422),
  E_STATS_INPUT: row('not an input this statistic is defined on', 2, 400),
  E_STATS_LIMIT: row('exact computation is out of reach at this size', 5, 422),
  E_TOO_LARGE: row('over the size limit', 2, 413),
  E_REQUEST: row('the request is not of the expected form', 2, 400),
  E_RANGE: row('no such range of bytes', 2, 416),
  E_RATE: row('too many requests', 6, 429),
  E_OVERLOADED: row('the server has more to do than it can', 6, 503),
  E_NOT_CACHED: row('not held here, and only what is held was asked for', 3, 412),
  E_REMOTE: row('the other side did not answer as it should', 6, 502),
  E_UNAUTHORIZED: row('the token is absent or wrong', 5, 401),
} as const satisfies Record<string, Row>;

export type ErrorCode = keyof typeof ERRORS;

/** What a fault carries beside its code. Values are printed as they are, so they hold no secret. */
export interface ErrorData {
  /** Which input: a path, a field, a cid. */
  readonly where?: string;
  /** Which rule of a contract with several was broken, by its short name. */
  readonly rule?: string;
  readonly wanted?: string;
  readonly found?: string;
  /** One more sentence: the way out, where there is one. */
  readonly hint?: string;
  readonly cause?: unknown;
}

/** Every fault that we throw on purpose. `message` is the whole printed line. */
export class AshlarError extends Error {
  override readonly name = 'AshlarError';
  readonly code: ErrorCode;
  readonly data: ErrorData;

  constructor(code: ErrorCode, data: ErrorData = {}) {
    super(printed(code, data), data.cause === undefined ? undefined : { cause: data.cause });
    this.code = code;
    this.data = data;
  }

  get exit(): number {
    return ERRORS[this.code].exit;
  }

  get http(): number {
    return ERRORS[this.code].http;
  }
}

function printed(code: ErrorCode, { where, rule, wanted, found, hint }: ErrorData): string {
  const parts = [`${code}: ${ERRORS[code].sentence}`];
  if (where !== undefined) parts.push(`at ${where}`);
  if (rule !== undefined) parts.push(`rule ${rule}`);
  if (wanted !== undefined) parts.push(`wanted ${wanted}`);
  if (found !== undefined) parts.push(`found ${found}`);
  return parts.join('; ') + (hint === undefined ? '' : `. ${hint}`);
}

/** Throws a catalogued fault. */
export function fail(code: ErrorCode, data: ErrorData = {}): never {
  throw new AshlarError(code, data);
}

/** Whether `error` is a fault of this code (or of any code, when none is given). */
export function isFault(error: unknown, code?: ErrorCode): error is AshlarError {
  return error instanceof AshlarError && (code === undefined || error.code === code);
}
