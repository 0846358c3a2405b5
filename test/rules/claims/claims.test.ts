import fc from 'fast-check';
import t from 'tap';
import { pageProblems, pagesOf } from '../../../rules/claims/check.ts';
import { inForm } from '../../../rules/claims/form.ts';
import { bindingsOf, filled, unboundNumbers } from '../../../rules/claims/page.ts';
import { pointed } from '../../../rules/claims/pointer.ts';
import type { Claim } from '../../../rules/contracts/claim.ts';
import { parseAs } from '../../../rules/contracts/table.ts';
import type { Input } from '../../../rules/rule.ts';
import { checkClaims } from '../../../rules/verify/claims.ts';
import { collectFaults } from '../../../rules/verify/fault.ts';
import { type Cid, cidOf, link } from '../../../store/format/cid.ts';
import { encodeBlock, type Value } from '../../../store/format/codec.ts';
import { seeded } from '../kit.ts';

const bind = (field: string, text = '', form = '') =>
  `<!-- claim: summary ${field}${form === '' ? '' : ` as ${form}`} -->${text}<!-- /claim -->`;

t.test('a page is read: places, fields, forms and what stands between the marks', async (t) => {
  const page = `The gain is ${bind('/a/0', '+1/2 (+0.500)', 'difference')}, of ${bind('/n', '7')} runs.\n`;
  t.match(bindingsOf(page), [
    { place: 'binding 1', record: 'summary', field: '/a/0', form: 'difference', text: '+1/2 (+0.500)' },
    { place: 'binding 2', field: '/n', form: 'plain', text: '7' },
  ]);
  t.equal(
    filled(page, ({ place }) => place.slice(-1)),
    page.replace('+1/2 (+0.500)', '1').replace('>7<', '>2<'),
  );
  for (const broken of [
    bind('/a', '1').replace('<!-- /claim -->', ''),
    `<!-- /claim -->${bind('/a', '1')}`,
    `${bind('/a', '1')}<!-- /claim -->`,
    `<!-- claim: summary /a -->${bind('/b', '1')}<!-- /claim -->`,
    bind('/a', '1', 'nonsense'),
    '<!-- claim summary /a -->1<!-- /claim -->',
    '<!-- claim: summary a -->1<!-- /claim -->',
  ])
    t.throws(() => bindingsOf(broken), { code: 'E_CLAIM' }, broken);
});

t.test('a number that a reader sees is bound or named', async (t) => {
  const unbound: readonly (readonly [string, readonly string[]])[] = [
    ['no number at all, v1 of QS-44 under SHA-256', []],
    [`bound ${bind('/a', '14')} here`, []],
    ['[text](https://example.invalid/2026/1)', []],
    ['[text](page) \\[not a link](16) nor](17)', ['16', '17']],
    ['<!-- 15 runs -->', ['15']],
    ['14 of 15', ['14', '15']],
    ['n=14, (3), +0.5, 40%', ['14', '3', '0.5', '40%']],
    ['`12` and **13**', ['12', '13']],
    ['1. an item', ['1']],
    ['half: \u00bd, wide: \uff11\uff12, squared\u00b2', ['\u00bd', '\uff11\uff12', '\u00b2']],
    ['&#52;2', ['52', '2']],
    ['[9 runs](x)', ['9']],
    ['a line\nand 8', ['8']],
  ];
  for (const [page, wanted] of unbound)
    t.same(
      unboundNumbers(page).map(({ text }) => text),
      wanted,
      page,
    );
  t.same(unboundNumbers('a\nb 7'), [{ line: 2, text: '7' }]);
  fc.assert(
    fc.property(fc.string(), fc.nat(), (around, n) => {
      const clean = around.replace(/[0-9<>[\]()A-Za-z_-]/g, '');
      t.ok(unboundNumbers(`${clean} ${n} ${clean}`).some(({ text }) => text.includes(String(n))));
    }),
    seeded(t, 100),
  );
});

t.test('forms print as the report does, and refuse what has not their shape', async (t) => {
  const forms: readonly (readonly [Value, Parameters<typeof inForm>[1], string])[] = [
    [7, 'plain', '7'],
    ['inconclusive', 'plain', 'inconclusive'],
    ['9/14', 'difference', '+9/14 (+0.643)'],
    ['1/1024', 'p', '1/1024 (0.00098)'],
    [{ solved: 55, runs: 70 }, 'share', '55/70 (79%)'],
    [{ solved: 55, runs: 70 }, 'percent', '79%'],
    [{ lo: '0.67128', hi: '0.87481' }, 'interval', '[.671,.875]'],
    [12_500_000, 'money', '12.5'],
  ];
  for (const [value, form, wanted] of forms) t.equal(inForm(value, form), wanted);
  for (const [value, form] of [
    [undefined, 'plain'],
    [{}, 'plain'],
    [7, 'difference'],
    [null, 'p'],
    [{ solved: 1 }, 'share'],
    [{ solved: 0, runs: 0 }, 'percent'],
    [{ refused: 'too many' }, 'interval'],
    ['7', 'money'],
  ] as const)
    t.throws(() => inForm(value as Value, form), { code: 'E_CLAIM' }, `${JSON.stringify(value)} ${form}`);
  t.equal(pointed({ 'a/b': { '~': [5] } } as unknown as Value, '/a~1b/~0/0'), 5);
  t.equal(pointed({ a: 1 } as unknown as Value, '/a/b'), undefined);
  t.equal(pointed([1] as unknown as Value, '/length/x'), undefined);
});

