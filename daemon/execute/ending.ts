/**
 * How a fault of ours ends a run.
 * Promises: a voiding status, whatever the fault was; never an outcome.
 */
import { OUTCOME_STATUSES } from '../../rules/contracts/receipt.ts';
import { isFault } from '../../store/format/errors.ts';
import type { Ending, Step } from './task.ts';

const OUTCOMES: ReadonlySet<string> = new Set(OUTCOME_STATUSES);
/** Longest text of a fault in a receipt, in characters. */
const DETAIL = 4000;

type Place = Pick<Step, 'name' | 'voids'>;

/** Whether an ending has an outcome: the agent ran, and what it left is graded. */
export const hasOutcome = (ending: Ending | undefined): boolean =>
  ending !== undefined && OUTCOMES.has(ending.status);

/** The end that a fault in this step comes to. */
export function endingFor(step: Place, error: unknown): Ending {
  return voided(step, statusFor(step, error), codeOf(error), messageOf(error));
}

export function voided(step: Place, status: Ending['status'], code: string, detail: string): Ending {
  return { status, fault: { step: step.name, code, detail } };
}

/** A provisioner's fault is `provision_failed` wherever it shows; what is neither it nor the sandbox's is `aborted`. */
function statusFor({ voids = 'aborted' }: Place, error: unknown): Ending['status'] {
  if (isFault(error, 'E_PROVISION')) return 'provision_failed';
  return isFault(error, 'E_EXECUTOR') || voids === 'verifier_error' ? voids : 'aborted';
}

function codeOf(error: unknown): string {
  if (isFault(error)) return error.code;
  return error instanceof Error && 'syscall' in error ? 'E_IO' : 'E_INTERNAL';
}

const messageOf = (error: unknown): string =>
  (error instanceof Error ? error.message : String(error)).slice(0, DETAIL).toWellFormed();
