import t from 'tap';
import { bounds, certified, significant, tryRound } from '../../../rules/statistics/decimal.ts';
import { enclose, order, plus, squareRoot, times, whole } from '../../../rules/statistics/enclosure.ts';
import { statistics } from '../../../rules/statistics/index.ts';
import { normalQuantile, pi } from '../../../rules/statistics/normal.ts';
import { add, compare, parse, type Rational, rational } from '../../../rules/statistics/rational.ts';

// Each interval is put back into the equation that defines it, by arithmetic of this file: exact rationals for
// Clopper-Pearson, plain doubles with a search elsewhere.

const STEP = 10n ** 24n;

/** P(X <= k) of n trials at p = units/10^24, exact, as a rational. */
function cumulative(k: number, n: number, units: bigint): Rational {
  let [sum, ways] = [0n, 1n];
  for (let i = 0; i <= k; i += 1) {
    sum += ways * units ** BigInt(i) * (STEP - units) ** BigInt(n - i);
    ways = (ways * BigInt(n - i)) / BigInt(i + 1);
  }
  return { num: sum, den: STEP ** BigInt(n) };
}

function unitsOf(text: string): bigint {
  const { num, den } = parse(text)!;
  return (num * STEP) / den;
}

t.test('Clopper-Pearson ends solve their equations to the last digit', async (t) => {
  for (const [k, n, level] of [
    [1, 7, '0.95'],
    [3, 14, '0.9'],
    [13, 14, '0.99'],
    [29, 70, '0.95'],
    [2, 30, '0.5'],
    [5, 9, '0.001'],
    [4, 9, '0.999999999'],
  ] as const) {
    const { lo, hi } = statistics.clopperPearson({ k, n, level });
    const tail = rational(parse(level)!.den - parse(level)!.num, 2n * parse(level)!.den);
    const width = (text: string): bigint => (unitsOf(text) * 2n) / 10n ** 19n + 2n;
    const below = (at: bigint) =>
      compare(cumulative(k - 1, n, at), { num: tail.den - tail.num, den: tail.den });
    t.ok(
      below(unitsOf(lo) - width(lo)) > 0 && below(unitsOf(lo) + width(lo)) < 0,
      `lo ${k}/${n} ${level} = ${lo}`,
    );
    const above = (at: bigint) => compare(cumulative(k, n, at), tail);
    t.ok(
      above(unitsOf(hi) - width(hi)) > 0 && above(unitsOf(hi) + width(hi)) < 0,
      `hi ${k}/${n} ${level} = ${hi}`,
    );
    const mirror = statistics.clopperPearson({ k: n - k, n, level });
    t.ok(Math.abs(1 - Number(mirror.lo) - Number(hi)) < 1e-15, 'mirrors');
    const upper = statistics.oneSidedUpper({ k, n, alpha: '0.05' }).hi;
    t.ok(compare(cumulative(k, n, unitsOf(upper) + width(upper)), parse('0.05')!) < 0, 'one-sided, above');
    t.ok(compare(cumulative(k, n, unitsOf(upper) - width(upper)), parse('0.05')!) > 0, 'one-sided, below');
  }
  t.equal(
    statistics.clopperPearson({ k: 1, n: 1, level: '0.5' }).lo,
    '0.25000000000000000000',
    'a root that is hit exactly',
  );
  t.same(statistics.clopperPearson({ k: 0, n: 0 }), { lo: '0', hi: '1', note: 'no data' });
});

t.test('the odds ratio interval is the mapped rate interval', async (t) => {
  for (const [b, c] of [
    [8, 2],
    [1, 40],
    [30, 1],
    [5, 5],
  ] as const) {
    const rate = statistics.clopperPearson({ k: b, n: b + c });
    const odds = statistics.discordantOddsRatioCI({ b, c });
    const near = (x: number, y: number) => Math.abs(x - y) <= 1e-12 * y;
    t.ok(near(Number(odds.lo), Number(rate.lo) / (1 - Number(rate.lo))), `${b} v ${c} lo`);
    t.ok(near(Number(odds.hi), Number(rate.hi) / (1 - Number(rate.hi))), `${b} v ${c} hi`);
    const swapped = statistics.discordantOddsRatioCI({ b: c, c: b });
    t.ok(near(Number(swapped.lo), 1 / Number(odds.hi)), 'swapping arms inverts');
  }
});