const summaryValue = { counts: { started: 14 }, comparisons: [{ difference: '9/14' }] } as unknown as Value;
const summary = encodeBlock(summaryValue).cid;
const close = cidOf('raw', Buffer.from('a close'));

function claimsOf(text: string, over: Partial<Record<string, unknown>> = {}): Input<Claim>[] {
  const page = cidOf('raw', Buffer.from(text));
  return bindingsOf(text).map(({ field, form, place, text: printed }) => {
    const fixed = {
      kind: 'claim',
      v: 1,
      who: 'ann',
      why: 'results',
      close: link(close),
      record: link(summary),
    };
    const own = { field, form, printed, page: link(page), name: 'results.md', place };
    const value = parseAs('claim', { ...fixed, ...own, ...over } as unknown as Value);
    return { cid: encodeBlock(value as unknown as Value).cid, value };
  });
}

const GOOD = `We started ${bind('/counts/started', '14')} runs; the gain is ${bind('/comparisons/0/difference', '+9/14 (+0.643)', 'difference')}.\n`;

async function problemsOf(text: string, claims: readonly Input<Claim>[]): Promise<string[]> {
  const page = { cid: cidOf('raw', Buffer.from(text)), name: 'results.md', text, claims };
  const record = async (cid: Cid) => (cid === summary ? summaryValue : undefined);
  return (await pageProblems(page, summary, record)).map(({ detail }) => detail);
}

t.test('each number stands as bound, or the problem is named', async (t) => {
  t.same(await problemsOf(GOOD, claimsOf(GOOD)), []);
  const [one, two] = claimsOf(GOOD) as [Input<Claim>, Input<Claim>];
  const cases: readonly (readonly [string, readonly Input<Claim>[], RegExp])[] = [
    [GOOD, [one], /0 claims are about it/],
    [GOOD, [one, two, two], /2 claims are about it/],
    [GOOD.replace('14<!--', '15<!--'), [one, two], /prints 14, its page says 15/],
    [GOOD.replace('/counts/started', '/counts/planned'), [one, two], /its page binds \/counts\/planned/],
    [`${GOOD}Also 3 more.\n`, [one, two], /the number 3 is bound to nothing/],
    [GOOD.replace('<!-- /claim -->', ''), [one, two], /claim/],
    [GOOD, claimsOf(GOOD, { place: 'binding 7' }), /no binding 7/],
    [GOOD, claimsOf(GOOD, { record: link(close) }), /the claim names/],
  ];
  for (const [text, claims, wanted] of cases) t.match((await problemsOf(text, claims)).join('\n'), wanted);
  const wrong = GOOD.replace('14<!--', '15<!--');
  t.match((await problemsOf(wrong, claimsOf(wrong))).join('\n'), /prints 15, the field holds 14/);
  const nowhere = GOOD.replace('/counts/started', '/counts/nowhere');
  t.match((await problemsOf(nowhere, claimsOf(nowhere))).join('\n'), /no such field/);
});

t.test('one name is one page', async (t) => {
  const other = `${GOOD}More words.\n`;
  const read = async () => Buffer.from(GOOD);
  t.same((await pagesOf(claimsOf(GOOD), read)).problems, []);
  t.match((await pagesOf([...claimsOf(GOOD), ...claimsOf(other)], read)).problems, [{ at: 'results.md' }]);
});

t.test('the verifier checks claims and pages of a release in both directions', async (t) => {
  const check = async (over: Record<string, unknown>, text = GOOD, claims = claimsOf(text)) => {
    const faults = collectFaults();
    const records = new Map<Cid, unknown>([
      [summary, summaryValue],
      ...claims.map(({ cid, value }) => [cid, value] as const),
    ]);
    const library = { records, reader: { get: async () => Buffer.from(text) } };
    const page = { name: 'results.md', bytes: link(cidOf('raw', Buffer.from(text))) };
    const release = {
      close: link(close),
      summary: link(summary),
      claims: claims.map(({ cid }) => link(cid)),
      pages: [page],
    };
    await checkClaims({ ...release, ...over } as never, library as never, faults);
    return faults.all.map(({ kind, detail }) => `${kind} ${detail}`).join('\n');
  };
  t.equal(await check({}), '');
  t.match(await check({ pages: [] }), /not published/);
  t.match(await check({ claims: [] }), /no claim is about/);
  t.match(await check({ close: link(summary) }), /another close/);
  t.match(await check({ claims: [link(close)] }), /no such claim/);
  t.match(await check({}, `${GOOD}99 more\n`), /the number 99 is bound to nothing/);
});
