/**
 * What a secret looks like: the first table of shapes, shared by certification, scrub and hygiene.
 * Promises: shapes are matched on bytes read as Latin-1; every match is shorter than `LONGEST_SECRET`; ordinary text,
 * documented examples and digests do not match.
 * Does not promise: that an unshaped secret (a password in prose) is seen.
 */

export interface SecretShape {
  readonly name: string;
  /** Text without which the shape cannot match; tested first. ASCII case matters unless `folded`. */
  readonly hints: readonly string[];
  readonly source: string;
  readonly folded?: true;
  /** Too common in sound source code to stop a corpus: replaced before publication, and only then. */
  readonly publishedOnly?: true;
}

/** No match of any shape is longer (bytes). */
export const LONGEST_SECRET = 24_576;

// What stands before a token: no character of a longer word, unless it ends a JSON or percent escape. It is asked
// behind the head, so that an engine can search for the head's letters.
const BEFORE = '(?:(?<![A-Za-z0-9_-])|(?<=\\\\(?:[nrtfb]|u[0-9A-Fa-f]{4})|%[0-9A-Fa-f]{2}))';
const headed = (head: string): string => `${head}(?<=${BEFORE}${head})`;
const token = (head: string, rest: string): string => `${headed(head)}${rest}(?![A-Za-z0-9_-])`;
// A value behind a name: `name: value`, `name=value`, `"name":"value"`, with JSON escapes at any depth.
const BETWEEN = `[\\\\"']{0,8}[ \\t]{0,4}[:=][ \\t]{0,4}[\\\\"']{0,8}`;
const assigned = (name: string, value: string): string => `${headed(`(?:${name})`)}${BETWEEN}${value}`;

/** A digit not far off: keeps names and placeholders out. */
const WITH_DIGIT = '(?=[A-Za-z_./+-]{0,64}[0-9])';
const KEY_LABEL = '(?:[A-Z0-9]{1,16} ){0,3}PRIVATE KEY(?: BLOCK)?-----';