t.test('pi and normal quantiles have the published digits', async (t) => {
  t.equal(tryRound(pi(160), 40), '3.141592653589793238462643383279502884197');
  // Quantiles to 30 digits by mpmath (inverse error function).
  t.equal(tryRound(normalQuantile(parse('0.025')!, 140), 30), '1.95996398454005423552459443052');
  t.equal(tryRound(normalQuantile(parse('0.05')!, 140), 30), '1.64485362695147271486384890799');
  t.equal(tryRound(normalQuantile(parse('0.005')!, 140), 30), '2.57582930354890076097857674860');
});

const Z = 1.959963984540054;

t.test('Wilson solves its quadratic, Jeffreys its integral', async (t) => {
  for (const [k, n] of [
    [1, 5],
    [10, 70],
    [35, 110],
    [69, 70],
    [2, 3],
  ] as const) {
    const wilson = statistics.wilson({ k, n });
    for (const end of [wilson.lo, wilson.hi].map(Number))
      t.ok(Math.abs((k / n - end) ** 2 * n - Z * Z * end * (1 - end)) < 1e-12, `wilson ${k}/${n}`);
    // With x = sin²(angle) the Beta(k+1/2, n-k+1/2) density is 2 sin^2k cos^2(n-k): smooth, so Simpson's rule does.
    const mass = (to: number): number => {
      const steps = 20_000;
      const f = (angle: number) =>
        Math.exp(2 * k * Math.log(Math.sin(angle)) + 2 * (n - k) * Math.log(Math.cos(angle)));
      let sum = 0;
      for (let i = 1; i < steps; i += 1) sum += (i % 2 === 1 ? 4 : 2) * f((to * i) / steps);
      return ((sum + (to < 1.57 ? f(to) : 0)) * to) / steps / 3;
    };
    const all = mass(Math.PI / 2);
    const jeffreys = statistics.jeffreys({ k, n });
    t.ok(
      Math.abs(mass(Math.asin(Math.sqrt(Number(jeffreys.lo)))) / all - 0.025) < 1e-9,
      `jeffreys lo ${k}/${n}`,
    );
    t.ok(
      Math.abs(mass(Math.asin(Math.sqrt(Number(jeffreys.hi)))) / all - 0.975) < 1e-9,
      `jeffreys hi ${k}/${n}`,
    );
  }
  t.equal(statistics.jeffreys({ k: 0, n: 9 }).lo, '0');
  t.equal(statistics.wilson({ k: 9, n: 9 }).hi, '1');
});

/** The rate of control-only pairs that is most likely when the difference is D, by search. */
function likelyRate(b: number, c: number, n: number, difference: number): number {
  let [low, high] = [Math.max(0, -difference), (1 - difference) / 2];
  const log = (count: number, rate: number) => (count === 0 ? 0 : count * Math.log(Math.max(rate, 1e-300)));
  const value = (q: number) => log(b, q + difference) + log(c, q) + log(n - b - c, 1 - 2 * q - difference);
  for (let i = 0; i < 200; i += 1) {
    const [left, right] = [low + (high - low) / 3, high - (high - low) / 3];
    if (value(left) < value(right)) low = left;
    else high = right;
  }
  return (low + high) / 2;
}

function score(b: number, c: number, n: number, difference: number): number {
  const excess = b - c - n * difference;
  const variance = n * (2 * likelyRate(b, c, n, difference) + difference * (1 - difference));
  return variance <= 1e-12 ? (Math.abs(excess) < 1e-9 ? 0 : excess * 1e9) : excess / Math.sqrt(variance);
}

