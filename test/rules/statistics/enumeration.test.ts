import fc from 'fast-check';
import t from 'tap';
import { statistics } from '../../../rules/statistics/index.ts';
import { signCounts } from '../../../rules/statistics/signed-sums.ts';

// Every test here counts all outcomes one by one, with code that shares nothing with the rules.

const seed = Date.now() % 2 ** 31;
t.comment(`fast-check seed ${seed}`);

type Sides = 'two-sided' | 'greater' | 'less';
const SIDES: readonly Sides[] = ['two-sided', 'greater', 'less'];

function reduced(num: bigint, den: bigint): string {
  let [x, y] = [num, den];
  while (y > 0n) [x, y] = [y, x % y];
  return `${num / x}/${den / x}`;
}

/** p from counts of outcomes at least and at most as large as the observed one, of `all`. */
function sided(atLeast: number, atMost: number, all: number, sides: Sides): string {
  const one = sides === 'greater' ? atLeast : sides === 'less' ? atMost : 2 * Math.min(atLeast, atMost);
  return reduced(BigInt(Math.min(one, all)), BigInt(all));
}

function signVectors(k: number): readonly (readonly number[])[] {
  return Array.from({ length: 2 ** k }, (_, bits) =>
    Array.from({ length: k }, (_, i) => ((bits >> i) & 1 ? 1 : -1)),
  );
}

/** p of a signed sum by all sign vectors. */
function flipP(values: readonly number[], sides: Sides): string {
  const sizes = values.filter((value) => value !== 0).map(Math.abs);
  const observed = values.reduce((sum, value) => sum + value, 0);
  const sums = signVectors(sizes.length).map((signs) =>
    signs.reduce((sum, sign, i) => sum + sign * sizes[i]!, 0),
  );
  const atLeast = sums.filter((sum) => sum >= observed).length;
  return sided(atLeast, sums.filter((sum) => sum <= observed).length, sums.length, sides);
}

t.test('mcnemar counts all sequences of coins', async (t) => {
  for (let n = 0; n <= 11; n += 1)
    for (let b = 0; b <= n; b += 1)
      for (const alternative of SIDES) {
        const wins = signVectors(n).map((signs) => signs.filter((sign) => sign > 0).length);
        const atLeast = wins.filter((win) => win >= b).length;
        const atMost = wins.filter((win) => win <= b).length;
        const equal = wins.filter((win) => win === b).length;
        const found = statistics.mcnemar({ b, c: n - b, alternative });
        const wanted = n === 0 ? '1/1' : sided(atLeast, atMost, 2 ** n, alternative);
        if (found.pExact !== wanted) t.equal(found.pExact, wanted, `${b} v ${n - b} ${alternative}`);
        const mid = sided(2 * atLeast - equal, 2 * atMost - equal, 2 ** (n + 1), alternative);
        if (found.pMidExact !== (n === 0 ? '1/1' : mid))
          t.equal(found.pMidExact, mid, `mid-p ${b} v ${n - b}`);
      }
  t.pass('all tables up to 11 discordant pairs');
});

t.test('the enclosed digits of a large test are those of the whole numerator', async (t) => {
  for (const [b, c, alternative] of [
    [1200, 1300, 'two-sided'],
    [1300, 1200, 'less'],
    [1300, 1200, 'greater'],
    [0, 2400, 'two-sided'],
    [2001, 0, 'less'],
    [1250, 1250, 'greater'],
    [1250, 1250, 'two-sided'],
  ] as const) {
    const n = b + c;
    let term = 1n;
    const terms = [term];
    for (let i = 0; i < n; i += 1) {
      term = (term * BigInt(n - i)) / BigInt(i + 1);
      terms.push(term);
    }
    const sum = (from: number, to: number) => terms.slice(from, to + 1).reduce((x, y) => x + y, 0n);
    const [up, down] = [sum(b, n), sum(0, b)];
    const one = alternative === 'greater' ? up : alternative === 'less' ? down : 2n * (b < c ? down : up);
    const all = 2n ** BigInt(n);
    const p = one > all ? all : one;
    const { p: text, pEnclosure } = statistics.mcnemar({ b, c, alternative });
    // |text - p/all| <= half a unit of the 20th digit, which is at most 10^-19 relative.
    const [mantissa, power = '0'] = text.split('e');
    const [whole, part = ''] = mantissa!.split('.');
    const places = BigInt(part.length - Number(power));
    const printed = BigInt(`${whole}${part}`) * all;
    const true_ = p * 10n ** places;
    const error = printed > true_ ? printed - true_ : true_ - printed;
    t.ok(error * 10n ** 19n <= true_, `${b} v ${c} ${alternative}: ${text}`);
    t.ok(pEnclosure !== undefined, 'has an enclosure');
  }
});

