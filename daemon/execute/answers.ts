/**
 * Whose failure an error answer of the model's side is (DESIGN section 2: faults of ours void, failures of the agent
 * count).
 * Promises: a rejected key, a model that is not there, a limit or bill of the account, trouble of the service and an answer
 * that did not come whole are ours, whatever the agent says of them; a request that the service finds wrong, too long or
 * refuses is the agent's.
 * Does not promise: to tell a service's trouble from a request that was made to cause it; attempts bound that.
 */
import { isFault } from '../../store/format/errors.ts';
import { parseJson } from '../../store/format/json.ts';

/** The last answer of the model's side. */
export interface LastAnswer {
  /** HTTP status; 0 where none came. */
  readonly status: number;
  /** It came whole. */
  readonly complete: boolean;
  /** Bytes of an error's body; read only for a status from 400. */
  readonly body: Uint8Array;
}

/** By status: key, bill, permission, model, method, slow request, conflict, rate. */
const OURS: ReadonlySet<number> = new Set([0, 401, 402, 403, 404, 405, 407, 408, 409, 425, 429]);
/** By the error's own type, under whatever status a gateway gives it. */
const OUR_TYPES: ReadonlySet<string> = new Set([
  'authentication_error',
  'permission_error',
  'billing_error',
  'insufficient_quota',
  'not_found_error',
  'rate_limit_error',
  'timeout_error',
  'api_error',
  'overloaded_error',
]);
/** Services that answer an empty account with 400 say so in words. */
const BILL = /credit balance|billing|quota|payment/i;

/** What went wrong on our side with the last request; undefined where nothing did, or it was the agent's. */
export function oursIn({ status, complete, body }: LastAnswer): string | undefined {
  if (!complete) return 'the model did not answer the last request: no whole answer';
  if (status < 400 && status !== 0) return status < 300 && status >= 200 ? undefined : said(status);
  const { type, message } = errorOf(body);
  const ours = OURS.has(status) || status >= 500 || OUR_TYPES.has(type);
  return ours || (status === 400 && BILL.test(message)) ? said(status) : undefined;
}

const said = (status: number): string => `the model did not answer the last request: status ${status}`;

function errorOf(body: Uint8Array): { type: string; message: string } {
  try {
    const { error } = (parseJson(body, { maxBytes: 1 << 20 }) ?? {}) as {
      error?: { type?: unknown; message?: unknown };
    };
    return { type: String(error?.type), message: String(error?.message) };
  } catch (cause) {
    if (!isFault(cause)) throw cause;
    return { type: '', message: '' };
  }
}