t.test('Tango ends have score z, with the likelihood maximised by search', async (t) => {
  for (const [a, b, c, d] of [
    [59, 6, 16, 80],
    [3, 4, 1, 6],
    [20, 24, 0, 26],
    [0, 5, 0, 0],
    [0, 0, 0, 9],
  ] as const) {
    const n = a + b + c + d;
    const { tango, newcombe10 } = statistics.pairedDifference({ a, b, c, d });
    t.ok(Math.abs(score(b, c, n, Number(tango.lo)) - Z) < 1e-4, `lo ${tango.lo}`);
    if (b < n) t.ok(Math.abs(score(b, c, n, Number(tango.hi)) + Z) < 1e-4, `hi ${tango.hi}`);
    const swapped = statistics.pairedDifference({ a, b: c, c: b, d });
    t.equal(Number(swapped.newcombe10.lo), -Number(newcombe10.hi), 'swapping arms mirrors');
    t.equal(Number(swapped.tango.hi), -Number(tango.lo));
  }
});

/** Probability of all tables with a score at least the observed one, worst over a fine grid of q. */
function worstP(b: number, c: number, n: number, difference: number, slack: number): number {
  const observed = score(b, c, n, difference);
  const members: (readonly [number, number, number])[] = [];
  const factorial = (k: number): number => (k <= 1 ? 1 : k * factorial(k - 1));
  for (let x = 0; x <= n; x += 1)
    for (let y = 0; x + y <= n; y += 1)
      if ((x === b && y === c) || score(x, y, n, difference) >= observed + slack)
        members.push([x, y, factorial(n) / factorial(x) / factorial(y) / factorial(n - x - y)]);
  let worst = 0;
  const least = Math.abs(difference);
  for (let i = 0; i <= 400; i += 1) {
    const q = least + ((1 - least) * i) / 400;
    const [win, loss] = [(q + difference) / 2, (q - difference) / 2];
    let sum = 0;
    for (const [x, y, ways] of members)
      sum += ways * win ** x * loss ** y * Math.max(0, 1 - q) ** (n - x - y);
    worst = Math.max(worst, sum);
  }
  return worst;
}

t.test(
  'the certified interval for a paired difference: nothing below its lower end is plausible',
  async (t) => {
    for (let n = 1; n <= 6; n += 1)
      for (let b = 0; b <= n; b += 1)
        for (let c = 0; b + c <= n; c += 1) {
          const found = statistics.pairedDifferenceExact({ b, c, n, level: '0.9' });
          const lo = Number(found.lo);
          let beyond = 0;
          for (let i = 1; lo > -1 && i <= 12; i += 1)
            beyond = Math.max(beyond, worstP(b, c, n, lo - ((lo + 1) * i) / 13, 1e-7));
          if (beyond > 0.05 + 1e-6) t.fail(`${b} v ${c} of ${n}: p ${beyond} below ${lo}`);
          const attained = Number(found.loEnclosure[1]);
          const there = c === n ? 1 : worstP(b, c, n, attained + 1e-7, -1e-7);
          if (there < 0.05 - 1e-4) t.fail(`${b} v ${c} of ${n}: p ${there} at ${attained}`);
          if (attained - lo > 1e-6) t.fail(`${b} v ${c} of ${n}: enclosure ${lo} to ${attained}`);
          const swapped = statistics.pairedDifferenceExact({ b: c, c: b, n, level: '0.9' });
          if (Number(swapped.hi) !== -lo) t.fail(`${b} v ${c} of ${n} does not mirror`);
        }
    t.pass('all tables of up to 6 pairs');
  },
);

const DIGITS = 10n ** 40n;

/** floor(sqrt(x)·10^40) of a rational. */
function rootUnits({ num, den }: Rational): bigint {
  const square = (num * DIGITS * DIGITS) / den;
  if (square === 0n) return 0n;
  let root = 1n << BigInt(Math.floor(square.toString(2).length / 2) + 1);
  for (;;) {
    const next = (root + square / root) >> 1n;
    if (next >= root) return root;
    root = next;
  }
}

const abs = (x: bigint): bigint => (x < 0n ? -x : x);