t.test('sign test, sign flip and signed rank count all sign vectors', async (t) => {
  const difference = fc.oneof(fc.integer({ min: -6, max: 6 }), fc.integer({ min: -40, max: 40 }));
  fc.assert(
    fc.property(fc.array(difference, { maxLength: 9 }), fc.constantFrom(...SIDES), (diffs, alternative) => {
      const text = diffs.map((diff) => `${diff / 10}`);
      const flip = statistics.signFlip({ clusters: text.map((diff) => [diff]), alternative });
      t.equal(flip.pExact, flipP(diffs, alternative));
      const sign = statistics.signTest({ diffs: text, alternative });
      t.equal(sign.pExact, flipP(diffs.map(Math.sign), alternative));
      for (const zeroMethod of ['pratt', 'wilcox'] as const) {
        const kept = diffs.filter((diff) => zeroMethod === 'pratt' || diff !== 0);
        const rank = (size: number): number =>
          2 * kept.filter((other) => Math.abs(other) < size).length +
          kept.filter((other) => Math.abs(other) === size).length +
          1;
        const ranked = kept.map((diff) => Math.sign(diff) * rank(Math.abs(diff)));
        const found = statistics.wilcoxonSignedRank({ diffs: text, zeroMethod, alternative });
        t.equal(found.pExact, flipP(ranked, alternative), `${zeroMethod} ${diffs}`);
        const plus = ranked.filter((value) => value > 0).reduce((sum, value) => sum + value, 0);
        t.equal(found.wPlusExact, reduced(BigInt(plus), 2n));
      }
    }),
    { seed, numRuns: 150 },
  );
});

t.test('dense, meet-in-the-middle and sparse counting agree with enumeration', async (t) => {
  const count = (weights: readonly bigint[], plus: bigint) => {
    const sums = signVectors(weights.length).map((signs) =>
      signs.reduce((sum, sign, i) => (sign > 0 ? sum + weights[i]! : sum), 0n),
    );
    return {
      atLeast: BigInt(sums.filter((sum) => sum >= plus).length),
      atMost: BigInt(sums.filter((sum) => sum <= plus).length),
      k: weights.length,
    };
  };
  fc.assert(
    fc.property(
      fc.array(fc.bigInt({ min: 1n, max: 30n }), { minLength: 1, maxLength: 11 }),
      fc.constantFrom(1n, 10n ** 9n + 7n, 10n ** 30n + 57n),
      fc.nat(),
      (small, stretch, pick) => {
        // The + i keeps a common divisor from undoing the stretch.
        const weights = small.map((weight, i) => weight * stretch + (stretch === 1n ? 0n : BigInt(i % 2)));
        const plus = weights.filter((_, i) => (pick >> i) & 1).reduce((sum, weight) => sum + weight, 0n);
        t.same(signCounts(weights, plus), count(weights, plus));
      },
    ),
    { seed, numRuns: 200 },
  );
  // 60 weights of two large sizes: only the table of distinct sums can do these.
  const big = Array.from({ length: 60 }, (_, i) => (i < 30 ? 10n ** 15n : 10n ** 15n + 1n));
  const observed = 35n * 10n ** 15n + 12n;
  const wanted = new Map<bigint, bigint>();
  const ways = (n: number, k: number): bigint =>
    k === 0 ? 1n : (ways(n, k - 1) * BigInt(n - k + 1)) / BigInt(k);
  let [atLeast, atMost] = [0n, 0n];
  for (let x = 0; x <= 30; x += 1)
    for (let y = 0; y <= 30; y += 1) {
      const sum = BigInt(x) * big[0]! + BigInt(y) * big[59]!;
      wanted.set(sum, ways(30, x) * ways(30, y));
      if (sum >= observed) atLeast += ways(30, x) * ways(30, y);
      if (sum <= observed) atMost += ways(30, x) * ways(30, y);
    }
  t.same(signCounts(big, observed), { atLeast, atMost, k: 60 });
  // 110 equal weights of the dense kind, where counts pass 2^100: against binomial sums.
  const even = Array.from({ length: 110 }, (_, i) => BigInt(1 + (i % 2)));
  let dense = 0n;
  for (let x = 0; x <= 55; x += 1)
    for (let y = 0; y <= 55; y += 1) if (x + 2 * y <= 70) dense += ways(55, x) * ways(55, y);
  t.equal(signCounts(even, 70n)?.atMost, dense);
});

