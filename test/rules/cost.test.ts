import fc from 'fast-check';
import t from 'tap';
import {
  brokenCap,
  costOf,
  decimalOfMicros,
  microsOf,
  UPSTREAM_OVERHEAD_TOKENS,
  worstCaseOf,
} from '../../rules/cost.ts';
import { seeded } from './kit.ts';

// Three dollars a million tokens in, fifteen out; cached reads at 0.30, writes at 3.75.
const PRICE = {
  inputMicros: 3_000_000,
  outputMicros: 15_000_000,
  cacheReadMicros: 300_000,
  cacheWriteMicros: 3_750_000,
};
const usage = (input: number, output = 0, cacheRead = 0, cacheWrite = 0) => ({
  input,
  output,
  cacheRead,
  cacheWrite,
});

t.test('known costs, each rounded up once', async (t) => {
  t.equal(costOf(usage(0), PRICE), 0);
  t.equal(costOf(usage(1_000_000), PRICE), 3_000_000);
  t.equal(costOf(usage(1000, 100, 10_000, 200), PRICE), 3000 + 1500 + 3000 + 750);
  t.equal(costOf(usage(0, 0, 1), PRICE), 1, '0.3 is 1');
  t.equal(costOf(usage(0, 0, 3), PRICE), 1, '0.9 is 1, not three times 1');
  t.equal(costOf(usage(0, 0, 0, 2), PRICE), 8, '7.5 is 8');
  const plain = { inputMicros: 2_000_000, outputMicros: 1 };
  t.equal(costOf(usage(1, 0, 1, 1), plain), 6, 'cached input costs like other input where nothing is said');
  t.equal(
    costOf(usage(9_000_000_000), { ...plain, inputMicros: 999_999 }),
    8_999_991_000,
    'beyond 2^53 inside',
  );
  t.throws(() => costOf(usage(2 ** 52), { ...plain, inputMicros: 2 ** 40 }), { code: 'E_BUDGET' });
});

t.test('the worst case takes every byte for a token at the dearest input price', async (t) => {
  const tokens = 500 + UPSTREAM_OVERHEAD_TOKENS;
  t.equal(worstCaseOf({ bytes: 500, maxTokens: 100 }, PRICE), tokens * 3.75 + 100 * 15);
  const amount = fc.nat(1_000_000);
  const price = fc.record({
    inputMicros: amount,
    outputMicros: amount,
    cacheReadMicros: fc.option(amount, { nil: 0 }),
    cacheWriteMicros: fc.option(amount, { nil: 0 }),
  });
  fc.assert(
    fc.property(
      price,
      fc.nat(9999),
      fc.array(fc.nat(100), { minLength: 4, maxLength: 4 }),
      (prices, maxTokens, shares) => {
        const bytes = 1000;
        const [a = 0, b = 0, c = 0, d = 1] = shares;
        const sum = a + b + c + d + 1;
        const part = (share: number) => Math.floor(((bytes + UPSTREAM_OVERHEAD_TOKENS) * share) / sum);
        return (
          costOf(usage(part(a), maxTokens, part(b), part(c)), prices) <=
          worstCaseOf({ bytes, maxTokens }, prices)
        );
      },
    ),
    seeded(t, 200),
  );
});

t.test('amounts are printed and read without a float in between', async (t) => {
  const rows: [string, number][] = [
    ['0', 0],
    ['0.000001', 1],
    ['12.5', 12_500_000],
    ['999999999.999999', 999_999_999_999_999],
  ];
  for (const [text, micros] of rows) {
    t.equal(microsOf(text), micros);
    t.equal(decimalOfMicros(micros), text);
  }
  t.equal(microsOf('3.00'), 3_000_000);
  t.equal(decimalOfMicros(-1_500_000), '-1.5');
  for (const bad of ['', '.5', '1.', '-1', '1e3', '0.0000001', '01', '1,5', ' 1', '1000000000']) {
    t.throws(() => microsOf(bad), { code: 'E_CONFIG' }, bad);
  }
  fc.assert(
    fc.property(fc.nat(999_999_999_999_999), (micros) => microsOf(decimalOfMicros(micros)) === micros),
    seeded(t, 200),
  );
});

t.test(
  'a cap may be met exactly; the first broken one is named, the run’s own before the others',
  async (t) => {
    const caps = { run: 10, stage: 20, total: 30 };
    t.equal(brokenCap(10, { run: 0, stage: 10, total: 20 }, caps), undefined);
    t.equal(brokenCap(1, { run: 10, stage: 20, total: 30 }, caps), 'run');
    t.equal(brokenCap(1, { run: 0, stage: 20, total: 30 }, caps), 'stage');
    t.equal(brokenCap(1, { run: 0, stage: 0, total: 30 }, caps), 'total');
    t.equal(brokenCap(0, { run: 11, stage: 21, total: 31 }, caps), undefined, 'nothing breaks no cap');
  },
);
