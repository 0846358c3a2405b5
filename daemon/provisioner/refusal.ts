/**
 * Why a provisioner's call is refused: a closed list.
 * Promises: every refusal is E_PROVISION, names one of these rules and carries a bounded piece of what was said.
 * Does not promise: a diagnosis of the product.
 */
import { fail } from '../../store/format/errors.ts';

/** Rule -> what was wanted. */
export const REFUSALS = {
  'path-escape': 'a regular file below the fixture root, reached by no link',
  'missing-artifact': 'a file that is there',
  'digest-mismatch': 'an artifact with the digest that was asked for',
  spawn: 'an executable that starts',
  exit: 'exit status 0',
  timeout: 'an answer in time',
  'output-limit': 'an answer within the size limit',
  'stdout-open': 'stdout closed when the process ends',
  bom: 'JSON without a byte order mark',
  encoding: 'well-formed UTF-8',
  'not-one-object': 'exactly one JSON object',
  'duplicate-field': 'every field once',
  number: 'numbers that read back',
  'unknown-field': 'no field but those of the protocol',
  'missing-field': 'every field of the protocol',
  'bad-field': 'fields of the protocol’s types',
} as const;
export type RefusalRule = keyof typeof REFUSALS;

/** What the process said, cut: for the operator, never parsed. */
export interface Said {
  readonly stdout: Uint8Array;
  readonly stderr: string;
}

/** Throws E_PROVISION. `verb` names the call; `found` what was found instead. */
export function refuseProvision(verb: string, rule: RefusalRule, found: string, cause?: unknown): never {
  fail('E_PROVISION', { where: `provisioner ${verb}`, rule, wanted: REFUSALS[rule], found, cause });
}