t.test('hodgesLehmann inverts the counted signed-rank distribution', async (t) => {
  fc.assert(
    fc.property(
      fc.array(fc.integer({ min: -20, max: 20 }), { minLength: 1, maxLength: 9 }),
      fc.constantFrom('0.5', '0.9', '0.95'),
      (diffs, level) => {
        const n = diffs.length;
        const walsh = diffs.flatMap((x, i) => diffs.slice(i).map((y) => x + y)).sort((x, y) => x - y);
        const w = signVectors(n).map((signs) =>
          signs.reduce((sum, sign, i) => (sign > 0 ? sum + i + 1 : sum), 0),
        );
        const fits = (k: number): boolean =>
          w.filter((value) => value <= k).length * 2 <= (1 - Number(level)) * 2 ** n + 1e-9;
        let k = -1;
        while (fits(k + 1)) k += 1;
        const found = statistics.hodgesLehmann({ diffs, level });
        t.equal(found.attainable, k >= 0, `${diffs} ${level}`);
        const half = (value: number, den: bigint): string =>
          value < 0 ? `-${reduced(BigInt(-value), den)}` : reduced(BigInt(value), den);
        const middle = walsh[(walsh.length - 1) >> 1]! + walsh[walsh.length >> 1]!;
        t.equal(found.estimateExact, half(middle, 4n));
        t.equal(found.loExact, k < 0 ? null : half(walsh[k]!, 2n));
        t.equal(found.hiExact, k < 0 ? null : half(walsh[walsh.length - 1 - k]!, 2n));
      },
    ),
    { seed, numRuns: 120 },
  );
});

t.test('fisherExact counts all ways to deal the successes', async (t) => {
  for (let a = 0; a <= 3; a += 1)
    for (let b = 0; b <= 3; b += 1)
      for (let c = 0; c <= 3; c += 1)
        for (let d = 0; d <= 2; d += 1) {
          const n = a + b + c + d;
          const hands = signVectors(n).filter((signs) => signs.filter((sign) => sign > 0).length === a + c);
          const tops = hands.map((signs) => signs.slice(0, a + b).filter((sign) => sign > 0).length);
          const like = (x: number): number => tops.filter((top) => top === x).length;
          const atLeast = tops.filter((top) => top >= a).length;
          const atMost = tops.filter((top) => top <= a).length;
          const rare = tops.filter((top) => like(top) <= like(a)).length;
          const two = statistics.fisherExact({ a, b, c, d });
          const wanted = [rare, Math.min(tops.length, 2 * Math.min(atLeast, atMost)), atLeast, atMost];
          const found = [
            two.pExact,
            two.pCentralExact,
            statistics.fisherExact({ a, b, c, d, alternative: 'greater' }).pExact,
            statistics.fisherExact({ a, b, c, d, alternative: 'less' }).pExact,
          ];
          const texts = wanted.map((ways) => reduced(BigInt(ways), BigInt(tops.length)));
          if (`${found}` !== `${texts}`) t.same(found, texts, `${a} ${b} ${c} ${d}`);
        }
  t.pass('all tables of up to 11');
});

t.test('cochranQ counts all permutations within rows', async (t) => {
  const table = fc.integer({ min: 2, max: 4 }).chain((k) =>
    fc.array(fc.array(fc.constantFrom(0, 1), { minLength: k, maxLength: k }), {
      minLength: 1,
      maxLength: 5,
    }),
  );
  const arrangements = (row: readonly number[]): readonly (readonly number[])[] =>
    signVectors(row.length)
      .map((signs) => signs.map((sign) => (sign > 0 ? 1 : 0)))
      .filter(
        (cells) => cells.filter((cell) => cell === 1).length === row.filter((cell) => cell === 1).length,
      );
  const spread = (rows: readonly (readonly number[])[]): number =>
    rows[0]!.reduce((sum, _, i) => sum + rows.reduce((total, row) => total + row[i]!, 0) ** 2, 0);
  fc.assert(
    fc.property(table, (rows) => {
      let all: (readonly (readonly number[])[])[] = [[]];
      for (const row of rows) all = all.flatMap((built) => arrangements(row).map((next) => [...built, next]));
      const extreme = all.filter((built) => spread(built) >= spread(rows)).length;
      t.equal(
        statistics.cochranQ({ rows }).pExact,
        reduced(BigInt(extreme), BigInt(all.length)),
        JSON.stringify(rows),
      );
      if (rows[0]!.length === 2) {
        const b = rows.filter(([x, y]) => x === 1 && y === 0).length;
        const c = rows.filter(([x, y]) => x === 0 && y === 1).length;
        t.equal(statistics.cochranQ({ rows }).pExact, statistics.mcnemar({ b, c }).pExact);
      }
    }),
    { seed, numRuns: 60 },
  );
});

