import fc from 'fast-check';
import t from 'tap';
import { comparabilityKey, type KeyFields, keyDifferences } from '../../../rules/compare/key.ts';
import { seeded } from '../kit.ts';
import { pairs, summarize } from '../summary/kit.ts';

const fields: fc.Arbitrary<KeyFields> = fc.record({
  challenge: fc.constantFrom('a', 'b'),
  fixture: fc.constantFrom('a', 'b'),
  agent: fc.constantFrom('a', 'b'),
  model: fc.constantFrom('a', 'b'),
  conditions: fc.constantFrom({ none: 'x' }, { none: 'x', memory: 'y' }, { memory: 'y', none: 'x' }),
  manifest: fc.constantFrom('a', 'b'),
  verifier: fc.constantFrom('a', 'b'),
  sourceCommit: fc.constantFrom('a', 'b'),
});

t.test('two keys are equal exactly where no field differs', async (t) => {
  fc.assert(
    fc.property(fields, fields, (a, b) => {
      t.equal(comparabilityKey(a) === comparabilityKey(b), keyDifferences(a, b).length === 0);
      t.same(keyDifferences(a, b), keyDifferences(b, a));
    }),
    seeded(t, 200),
  );
});

t.test('the build under test is not in the key; the verifier is', async (t) => {
  const keyOf = async (build: string, verifier: number) => {
    const run = { reward: 1 as const, build };
    const { summary } = await summarize({ tasks: [{ id: 'one', arms: pairs([run], [run]), verifier }] });
    return summary.tasks[0]?.key;
  };
  t.equal(await keyOf('1', 60), await keyOf('2', 60));
  t.not(await keyOf('1', 60), await keyOf('1', 61));
});
