/** The scripted model: data in, the same answer for the same bytes, an error for everything that is not scripted. */
import { mkdirSync, mkdtempSync, symlinkSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import t from 'tap';
import { usageReader } from '../../../daemon/meter/usage.ts';
import { loadBehaviour, loadBehaviours, parseBehaviour } from '../../../daemon/model/behaviour.ts';
import { openModel } from '../../../daemon/model/model.ts';
import { type Failure, play, type Reply } from '../../../daemon/model/play.ts';

const TOOLS = [{ name: 'read' }, { name: 'mcp__memory__search_memory' }];
const BEHAVIOUR = parseBehaviour({
  v: 1,
  match: 'mend the harbour wall',
  turns: [
    {
      variants: [
        {
          name: 'informed',
          when: ['granite', 'from the south'],
          steps: [{ tool: 'search_memory', input: { query: 'wall' } }, { say: 'granite' }],
        },
        {
          name: 'plain',
          when: [],
          steps: [{ tool: 'read', input: { path: 'a' }, say: 'Reading.' }, { say: 'brick' }],
        },
      ],
    },
    { variants: [{ name: 'more', when: [], steps: [{ say: 'second' }] }] },
  ],
});

const user = (...texts: string[]) => ({
  role: 'user',
  content: texts.map((text) => ({ type: 'text', text })),
});
const used = (name: string, id: string) => ({
  role: 'assistant',
  content: [{ type: 'tool_use', id, name, input: {} }],
});
const result = (id: string, content: unknown) => ({
  role: 'user',
  content: [{ type: 'tool_result', tool_use_id: id, content }],
});
const said = (text: string) => ({ role: 'assistant', content: [{ type: 'text', text }] });
const PROMPT = user('Please mend the harbour wall.');
const body = (messages: unknown[], more = {}) =>
  Buffer.from(JSON.stringify({ model: 'm', max_tokens: 500, tools: TOOLS, messages, ...more }));
const ask = (messages: unknown[], more = {}) => play([BEHAVIOUR], body(messages, more));

t.test('turn and step follow from the conversation alone', async (t) => {
  t.match(ask([PROMPT]), {
    message: {
      content: [{ text: 'Reading.' }, { name: 'read', input: { path: 'a' } }],
      stop_reason: 'tool_use',
    },
  });
  const after = [PROMPT, used('read', 'x'), result('x', 'text')];
  t.match(ask(after), { message: { content: [{ type: 'text', text: 'brick' }], stop_reason: 'end_turn' } });
  const second = [...after, said('brick'), user('And now?')];
  t.match(ask(second), { message: { content: [{ text: 'second' }] } });
  t.match(ask([user('reminder'), PROMPT]), { status: 404 }, 'the first user message is the prompt');
  t.match(
    ask([PROMPT, user('more of the same prompt')]),
    { message: { content: [{ text: 'Reading.' }, {}] } },
    'one run of user messages is one prompt',
  );
  t.match(ask([PROMPT, used('read', 'x'), result('x', 'interrupted'), user('Go on.')]), {
    message: { content: [{ text: 'second' }] },
  });
});

t.test('a variant hears the system text, prompts and memory answers, and nothing else', async (t) => {
  const words = 'granite from the south';
  const informed = { message: { content: [{ name: 'mcp__memory__search_memory' }] } };
  t.match(ask([user(words, 'Please mend the harbour wall.')]), informed);
  t.match(ask([PROMPT], { system: `Note: ${words}` }), informed);
  t.match(
    ask([user('granite', 'Please mend the harbour wall. It came from the south.')]),
    informed,
    'each phrase anywhere',
  );
  const plain = { message: { content: [{ text: 'brick' }] } };
  t.match(ask([PROMPT, used('read', 'x'), result('x', words)]), plain, 'not in files');
  t.match(ask([PROMPT, said(words)]), plain, 'not in its own words');
  const recall = [
    PROMPT,
    used('mcp__memory__search_memory', 'x'),
    result('x', [{ type: 'text', text: words }]),
  ];
  t.match(ask(recall), { message: { content: [{ text: 'granite' }] } }, 'in what the memory tool gave');
});

t.test('the same bytes give the same answer; ids and counts come from the bytes', async (t) => {
  t.same(ask([PROMPT]), ask([PROMPT]));
  const one = ask([PROMPT]) as Reply;
  t.not(one.message.id, (ask([user('please mend the harbour wall')]) as Reply).message.id);
  t.equal(one.message.usage.input_tokens, Math.ceil(body([PROMPT]).length / 4));
  t.match(one.message.id, /^msg_[0-9a-f]{24}$/);
});

t.test('what is not scripted is an error that says what is missing', async (t) => {
  const fails = (answer: unknown, status: number, message: RegExp) =>
    t.match(answer, { kind: 'error', status, message });
  fails(ask([user('something else')]), 404, /no behaviour matches/);
  fails(play([BEHAVIOUR, BEHAVIOUR], body([PROMPT])), 400, /more than one behaviour/);
  fails(ask([PROMPT, said('a'), said('b')]), 400, /no step 3 in plain of turn 1/);
  fails(ask([PROMPT, said('a'), user('b'), said('c'), user('d')]), 400, /no turn 3/);
  fails(ask([PROMPT], { tools: [] }), 400, /the tool read is not declared/);
  fails(ask([PROMPT], { max_tokens: 3 }), 400, /takes \d+/);
  fails(ask([]), 400, /messages/);
  fails(play([BEHAVIOUR], Buffer.from('{')), 400, /./);
  const strict = parseBehaviour({
    ...BEHAVIOUR,
    turns: [{ variants: [{ name: 'a', when: ['never said'], steps: [{ say: 'x' }] }] }],
  });
  fails(play([strict], body([PROMPT])), 400, /no variant of turn 1 fits/);
  const failure = play(
    [
      parseBehaviour({
        ...BEHAVIOUR,
        turns: [
          {
            variants: [
              {
                name: 'a',
                when: [],
                steps: [{ error: { status: 529, type: 'overloaded_error', message: 'm' } }],
              },
            ],
          },
        ],
      }),
    ],
    body([PROMPT]),
  );
  t.match(failure as Failure, { status: 529, type: 'overloaded_error' });
});

t.test('a behaviour that cannot be played does not load', async (t) => {
  const variant = (steps: unknown[]) => ({
    v: 1,
    match: 'long enough',
    turns: [{ variants: [{ name: 'a', when: [], steps }] }],
  });
  const rows: [string, unknown][] = [
    ['no end', variant([{ tool: 'read', input: {} }])],
    ['an end in the middle', variant([{ say: 'a' }, { say: 'b' }])],
    ['an unknown field', variant([{ say: 'a', more: 1 }])],
    ['no steps', variant([])],
    ['another version', { ...variant([{ say: 'a' }]), v: 2 }],
    ['a match of one letter', { ...variant([{ say: 'a' }]), match: 'x' }],
    [
      'an empty phrase',
      {
        v: 1,
        match: 'long enough',
        turns: [{ variants: [{ name: 'a', when: [''], steps: [{ say: 'a' }] }] }],
      },
    ],
  ];
  for (const [name, value] of rows) t.throws(() => parseBehaviour(value), { code: 'E_CONFIG' }, name);
});

t.test(
  'texts come from the challenge’s own folder, and every challenge of the catalogue loads',
  async (t) => {
    const root = mkdtempSync(join(tmpdir(), 'behaviour-'));
    const put = (name: string, contentFile: string) => {
      mkdirSync(join(root, name, 'solutions'), { recursive: true });
      writeFileSync(join(root, name, 'solutions/a.txt'), 'inlined');
      const steps = [{ tool: 'write', input: { path: 'a.txt' }, contentFile }, { say: 'x' }];
      const value = {
        v: 1,
        match: `match of ${name}`,
        turns: [{ variants: [{ name: 'a', when: [], steps }] }],
      };
      writeFileSync(join(root, name, 'behaviour.json'), JSON.stringify(value));
      return join(root, name);
    };
    const good = put('b-good', 'solutions/a.txt');
    t.match(loadBehaviour(good).turns[0]?.variants[0]?.steps[0], {
      input: { path: 'a.txt', content: 'inlined' },
    });
    put('a-good', 'solutions/a.txt');
    t.same(
      loadBehaviours(root).map(({ match }) => match),
      ['match of a-good', 'match of b-good'],
    );
    symlinkSync('../../b-good/solutions/a.txt', join(root, 'a-good/solutions/link'));
    for (const bad of ['../b-good/solutions/a.txt', 'solutions/absent', 'solutions/link', '/etc/hostname']) {
      t.throws(() => loadBehaviour(put('a-good', bad)), { code: 'E_CONFIG' }, bad);
    }
    t.throws(() => loadBehaviours(join(root, 'b-good')), { code: 'E_CONFIG' }, 'no behaviour at all');
    const catalogue = fileURLToPath(new URL('../../../../challenges/challenges', import.meta.url));
    t.ok(loadBehaviours(catalogue).length > 0);
  },
);

t.test('over a socket: JSON or events, the key where one is set, no other path', async (t) => {
  const socketPath = join(mkdtempSync(join(tmpdir(), 'model-')), 's');
  const key = 'k'.repeat(16);
  const model = await openModel({ behaviours: [BEHAVIOUR], listen: { socket: socketPath }, key });
  t.teardown(model.close);
  const post = (bytes: Uint8Array, path = '/v1/messages', given = key) =>
    new Promise<{ status: number | undefined; type: string | undefined; text: string }>((resolve, reject) => {
      const sent = request(
        { socketPath, path, method: 'POST', headers: { 'x-api-key': given } },
        (answer) => {
          let text = '';
          answer.on('data', (part) => {
            text += part;
          });
          answer.on('end', () =>
            resolve({ status: answer.statusCode, type: answer.headers['content-type'], text }),
          );
        },
      );
      sent.on('error', reject).end(bytes);
    });
  const plain = await post(body([PROMPT]));
  t.equal(plain.text, JSON.stringify((ask([PROMPT]) as Reply).message));
  const streamed = await post(body([PROMPT], { stream: true }));
  const reader = usageReader(streamed.type ?? '', 10_000);
  reader.feed(Buffer.from(streamed.text));
  const { usage } = (ask([PROMPT], { stream: true }) as Reply).message;
  t.match(reader.end(), { input: usage.input_tokens, output: usage.output_tokens });
  t.match(streamed.text, /"partial_json":"\{\\"path\\":\\"a\\"\}"/);
  t.match(await post(body([PROMPT]), '/v1/complete'), { status: 404 });
  t.match(await post(body([PROMPT]), '/v1/messages', 'wrong'), { status: 401 });
  t.equal(model.requests(), 4);
  await t.rejects(openModel({ behaviours: [], listen: { socket: socketPath } }), { code: 'E_CONFIG' });
});