t.test(
  'power sums all sequences of pairs; the detectable effect is the first grid point that reaches it',
  async (t) => {
    const rejects = (b: number, c: number, alpha: number, sides: Sides): boolean => {
      const [num, den] = statistics.mcnemar({ b, c, alternative: sides }).pExact!.split('/').map(Number);
      return num! / den! <= alpha;
    };
    for (const [pairs, p10, p01, alpha, alternative] of [
      [6, 0.5, 0.125, 0.2, 'two-sided'],
      [7, 0.125, 0.5, 0.25, 'two-sided'],
      [7, 0.25, 0.25, 0.1, 'greater'],
      [6, 0.5, 0.25, 0.1, 'less'],
      [5, 0.25, 0.5, 0.75, 'greater'],
      [4, 0, 0.5, 0.7, 'two-sided'],
    ] as const) {
      let [any, right] = [0, 0];
      for (let code = 0; code < 3 ** pairs; code += 1) {
        const kinds = Array.from({ length: pairs }, (_, i) => Math.floor(code / 3 ** i) % 3);
        const b = kinds.filter((kind) => kind === 1).length;
        const c = kinds.filter((kind) => kind === 2).length;
        if (!rejects(b, c, alpha, alternative)) continue;
        const mass = p10 ** b * p01 ** c * (1 - p10 - p01) ** (pairs - b - c);
        any += mass;
        if (p10 >= p01 ? b > c : c > b) right += mass;
      }
      const found = statistics.mcnemarPower({
        pairs,
        p10: `${p10}`,
        p01: `${p01}`,
        alpha: `${alpha}`,
        alternative,
      });
      t.ok(
        Math.abs(Number(found.rejectAny) - any) < 1e-12,
        `${pairs} ${alternative}: ${found.rejectAny} ${any}`,
      );
      t.ok(
        Math.abs(Number(found.rejectRightDirection) - right) < 1e-12,
        `right: ${found.rejectRightDirection} ${right}`,
      );
    }
    const plan = { pairs: 20, p01: '0.05', alpha: '0.05', power: '0.8', gridStep: '0.05' };
    const first = Array.from({ length: 18 }, (_, i) => (i + 2) * 5).find(
      (percent) =>
        Number(
          statistics.mcnemarPower({ pairs: 20, p10: `${percent / 100}`, p01: '0.05' }).rejectRightDirection,
        ) >= 0.8,
    );
    t.equal(statistics.mcnemarMde(plan).p10Exact, reduced(BigInt(first!), 100n));
  },
);

t.test('looks: crossing counts all paths, boundaries are the smallest that fit', async (t) => {
  const looks = [
    { n: 4, upper: 4, lower: 0 },
    { n: 7, upper: null, lower: 1 },
    { n: 11, upper: 9, lower: null },
  ];
  const crossed = [0, 0, 0];
  for (const signs of signVectors(11)) {
    const at = looks.findIndex(({ n, upper, lower }) => {
      const b = signs.slice(0, n).filter((sign) => sign > 0).length;
      return (upper !== null && b >= upper) || (lower !== null && b <= lower);
    });
    if (at >= 0) crossed[at]! += 1;
  }
  const found = statistics.sequentialCrossing({ looks });
  t.same(
    found.crossExact,
    crossed.map((ways) => reduced(BigInt(ways), 2n ** 11n)),
  );
  const plan = { looks: [6, 9, 12], cumulativeAlpha: ['0.05', '0.08', '0.12'] };
  const { upper, cumulativeExact } = statistics.sequentialBoundary(plan);
  const crossing = (bounds: readonly (number | null)[]) =>
    statistics
      .sequentialCrossing({
        looks: plan.looks.map((n, i) => ({
          n,
          upper: bounds[i] ?? null,
          lower: bounds[i] === null ? null : n - bounds[i]!,
        })),
      })
      .cumulative.map(Number);
  t.same(cumulativeExact.length, 3);
  for (const [i, bound] of upper.entries()) {
    const limit = Number(plan.cumulativeAlpha[i]);
    t.ok(crossing(upper)[i]! <= limit);
    if (bound !== null)
      t.ok(crossing(upper.map((u, j) => (i === j ? bound - 1 : u)))[i]! > limit, `look ${i}`);
  }
  for (let b = 0; b <= 9; b += 1) {
    const { decision } = statistics.stopRuleSequential({ ...plan, b, c: 9 - b });
    t.equal(decision, Math.max(b, 9 - b) >= (upper[1] ?? 99) ? 'stop-reject' : 'continue');
  }
  t.equal(statistics.stopRuleSequential({ ...plan, b: 5, c: 5 }).decision, 'not-a-look');
});

