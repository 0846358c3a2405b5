/**
 * Bench: the exact statistics, each size beside a yardstick in plain BigInt or plain doubles of the same run.
 * `node dist/test/bench/statistics.js`. Prints a line a job: best of three in ms, its CPU ms, and its ratio to the
 * yardstick: one product of two numbers of 10^6 bits, so that a row reads alike on a slow and on a fast machine.
 * Targets: tests, rates and certified intervals of 14 tasks x 5 epochs x 6 conditions with 15 comparisons < 150 ms; McNemar at n = 10^6 with 20
 * digits < 1 s; Clopper-Pearson at 10^6 < 1 s; any test at n <= 200 < 1 s.
 */
import { statistics } from '../../rules/statistics/index.ts';
import { print } from '../../rules/statistics/rational.ts';
import { aggregate, type PairedOutcome } from '../../rules/statistics/tasks.ts';

interface Cost {
  readonly ms: number;
  readonly cpuMs: number;
}

function best(job: () => unknown): Cost {
  let least: Cost = { ms: Number.POSITIVE_INFINITY, cpuMs: Number.POSITIVE_INFINITY };
  for (let round = 0; round < 3; round += 1) {
    const start = performance.now();
    const used = process.cpuUsage();
    job();
    const { user, system } = process.cpuUsage(used);
    const cost = { ms: performance.now() - start, cpuMs: (user + system) / 1000 };
    if (cost.cpuMs < least.cpuMs) least = cost;
  }
  return least;
}

/** A fixed sequence of whole numbers below `below`. */
function sequence(seed: bigint): (below: number) => number {
  let state = seed;
  return (below) => {
    state = BigInt.asUintN(64, state * 6364136223846793005n + 1442695040888963407n);
    return Number((state >> 33n) % BigInt(below));
  };
}

const next = sequence(20261130n);
const signed = (count: number, size: number): string[] =>
  Array.from({ length: count }, () => String(next(size) - Math.floor(size * 0.45)));
const single = (values: readonly string[]) => ({ clusters: values.map((value) => [value]) });

/** 14 tasks x 5 epochs under 6 conditions; every pair of conditions is one comparison. */
function report(): unknown {
  const rates = [15, 40, 60, 80, 95, 50];
  const outcome = rates.map((rate) => Array.from({ length: 70 }, () => (next(100) < rate ? 1 : 0)));
  const results: unknown[] = outcome.map((column) =>
    statistics.clopperPearson({ k: column.reduce<number>((sum, cell) => sum + cell, 0), n: 70 }),
  );
  const p: string[] = [];
  for (let x = 0; x < rates.length; x += 1)
    for (let y = 0; y < x; y += 1) {
      const pairs = Array.from(
        { length: 70 },
        (_, i): PairedOutcome => ({
          task: `task ${i % 14}`,
          epoch: Math.floor(i / 14),
          treatment: outcome[x]![i]!,
          control: outcome[y]![i]!,
        }),
      );
      const { clusters, table } = aggregate(pairs);
      const { a, b, c, d } = table;
      const flip = statistics.signFlip({ clusters: clusters.map((unit) => [print(unit.difference)]) });
      p.push(flip.pExact);
      results.push(flip, statistics.mcnemar({ b, c }), statistics.discordantOddsRatioCI({ b, c }));
      results.push({ a, d }, statistics.pairedDifferenceExact({ b, c, n: 70 }));
    }
  return [results, statistics.holm({ p, registered: p.length })];
}

const JOBS: Readonly<Record<string, () => unknown>> = {
  'report 14 x 5 x 6, 15 comparisons': report,
  'mcnemar 10^4 (20 digits)': () => statistics.mcnemar({ b: 4900, c: 5100 }),
  'mcnemar 10^6 (20 digits)': () => statistics.mcnemar({ b: 498_000, c: 502_000 }),
  'mcnemar 200 (rational)': () => statistics.mcnemar({ b: 90, c: 110 }),
  'clopperPearson 35/110': () => statistics.clopperPearson({ k: 35, n: 110 }),
  'clopperPearson 10^6': () => statistics.clopperPearson({ k: 300_000, n: 1_000_000 }),
  'wilcoxonSignedRank 100': () => statistics.wilcoxonSignedRank({ diffs: signed(100, 10 ** 6) }),
  'wilcoxonSignedRank 300': () => statistics.wilcoxonSignedRank({ diffs: signed(300, 10 ** 6) }),
  'hodgesLehmann 300': () => statistics.hodgesLehmann({ diffs: signed(300, 10 ** 6) }),
  'signFlip 200 (values to 1000)': () => statistics.signFlip(single(signed(200, 1000))),
  'signFlip 36 (distinct)': () => statistics.signFlip(single(signed(36, 10 ** 9))),
  'signFlip 40 (distinct)': () => statistics.signFlip(single(signed(40, 10 ** 9))),
  'cochranQ 14 x 5': () =>
    statistics.cochranQ({ rows: Array.from({ length: 14 }, () => [next(2), 1, 0, next(2), 1]) }),
  'mcnemarPower 70': () => statistics.mcnemarPower({ pairs: 70, p10: '0.24', p01: '0.05' }),
  'mcnemarMde 70': () => statistics.mcnemarMde({ pairs: 70, p01: '0.05' }),
  'pairedDifferenceExact 14': () => statistics.pairedDifferenceExact({ b: 6, c: 1, n: 14 }),
  'pairedDifferenceExact 70': () => statistics.pairedDifferenceExact({ b: 24, c: 5, n: 70 }),
  'pairedDifferenceExact 100': () => statistics.pairedDifferenceExact({ b: 20, c: 10, n: 100 }),
  'pairedDifferenceExact 300': () => statistics.pairedDifferenceExact({ b: 60, c: 50, n: 300 }),
  'pairedDifferenceExact 1000': () => statistics.pairedDifferenceExact({ b: 200, c: 170, n: 1000 }),
};

const million = (1n << 1_000_000n) / 3n;
const yardstick = best(() => million * (million - 1n));
console.log(
  `yardstick, product of two numbers of 10^6 bits: ${yardstick.ms.toFixed(2)} ms, ${yardstick.cpuMs.toFixed(2)} CPU ms`,
);
for (const [name, job] of Object.entries(JOBS)) {
  const { ms, cpuMs } = best(job);
  const ratio = cpuMs / yardstick.cpuMs;
  console.log(
    `${name.padEnd(36)} ${ms.toFixed(1).padStart(9)} ms ${cpuMs.toFixed(1).padStart(9)} CPU ms ${ratio.toFixed(2).padStart(9)} x`,
  );
}
