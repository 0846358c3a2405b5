/**
 * Bench: the summary and report rules over 14 tasks x 5 epochs x 6 conditions, and the exact statistics in it, beside a
 * yardstick of the same run: SHA-256 over the bytes of all records that the rules read.
 * `node dist/test/bench/report.js`. The summary row holds reading and checking every record, and the certified interval of
 * each comparison; the statistics alone have their own row, and the target of 150 ms, in the bench of statistics.
 */
import { reportV1 } from '../../rules/report/v1.ts';
import { applyRule, type Rule } from '../../rules/rule.ts';
import { summaryV1 } from '../../rules/summary/v1.ts';
import { sha256 } from '../../store/format/crypto.ts';
import { derive } from '../rules/kit.ts';
import { makeWorld, type Run, TEST } from '../rules/summary/kit.ts';

let state = 20261130n;
function next(below: number): number {
  state = BigInt.asUintN(64, state * 6364136223846793005n + 1442695040888963407n);
  return Number((state >> 33n) % BigInt(below));
}

const RATES: Readonly<Record<string, number>> = {
  none: 14,
  retrieved: 41,
  pull: 63,
  distilled: 79,
  raw: 99,
  oracle: 95,
};

/** `epochs` outcomes for each arm of each task. */
function tasks(epochs: number) {
  return Array.from({ length: 14 }, (_, i) => ({
    id: `task-${i}`,
    arms: Object.fromEntries(
      Object.entries(RATES).map(([arm, rate]) => [
        arm,
        Array.from({ length: epochs }, (): Run => (next(100) < rate ? 1 : 0)),
      ]),
    ),
  }));
}

/** Every pair of conditions is one registered comparison: 15. */
function tests() {
  const arms = Object.keys(RATES);
  return arms.flatMap((control, i) =>
    arms
      .slice(i + 1)
      .map((treatment) => ({ ...TEST, id: `${treatment}-beside-${control}`, treatment, control })),
  );
}

async function timed(job: () => Promise<unknown>): Promise<number> {
  let least = Number.POSITIVE_INFINITY;
  for (let round = 0; round < 3; round += 1) {
    const start = process.cpuUsage();
    await job();
    const { user, system } = process.cpuUsage(start);
    least = Math.min(least, (user + system) / 1000);
  }
  return least;
}

async function measure(epochs: number): Promise<void> {
  const { blocks, binding, close, study, starts } = makeWorld({ tasks: tasks(epochs), tests: tests() });
  const records = [...blocks.map.values()];
  const yardstick = await timed(async () => records.map(sha256));
  const summary = await timed(() => applyRule(summaryV1 as unknown as Rule, binding, blocks));
  const { cid, value } = await derive(blocks, summaryV1, binding);
  const inputs = { close, summary: cid, study, redactions: [], starts, claims: [] };
  const report = await timed(() => applyRule(reportV1 as unknown as Rule, { inputs }, blocks));
  const say = (name: string, ms: number) =>
    console.log(
      `${name.padEnd(52)} ${ms.toFixed(1).padStart(9)} CPU ms ${(ms / yardstick).toFixed(1).padStart(9)} x`,
    );
  const size = `14 x ${epochs} x 6, ${value.comparisons.length} comparisons`;
  say(`sha256 over ${records.length} records`, yardstick);
  say(`summary, ${size}`, summary);
  say(`report in three forms with figures, ${size}`, report);
}

await measure(1);
await measure(5);