t.test('curtailment tries every completion', async (t) => {
  const cache = new Map<string, boolean>();
  const rejects = (b: number, c: number, sides: Sides): boolean => {
    const key = `${b} ${c} ${sides}`;
    const known = cache.get(key);
    if (known !== undefined) return known;
    const [num, den] = statistics.mcnemar({ b, c, alternative: sides }).pExact!.split('/').map(Number);
    cache.set(key, num! / den! <= 0.1);
    return num! / den! <= 0.1;
  };
  let wrong = 0;
  for (const alternative of SIDES)
    for (let completed = 0; completed <= 9; completed += 1)
      for (let b = 0; b <= completed; b += 1)
        for (let c = 0; b + c <= completed; c += 1) {
          const ends: boolean[] = [];
          const left = 9 - completed;
          for (let x = 0; x <= left; x += 1)
            for (let y = 0; x + y <= left; y += 1) ends.push(rejects(b + x, c + y, alternative));
          const wanted = ends.every(Boolean)
            ? 'stop-reject'
            : ends.some(Boolean)
              ? 'continue'
              : 'stop-no-reject';
          const asked = { plannedPairs: 9, completedPairs: completed, b, c, alpha: '0.1', alternative };
          if (statistics.stopRuleCurtail(asked).decision !== wanted) wrong += 1;
        }
  t.equal(wrong, 0);
});

t.test('passK counts subsets; holm and minUnits follow their definitions', async (t) => {
  for (let n = 1; n <= 7; n += 1)
    for (let c = 0; c <= n; c += 1)
      for (let k = 1; k <= n; k += 1) {
        const draws = signVectors(n).filter((signs) => signs.filter((sign) => sign > 0).length === k);
        const passed = draws.map((signs) => signs.slice(0, c).filter((sign) => sign > 0).length);
        const one = reduced(BigInt(passed.filter((count) => count > 0).length), BigInt(draws.length));
        const every = reduced(BigInt(passed.filter((count) => count === k).length), BigInt(draws.length));
        const found = statistics.passK({ n, c, k });
        if (found.passAtKExact !== one || found.passHatKExact !== every)
          t.same(found, { one, every }, `${n} ${c} ${k}`);
      }
  t.same(statistics.passK({ n: 3, c: 1, k: 4 }), { passAtKExact: null, passHatKExact: null });
  t.same(statistics.holm({ p: ['0.02', null, '1/50', '0.5'], registered: 6 }), {
    adjustedExact: ['3/25', null, '3/25', '1/1'],
    rejectAt05: [false, null, false, false],
  });
  for (const [alpha, tests] of [
    ['0.05', 3],
    ['0.5', 1],
    ['0.9', 1],
    ['1e-9', 2],
  ] as const) {
    const { units } = statistics.minUnits({ alpha, tests });
    const fits = (n: number): boolean => 2 ** (1 - n) <= Number(alpha) / tests;
    t.ok(fits(units) && (units === 1 || !fits(units - 1)), `${alpha} ${tests}: ${units}`);
  }
});

t.test('what would take too much memory is refused, not begun', async (t) => {
  const refusal = (name: keyof typeof statistics, input: unknown): string => {
    try {
      statistics[name](input);
      return 'an answer';
    } catch (error) {
      return (error as { code?: string }).code ?? String(error);
    }
  };
  const many = (count: number, of: (i: number) => unknown) => Array.from({ length: count }, (_, i) => of(i));
  const prime = (i: number) => `1/${10n ** 19n + BigInt(i * i + 1)}`;
  t.equal(refusal('signTest', { diffs: many(100, () => '1e399999') }), 'E_STATS_LIMIT');
  t.equal(refusal('signFlip', { clusters: many(100, () => ['1e-399999']) }), 'E_STATS_LIMIT');
  t.equal(refusal('holm', { p: many(100, () => '1e-399999') }), 'E_STATS_LIMIT');
  t.equal(refusal('hodgesLehmann', { diffs: many(500, (i) => `1e${i * 70}`) }), 'E_STATS_LIMIT');
  t.equal(refusal('signFlip', { clusters: many(40_000, (i) => [prime(i)]) }), 'E_STATS_LIMIT');
  t.equal(refusal('pairedDifferenceExact', { b: 1, c: 1, n: 1001 }), 'E_STATS_LIMIT');
  t.equal(refusal('signTest', { diffs: many(40, () => '1e399999') }), 'an answer');
});