/** z(b, c; D)·10^20 for a rational D in (-1, 1), to some 15 digits after the point, by Tango's formula in whole numbers. */
function scoreUnits(b: number, c: number, n: number, { num, den }: Rational): bigint {
  if (num < 0n) return -scoreUnits(c, b, n, { num: -num, den });
  const unit = (x: bigint, over: bigint) => (x * DIGITS) / over;
  const w = unit(num * (den - num), den * den);
  if (b + c === 0) return num === 0n ? 0n : -rootUnits({ num: BigInt(n) * num, den: den - num }) / 10n ** 20n;
  const linear = unit(BigInt(2 * n - b + c) * num, den) - BigInt(b + c) * DIGITS;
  const root = rootUnits({
    num: linear * linear + 8n * BigInt(n) * BigInt(c) * w * DIGITS,
    den: DIGITS * DIGITS,
  });
  // r·10^40·2n = (root - linear)/2; V = n(2r + w).
  const variance = (root - linear) / 2n + BigInt(n) * w;
  const excess = BigInt(b - c) * DIGITS - unit(BigInt(n) * num, den);
  const deviation = rootUnits({ num: abs(variance), den: DIGITS });
  return deviation === 0n ? excess * DIGITS : (excess * 10n ** 20n) / deviation;
}

t.test(
  'the score rises with wins, falls with losses and falls with D, as the proof of the interval says',
  async (t) => {
    const n = 9;
    const near = 10n ** 6n;
    const all: bigint[][][] = [];
    for (let i = -24; i <= 24; i += 1)
      all.push(
        Array.from({ length: n + 1 }, (_, b) =>
          Array.from({ length: n + 1 - b }, (_, c) => scoreUnits(b, c, n, { num: BigInt(i), den: 25n })),
        ),
      );
    for (const [i, scores] of all.entries())
      for (const [b, row] of scores.entries())
        for (const [c, score] of row.entries()) {
          const more = scores[b + 1]?.[c];
          if (more !== undefined && more < score - near)
            t.fail(`${b + 1} v ${c} scores below ${b} v ${c} at ${i}`);
          const worse = row[c + 1];
          if (worse !== undefined && worse > score + near)
            t.fail(`${b} v ${c + 1} scores above ${b} v ${c} at ${i}`);
          const later = all[i + 1]?.[b]?.[c];
          if (later !== undefined && later > score + near) t.fail(`${b} v ${c} rises with D at ${i}`);
        }
    t.pass('49 differences, all tables of 9 pairs');
  },
);

/** P(tables at least as extreme as (b, c) at D, nuisance rate q), all of it in rationals; ties within 10^-9 are out. */
function exactMass(b: number, c: number, n: number, at: Rational, q: Rational): Rational {
  const observed = scoreUnits(b, c, n, at);
  const den = 2n * at.den * q.den;
  const [win, loss] = [q.num * at.den + at.num * q.den, q.num * at.den - at.num * q.den];
  const rest = den - 2n * q.num * at.den;
  const factorial = (k: number): bigint => (k <= 1 ? 1n : BigInt(k) * factorial(k - 1));
  let mass = 0n;
  for (let x = 0; x <= n; x += 1)
    for (let y = 0; x + y <= n; y += 1) {
      if (!(x === b && y === c) && scoreUnits(x, y, n, at) < observed + 10n ** 11n) continue;
      const ways = factorial(n) / factorial(x) / factorial(y) / factorial(n - x - y);
      mass += ways * win ** BigInt(x) * loss ** BigInt(y) * rest ** BigInt(n - x - y);
    }
  return { num: mass, den: den ** BigInt(n) };
}