/** The secret is the first group of a match, or the whole match where there is no group. */
export const SECRET_SHAPES: readonly SecretShape[] = [
  {
    name: 'private-key',
    hints: ['PRIVATE KEY'],
    source:
      `-----BEGIN ${KEY_LABEL}(?=[\\s\\S]{0,400}?[A-Za-z0-9+/=]{40})` +
      `(?:[\\s\\S]{0,20000}?-----END ${KEY_LABEL}|[A-Za-z0-9+/=\\\\\\s]{0,20000})`,
  },
  {
    name: 'aws-access-key-id',
    hints: ['AKIA', 'ASIA'],
    source: token('A(?:KIA|SIA)', '(?![A-Z0-9]{0,9}EXAMPLE)[A-Z2-7]{16}'),
  },
  {
    name: 'aws-secret-access-key',
    hints: ['secret', 'SECRET', 'Secret'],
    source: assigned(
      'aws_?secret_?access_?key|SecretAccessKey',
      '(?![A-Za-z0-9/+]{0,40}EXAMPLE)([A-Za-z0-9/+]{40})(?![A-Za-z0-9/+])',
    ),
    folded: true,
  },
  { name: 'google-api-key', hints: ['AIza'], source: token('AIza', '[0-9A-Za-z_-]{35}') },
  { name: 'google-oauth-token', hints: ['ya29.'], source: token('ya29\\.', '[A-Za-z0-9_-]{20,512}') },
  { name: 'google-client-secret', hints: ['GOCSPX-'], source: token('GOCSPX-', '[A-Za-z0-9_-]{28}') },
  {
    name: 'github-token',
    hints: ['ghp_', 'gho_', 'ghu_', 'ghs_', 'ghr_'],
    source: token('gh[pousr]_', '[A-Za-z0-9]{36,255}'),
  },
  {
    name: 'github-fine-grained-token',
    hints: ['github_pat_'],
    source: token('github_pat_', '[A-Za-z0-9_]{22,255}'),
  },
  { name: 'gitlab-token', hints: ['glpat-'], source: token('glpat-', '[A-Za-z0-9_-]{20,255}') },
  {
    name: 'anthropic-key',
    hints: ['sk-ant-'],
    source: token('sk-ant-', '[a-z0-9]{3,16}-[A-Za-z0-9_-]{20,255}'),
  },
  {
    name: 'model-provider-key',
    hints: ['sk-'],
    source: token(
      'sk-',
      `(?:(?:proj|svcacct|admin|or-v1)-${WITH_DIGIT}[A-Za-z0-9_-]{24,255}|${WITH_DIGIT}[A-Za-z0-9]{32,128})`,
    ),
  },
  { name: 'hugging-face-token', hints: ['hf_'], source: token('hf_', '[A-Za-z0-9]{30,64}') },
  { name: 'npm-token', hints: ['npm_'], source: token('npm_', '[A-Za-z0-9]{36}') },
  { name: 'pypi-token', hints: ['pypi-'], source: token('pypi-AgE', '[A-Za-z0-9_-]{50,512}') },
  { name: 'slack-token', hints: ['xox'], source: token('xox[abeprs]-', '[0-9]{1,16}-[A-Za-z0-9-]{10,255}') },
  {
    name: 'slack-webhook',
    hints: ['hooks.slack.com'],
    source: 'hooks\\.slack\\.com/services/T[A-Z0-9]{6,16}/B[A-Z0-9]{6,16}/[A-Za-z0-9]{16,64}',
  },
  { name: 'stripe-key', hints: ['k_live_'], source: token('[rs]k_live_', '[A-Za-z0-9]{16,255}') },
  { name: 'sendgrid-key', hints: ['SG.'], source: token('SG\\.', '[A-Za-z0-9_-]{22}\\.[A-Za-z0-9_-]{43}') },
  {
    name: 'api-key-header',
    hints: ['api-key', 'Api-Key', 'API-Key', 'API-KEY'],
    source: assigned('x-api-key|x-goog-api-key|api-key', `${WITH_DIGIT}([A-Za-z0-9._~+/=-]{20,512})`),
    folded: true,
  },
  {
    name: 'authorization-header',
    hints: ['uthorization', 'UTHORIZATION'],
    source: assigned(
      'authorization',
      `(?:bearer|basic|token) {1,4}${WITH_DIGIT}([A-Za-z0-9._~+/=-]{16,4096})`,
    ),
    folded: true,
  },
  {
    name: 'json-web-token',
    hints: ['eyJ'],
    source: token('eyJ', '[A-Za-z0-9_-]{10,4096}\\.eyJ[A-Za-z0-9_-]{10,8192}\\.[A-Za-z0-9_-]{10,2048}'),
    publishedOnly: true,
  },
  {
    name: 'url-password',
    hints: ['://'],
    source: `://[^ \\t\\r\\n/:@"'\\\\]{1,64}:(?!\\[redacted:)([^ \\t\\r\\n/:@"'\\\\]{6,128})@`,
    publishedOnly: true,
  },
  {
    name: 'assigned-key',
    hints: ['API_KEY', 'ACCESS_TOKEN', 'AUTH_TOKEN', 'SECRET_KEY'],
    // What stands before the name is a part of it: `MODEL_API_KEY`.
    source: `(?:API_KEY|ACCESS_TOKEN|AUTH_TOKEN|SECRET_KEY)${BETWEEN}${WITH_DIGIT}([A-Za-z0-9._+/=-]{20,512})`,
    publishedOnly: true,
  },
];

/** Bytes before a secret that its shape may need to see. */
export const SECRET_CONTEXT = 192;

export interface Span {
  readonly start: number;
  readonly end: number;
}

/** A compiled shape: where the first secret at or after an index stands. */
export interface SecretFinder {
  readonly name: string;
  readonly publishedOnly: boolean;
  find(text: string, from: number): Span | undefined;
}

/** The table compiled once. `text` is bytes read as Latin-1. */
export const SECRET_FINDERS: readonly SecretFinder[] = SECRET_SHAPES.map((shape) => {
  const pattern = new RegExp(shape.source, shape.folded === true ? 'dgi' : 'dg');
  return {
    name: shape.name,
    publishedOnly: shape.publishedOnly === true,
    find(text, from) {
      const context = Math.max(0, from - SECRET_CONTEXT);
      if (!shape.hints.some((hint) => text.includes(hint, context))) return undefined;
      pattern.lastIndex = context;
      for (let found = pattern.exec(text); found !== null; found = pattern.exec(text)) {
        const [start, end] = found.indices?.[1] ?? found.indices?.[0] ?? [0, 0];
        if (start >= from) return { start, end };
        pattern.lastIndex = found.index + 1;
      }
      return undefined;
    },
  };
});
