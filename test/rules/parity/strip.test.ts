/** Injected blocks: written, read back, and taken out of a request without a trace. */
import fc from 'fast-check';
import t from 'tap';
import { memoryBlock, memoryId, readMemoryBlock } from '../../../rules/memory/block.ts';
import { type Message, stripInjected } from '../../../rules/parity/strip.ts';
import { seeded } from '../kit.ts';

const memory = (text: string) => ({ id: memoryId(text), text });
const BLOCK = memoryBlock([memory('never rename a column in one migration'), memory('two\nlines\n')]);

t.test('the grammar, letter by letter', async (t) => {
  // printf 'two\nlines\n' | sha256sum
  t.equal(memoryId('two\nlines\n'), 'mem_3cd2b845bb8a');
  const { id, text } = memory('x');
  // printf x | sha256sum: 2d711642b726b044...
  t.equal(memoryBlock([{ id, text }]), '[memory mem_2d711642b726]\nx\n[end mem_2d711642b726]');
  t.equal(memoryBlock([]), '');
  t.throws(() => memoryBlock([{ id: 'mem_000000000000', text: 'x' }]), { code: 'E_RULE_INPUT' });
});

t.test('a block gives its memories back, and no other text is one', async (t) => {
  const texts = fc.array(
    fc.oneof(
      fc.string({ unit: 'grapheme' }),
      fc.constantFrom('', '\n', '[end mem_2d711642b726]', '[memory mem_2d711642b726]\nx'),
    ),
    { minLength: 1, maxLength: 4 },
  );
  fc.assert(
    fc.property(texts, (all) => {
      const memories = all.map(memory);
      t.same(readMemoryBlock(memoryBlock(memories)), memories);
    }),
    seeded(t, 100),
  );
  for (const other of [
    '',
    'x',
    BLOCK.slice(1),
    BLOCK.slice(0, -1),
    `${BLOCK}\n`,
    `${BLOCK}x`,
    BLOCK.replace('never', 'Never'),
  ]) {
    t.equal(readMemoryBlock(other), undefined);
  }
});

t.test('a block goes with its line end; everything else stays as it is', async (t) => {
  const user = (...content: string[]): Message => ({
    role: 'user',
    content: content.map((text) => ({ type: 'text', text })),
  });
  const said: Message = { role: 'assistant', content: [{ type: 'text', text: BLOCK }] };
  const result: Message = {
    role: 'user',
    content: [{ type: 'tool_result', tool_use_id: 'a', content: BLOCK }],
  };
  const rows: [string, Message[], Message[]][] = [
    ['a block of its own', [user(BLOCK, 'go')], [user('go')]],
    ['before the prompt', [user(`${BLOCK}\ngo`)], [user('go')]],
    ['after the prompt', [user(`go\n${BLOCK}`)], [user('go\n')]],
    ['as a plain string', [{ role: 'user', content: `${BLOCK}\ngo` }], [{ role: 'user', content: 'go' }]],
    ['twice', [user(BLOCK, `${BLOCK}\n${BLOCK}\ngo`)], [user('go')]],
    ['a message of nothing else', [user(BLOCK), user('go')], [user('go')]],
    ['a system message', [{ role: 'system', content: BLOCK }, user('go')], [user('go')]],
    ['the model’s own words', [said], [said]],
    ['a tool’s answer', [result], [result]],
    ['inside a line', [user(`see ${BLOCK}\ngo`)], [user(`see ${BLOCK}\ngo`)]],
    ['one letter off', [user(BLOCK.replace('never', 'Never'))], [user(BLOCK.replace('never', 'Never'))]],
    ['only a part', [user(BLOCK.slice(0, 40))], [user(BLOCK.slice(0, 40))]],
  ];
  for (const [name, messages, left] of rows) t.same(stripInjected(messages, [BLOCK]), left, name);
  t.same(stripInjected([user(BLOCK)], []), [user(BLOCK)], 'no texts');
  t.same(stripInjected([user('go')], ['']), [user('go')], 'an empty text');
});

t.test('what was put before any prompt can be taken out of any conversation exactly', async (t) => {
  const text = fc.string({ unit: 'grapheme', maxLength: 30 }).filter((one) => !one.includes('[memory'));
  const message = fc.record({
    role: fc.constantFrom('user', 'assistant'),
    content: fc.array(fc.record({ type: fc.constant('text'), text }), { minLength: 1, maxLength: 3 }),
  });
  fc.assert(
    fc.property(
      fc.array(message, { minLength: 1, maxLength: 6 }),
      fc.array(text, { minLength: 1, maxLength: 3 }),
      (talk, notes) => {
        const block = memoryBlock(notes.map(memory));
        const at = talk.findIndex(({ role }) => role === 'user');
        const injected = talk.map((one, index) =>
          index === at ? { ...one, content: [{ type: 'text', text: block }, ...one.content] } : one,
        );
        t.same(stripInjected(injected, [block]), talk);
      },
    ),
    seeded(t, 200),
  );
});