t.test('below the certified end no rational D and q gives a p above the tail', async (t) => {
  const tail = { num: 1n, den: 40n };
  for (const [b, c, n] of [
    [2, 0, 3],
    [1, 1, 4],
    [5, 0, 5],
    [3, 1, 6],
    [0, 0, 6],
    [6, 1, 7],
    [2, 3, 7],
    [1, 6, 8],
    [4, 1, 8],
  ] as const) {
    const found = statistics.pairedDifferenceExact({ b, c, n });
    const lo = parse(found.lo)!;
    const above = parse(found.loEnclosure[1])!;
    t.ok(Number(found.loEnclosure[1]) - Number(found.lo) < 5e-9, `${b} v ${c} of ${n}: ${found.loEnclosure}`);
    let worst = 0;
    for (let i = 1; i <= 24; i += 1) {
      // From just below the end down to -1, closer near the end.
      const gap = { num: (lo.num + lo.den) * BigInt(i * i), den: lo.den * 25n * 25n };
      const at = rational(lo.num * gap.den - gap.num * lo.den, lo.den * gap.den);
      const size = { num: abs(at.num), den: at.den };
      for (let j = 0; j <= 24; j += 1) {
        const q = rational(size.num * 24n + (size.den - size.num) * BigInt(j), size.den * 24n);
        const p = exactMass(b, c, n, at, q);
        if (compare(p, tail) > 0) t.fail(`${b} v ${c} of ${n}: p above the tail at ${at.num}/${at.den}`);
        worst = Math.max(worst, Number((p.num * 10n ** 12n) / p.den) / 1e12);
      }
    }
    // At the other side of the enclosure some q reaches the tail: the end is not too low either.
    let most = 0;
    for (let j = 0; j <= 240; j += 1) {
      const at = rational(above.num * 10n ** 6n + above.den, above.den * 10n ** 6n);
      const size = { num: abs(at.num), den: at.den };
      const q = rational(size.num * 240n + (size.den - size.num) * BigInt(j), size.den * 240n);
      const p = exactMass(b, c, n, at, q);
      most = Math.max(most, Number((p.num * 10n ** 12n) / p.den) / 1e12);
    }
    t.ok(most > 0.0249, `${b} v ${c} of ${n}: p ${most} at ${found.loEnclosure[1]}, at most ${worst} below`);
  }
});

t.test('exact difference and exact test do not contradict each other', async (t) => {
  for (const [b, c, n] of [
    [5, 0, 5],
    [6, 0, 6],
    [9, 1, 14],
    [13, 1, 14],
    [0, 0, 9],
    [12, 3, 40],
  ] as const) {
    const { lo, hi } = statistics.pairedDifferenceExact({ b, c, n });
    t.ok(Number(lo) <= (b - c) / n && (b - c) / n <= Number(hi), `${b} v ${c} of ${n}: ${lo} ${hi}`);
    // The unconditional test is never weaker by more than its ordering; where McNemar's p is large 0 stays inside.
    const [num, den] = statistics.mcnemar({ b, c }).pExact!.split('/').map(Number);
    if (num! / den! > 0.2) t.ok(Number(lo) < 0, 'no effect shown by either');
  }
});

t.test('interval arithmetic encloses; decimals round to nearest', async (t) => {
  const third = enclose(rational(1n, 3n), 100);
  const back = times(third, whole(3n), 120);
  t.equal(order(back, whole(1n)), undefined, 'contains 1');
  t.equal(tryRound(back, 20), '1.0000000000000000000');
  const two = squareRoot(whole(2n), 200);
  t.equal(tryRound(two, 40), '1.414213562373095048801688724209698078570');
  t.equal(tryRound(plus(two, whole(-2n), 200), 20), '-0.58578643762690495120');
  t.equal(tryRound({ lo: 1n, hi: 3n, exp: 0 }), undefined, 'too wide to round');
  t.equal(
    certified(() => enclose(rational(1n, 8n), 64)),
    '0.12500000000000000000',
  );
  t.same(bounds(third, 5), { lo: '0.33333', hi: '0.33334' });
  t.same(bounds({ lo: 1n, hi: 1n, exp: -20000 }, 4), { lo: '2.512e-6021', hi: '2.513e-6021' });
  const half = add(rational(1n, 4n), rational(1n, 4n));
  t.equal(significant(half, 3), '0.500');
  t.equal(significant(rational(-2n, 3n), 2, 'up'), '-0.66');
  t.equal(significant(rational(-2n, 3n), 2, 'down'), '-0.67');
  t.equal(significant(rational(99996n, 10n), 4), '10000');
  t.equal(significant(rational(1n, 10n ** 9n), 2), '1.0e-9');
  t.equal(parse('1e999999'), undefined);
  for (const text of ['', '.', '1/0', '0x10', '1e', ' 1', '--1', 'NaN', '1,5'])
    t.equal(parse(text), undefined, text);
  t.same(parse('-.5e1'), { num: -5n, den: 1n });
});
