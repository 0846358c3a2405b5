/** Runs as lines: what is going on, what came of it. */
import type { Reaped } from '../daemon/reap.ts';
import type { Ran, RunOptions } from '../daemon/run.ts';
import type { Cid } from '../store/format/cid.ts';
import { counted } from '../store/format/words.ts';
import type { Out } from './output.ts';

interface Limits {
  readonly family?: Cid | undefined;
  readonly limit?: number | undefined;
}

/** Options that say every step as progress and every run as a line. */
export function runOptions(
  out: Out,
  aborted: () => string | undefined,
  { family, limit }: Limits,
): RunOptions {
  return {
    ...(family === undefined ? {} : { family }),
    ...(limit === undefined ? {} : { limit }),
    aborted,
    watch: (step) => out.progress(`  ${step}`),
    ran: (ran) => out.say({ event: 'ran', ...ran }, ranLine(ran)),
  };
}

export function ranLine({ challenge, epoch, arm, attempt, status, receipt }: Ran): string {
  return `${challenge} epoch ${epoch} ${arm.padEnd(8)} attempt ${attempt}  ${status.padEnd(12)} ${receipt}`;
}

/** Says what start-up wrote off; nothing where there was nothing. */
export function reapedLine(out: Out, { sandboxes, booked, lost }: Reaped): void {
  if (sandboxes.length + booked + lost.length === 0) return;
  const line = `written off: ${counted(lost.length, 'start')} lost, ${counted(sandboxes.length, 'sandbox', 'sandboxes')} removed, ${counted(booked, 'reservation')} booked`;
  out.say({ event: 'reaped', sandboxes: sandboxes.length, booked, lost }, line);
}
