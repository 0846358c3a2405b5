/** Loop, meter and scripted model over real sockets: the path that every run takes. */
import { spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import t, { type Test } from 'tap';
import type { AgentTurn, Place } from '../../../daemon/agents/adapter.ts';
import { builtin } from '../../../daemon/agents/builtin/adapter.ts';
import { openBudget } from '../../../daemon/meter/budget.ts';
import { type Booking, type MeterConfig, openMeter, type Reservation } from '../../../daemon/meter/meter.ts';
import { type Behaviour, parseBehaviour } from '../../../daemon/model/behaviour.ts';
import { openModel, SCRIPTED_MODEL } from '../../../daemon/model/model.ts';
import { memoryBlock, memoryId } from '../../../rules/memory/block.ts';
import { type Message, stripInjected } from '../../../rules/parity/strip.ts';
import { type Cid, cidOf } from '../../../store/format/cid.ts';

// Run alone, tap allows a file 30 s; these start many processes.
t.setTimeout(600_000);

const LESSON = 'Amounts go up to the next half euro.';
const BLOCK = memoryBlock([{ id: memoryId(LESSON), text: LESSON }]);
const read = { tool: 'read', input: { path: 'src/a.mjs' } };
const script = (steps: unknown[], more: unknown[] = []): Behaviour =>
  parseBehaviour({
    v: 1,
    match: 'bill the late boats',
    turns: [{ variants: [{ name: 'only', when: [], steps }] }, ...more],
  });

const BEHAVIOUR = parseBehaviour({
  v: 1,
  match: 'bill the late boats',
  turns: [
    {
      variants: [
        {
          name: 'informed',
          when: ['up to the next half euro'],
          steps: [
            read,
            { tool: 'edit', input: { path: 'src/a.mjs', old: 'one', new: 'half' } },
            { tool: 'run', input: { command: 'cat src/a.mjs; echo oops >&2; exit 3' } },
            { say: 'Done.' },
          ],
        },
        {
          name: 'plain',
          when: [],
          steps: [
            read,
            { tool: 'write', input: { path: 'src/b/c.mjs', content: 'plain\n' } },
            { say: 'Done.' },
          ],
        },
      ],
    },
    {
      variants: [
        { name: 'again', when: [], steps: [{ tool: 'list', input: { path: '.' } }, { say: 'Still done.' }] },
      ],
    },
  ],
});

interface World {
  readonly place: Place;
  readonly blocks: Map<Cid, string>;
  readonly reserved: Reservation[];
  readonly booked: Booking[];
  readonly meter: Awaited<ReturnType<typeof openMeter>>;
  turn(change?: Partial<AgentTurn>): Promise<{ code: number | null; stdout: string }>;
  session(): Record<string, unknown>[];
  close(): Promise<void>;
}

interface Setup {
  readonly behaviour?: Behaviour;
  readonly caps?: { run: number; stage: number };
  readonly meter?: Partial<MeterConfig>;
}

const PRICE = { inputMicros: 1_000_000, outputMicros: 1_000_000 };

async function open(t: Test, { behaviour = BEHAVIOUR, caps, meter: more = {} }: Setup = {}): Promise<World> {
  const root = mkdtempSync(join(tmpdir(), 'path-'));
  for (const folder of ['workspace/src', 'home', 'programs'])
    mkdirSync(join(root, folder), { recursive: true });
  writeFileSync(join(root, 'workspace/src/a.mjs'), 'one\n');
  for (const { name, source } of builtin.programs) {
    writeFileSync(join(root, 'programs', name), readFileSync(source));
  }
  const model = await openModel({
    behaviours: [behaviour],
    listen: { socket: join(root, 'm') },
    key: 'k'.repeat(20),
  });
  const blocks = new Map<Cid, string>();
  const reserved: Reservation[] = [];
  const booked: Booking[] = [];
  const meter = await openMeter({
    listen: { port: 0 },
    upstream: { url: model.url, paths: ['/v1/messages'], key: 'k'.repeat(20), timeoutSeconds: 60 },
    prices: { [SCRIPTED_MODEL]: PRICE },
    budget: openBudget({
      caps: { stage: caps?.stage ?? 1e9, total: 1e9 },
      spent: { stage: 0, total: 0 },
    }).run(caps?.run ?? 1e9),
    reserve: async (reservation) => `r${reserved.push(reservation)}`,
    book: async (booking) => void booked.push(booking),
    async emit(bytes) {
      const parts: Uint8Array[] = [];
      if (bytes instanceof Uint8Array) parts.push(bytes);
      else for await (const part of bytes) parts.push(part);
      const all = Buffer.concat(parts);
      const cid = cidOf('raw', all);
      blocks.set(cid, all.toString());
      return cid;
    },
    ...more,
  });
  const place: Place = {
    workspace: join(root, 'workspace'),
    home: join(root, 'home'),
    programs: join(root, 'programs'),
    node: process.execPath,
    path: process.env.PATH ?? '',
    modelUrl: meter.url,
  };
  const close = async () => {
    await meter.close();
    await model.close();
  };
  t.teardown(close);
  return {
    place,
    blocks,
    reserved,
    booked,
    meter,
    close,
    turn: (change) => run(place, { ...TURN, ...change }),
    session: () =>
      readFileSync(join(place.home, '.agent/session.jsonl'), 'utf8')
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line)),
  };
}

const TURN: AgentTurn = {
  index: 1,
  prompt: 'Please bill the late boats.',
  injections: [],
  system: 'You work on the code in the current folder.',
  model: SCRIPTED_MODEL,
  parameters: { temperature: '0' },
  tools: ['read', 'write', 'edit', 'list', 'run'],
  limits: { turns: 20, maxOutputTokens: 2000, totalTokens: 1_000_000, outputBytes: 4096 },
};
const INJECTED: Partial<AgentTurn> = {
  injections: [{ channel: 'prompt', text: BLOCK, memories: [memoryId(LESSON)] }],
};

function run(place: Place, turn: AgentTurn): Promise<{ code: number | null; stdout: string }> {
  const { argv, env, files } = builtin.launch(turn, place);
  for (const { path, bytes, mode } of files) {
    mkdirSync(dirname(join(place.home, path)), { recursive: true });
    writeFileSync(join(place.home, path), bytes, { mode });
  }
  const child = spawn(argv[0] as string, argv.slice(1), {
    cwd: place.workspace,
    env,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let stdout = '';
  child.stdout.on('data', (part) => {
    stdout += part;
  });
  return new Promise((resolve) => child.on('close', (code) => resolve({ code, stdout })));
}

t.test(
  'with the memory in its request the model makes the informed change, without it the plain one',
  async (t) => {
    const plain = await open(t);
    t.same(await plain.turn(), { code: 0, stdout: '{"end":"completed"}\n' });
    t.equal(readFileSync(join(plain.place.workspace, 'src/b/c.mjs'), 'utf8'), 'plain\n');
    const informed = await open(t);
    t.same(await informed.turn(INJECTED), { code: 0, stdout: '{"end":"completed"}\n' });
    t.equal(readFileSync(join(informed.place.workspace, 'src/a.mjs'), 'utf8'), 'half\n');

    const types = informed.session().map((entry) => entry.type);
    const pair = ['assistant', 'tool_results'];
    t.same(types, ['session', 'injection', 'user', ...pair, ...pair, ...pair, 'assistant', 'end']);
    t.match(informed.session()[1], { channel: 'prompt', text: BLOCK, memories: [memoryId(LESSON)] });
    t.match(
      informed.session()[8],
      { content: [{ content: 'half\noops\n\n[exit 3]' }] },
      'one stream, in order',
    );

    const first = (world: World) => JSON.parse(world.blocks.get(world.meter.firstRequest() as Cid) ?? '');
    const [without, withMemory] = [first(plain), first(informed)];
    t.notSame(without, withMemory);
    const stripped = { ...withMemory, messages: stripInjected(withMemory.messages as Message[], [BLOCK]) };
    t.same(stripped, without, 'less the injected block, both arms sent the same');
  },
);

t.test(
  'every request has a reservation before it and one booking after it, and both bodies are kept',
  async (t) => {
    const world = await open(t);
    await world.turn();
    t.equal(world.reserved.length, 3);
    t.same(
      world.booked.map(({ reservation, sequence, basis, complete, status }) => [
        reservation,
        sequence,
        basis,
        complete,
        status,
      ]),
      [
        ['r1', 1, 'usage', true, 200],
        ['r2', 2, 'usage', true, 200],
        ['r3', 3, 'usage', true, 200],
      ],
    );
    for (const [index, { request, response, usage, micros }] of world.booked.entries()) {
      const asked = world.blocks.get(request) ?? '';
      const said = JSON.parse(world.blocks.get(response) ?? '');
      t.equal(request, world.reserved[index]?.request);
      t.equal(usage?.input, Math.ceil(asked.length / 4), 'the model counts four bytes as a token');
      t.equal(micros, said.usage.input_tokens + said.usage.output_tokens, 'at one unit a million tokens');
      t.ok(micros <= (world.reserved[index]?.worstCaseMicros ?? 0));
    }
    t.notOk([...world.blocks.values()].join().includes('k'.repeat(20)), 'the key is in no recorded byte');
  },
);

t.test('a later process resumes the session and its requests hold all that went before', async (t) => {
  const world = await open(t);
  await world.turn(INJECTED);
  const before = readFileSync(join(world.place.home, '.agent/session.jsonl'));
  t.match(await world.turn({ index: 2, prompt: 'And now list the folder.' }), { code: 0 });
  const after = readFileSync(join(world.place.home, '.agent/session.jsonl'));
  t.equal(Buffer.compare(after.subarray(0, before.length), before), 0, 'appended only');
  const last = JSON.parse(world.blocks.get(world.booked.at(-1)?.request as Cid) ?? '');
  t.equal(last.messages[0].content[0].text, BLOCK);
  t.equal(last.messages.length, 11);
  t.match(world.session().at(-1), { type: 'end', reason: 'completed' });
});

t.test('the same inputs give the same request bytes in two worlds', async (t) => {
  const [one, two] = [await open(t), await open(t)];
  await one.turn(INJECTED);
  await two.turn(INJECTED);
  t.same(
    one.booked.map(({ request }) => request),
    two.booked.map(({ request }) => request),
  );
});

t.test('each way to end has its exit status and its stop reason', async (t) => {
  const endless = script([...Array(9).fill(read), { say: 'x' }]);
  const failing = (type: string, message: string) => script([{ error: { status: 400, type, message } }]);
  const { limits } = TURN;
  const rows: { setup: Setup; change?: Partial<AgentTurn>; end: string; stop?: string }[] = [
    { setup: { behaviour: endless }, change: { limits: { ...limits, turns: 2 } }, end: 'turn_limit' },
    {
      setup: { behaviour: endless },
      change: { limits: { ...limits, totalTokens: 900 } },
      end: 'token_limit',
    },
    { setup: { behaviour: script([{ stop: 'max_tokens' }]) }, end: 'token_limit' },
    { setup: { behaviour: script([{ stop: 'refusal' }]) }, end: 'refusal' },
    {
      setup: { behaviour: failing('invalid_request_error', 'prompt is too long: 9 tokens > 8 maximum') },
      end: 'context_overflow',
    },
    { setup: { behaviour: failing('api_error', 'overloaded') }, end: 'error', stop: 'exit' },
    { setup: { caps: { run: 5000, stage: 1e9 } }, end: 'cost_limit' },
  ];
  for (const { setup, change, end, stop } of rows) {
    const world = await open(t, setup);
    const { code, stdout } = await world.turn(change);
    t.equal(stdout, `${JSON.stringify({ end })}\n`);
    t.same(builtin.ending({ code }), { status: 'agent_failed', stopReason: stop ?? end });
    t.match(world.session().at(-1), { type: 'end', reason: end });
  }
  const crash = await open(t, {
    behaviour: script([{ tool: 'run', input: { command: 'kill -9 $PPID' } }, { say: '' }]),
  });
  t.same(builtin.ending(await crash.turn()), { status: 'agent_failed', stopReason: 'exit' });
});

t.test('after a kill in the middle of a tool the next process goes on from what was written', async (t) => {
  const more = [{ variants: [{ name: 'again', when: [], steps: [{ say: 'Here again.' }] }] }];
  const world = await open(t, {
    behaviour: script([{ tool: 'run', input: { command: 'kill -9 $PPID' } }, { say: '' }], more),
  });
  t.match(await world.turn(), { code: null });
  const file = join(world.place.home, '.agent/session.jsonl');
  writeFileSync(file, `${readFileSync(file, 'utf8')}{"type":"assist`);
  t.match(await world.turn({ index: 2, prompt: 'Are you there?' }), { code: 0 });
  const types = world.session().map((entry) => entry.type);
  t.same(types, ['session', 'user', 'assistant', 'tool_results', 'user', 'assistant', 'end']);
});

t.test('tools stay inside the workspace, follow no link and list none', async (t) => {
  const calls = [
    { tool: 'read', input: { path: '../outside.txt' } },
    { tool: 'read', input: { path: '/etc/hostname' } },
    { tool: 'read', input: { path: 'link.txt' } },
    { tool: 'read', input: { path: 'way/outside.txt' } },
    { tool: 'write', input: { path: 'link.txt', content: 'x' } },
    { tool: 'write', input: { path: 'way/new.txt', content: 'x' } },
    { tool: 'edit', input: { path: 'src/a.mjs', old: 'o', new: 'x' } },
    { tool: 'edit', input: { path: 'src/a.mjs', old: 'absent', new: 'x' } },
    { tool: 'read', input: { path: 'src' } },
    { tool: 'read', input: { path: 'pipe' } },
    { tool: 'search_memory', input: { query: 'x' } },
    { tool: 'list', input: {} },
    { tool: 'read', input: { path: 'src/a.mjs', offset: 2, limit: 1 } },
    { tool: 'run', input: { command: 'head -c 9000 /dev/zero | tr "\\0" x' } },
  ];
  const tools = ['read', 'write', 'edit', 'list', 'run', 'search_memory'];
  const world = await open(t, { behaviour: script([...calls, { say: 'x' }]) });
  const { workspace } = world.place;
  writeFileSync(join(dirname(workspace), 'outside.txt'), 'secret');
  writeFileSync(join(workspace, 'src/a.mjs'), 'oo\ntwo\nthree\n');
  symlinkSync('../outside.txt', join(workspace, 'link.txt'));
  symlinkSync('..', join(workspace, 'way'));
  spawnSync('mkfifo', [join(workspace, 'pipe')]);
  t.match(await world.turn({ tools }), { code: 0 });
  const results = world.session().filter((entry) => entry.type === 'tool_results');
  const said = results.map((entry) => (entry.content as { content: string; is_error?: boolean }[])[0]);
  t.same(
    said.slice(0, 11).map((one) => one?.is_error),
    Array(11).fill(true),
  );
  t.notOk(JSON.stringify(said).includes('secret'));
  t.notOk(existsSync(join(dirname(workspace), 'new.txt')));
  t.equal(readFileSync(join(dirname(workspace), 'outside.txt'), 'utf8'), 'secret');
  t.equal(said[11]?.content, 'src/');
  t.equal(said[12]?.content, 'two\n');
  t.match(said[13]?.content, /^x{4096}\n\[cut: 9000 bytes in all\]\n\[exit 0\]$/);
});

t.test('what a command leaves in the background ends with it', async (t) => {
  const command = 'sleep 1000 & echo $! > pid; (trap "" TERM HUP; sleep 1000) & echo started';
  const world = await open(t, { behaviour: script([{ tool: 'run', input: { command } }, { say: 'x' }]) });
  t.match(await world.turn(), { code: 0 });
  t.match(JSON.stringify(world.session()), /started/);
  const pid = Number(readFileSync(join(world.place.workspace, 'pid'), 'utf8'));
  // It was sent SIGKILL before the turn was over; a busy machine may take a moment to carry that out.
  for (;;) {
    const state = spawnSync('ps', ['-o', 'stat=', '-p', String(pid)]).stdout.toString();
    // A killed process that nobody has reaped yet is a zombie: dead all the same.
    if (/^(Z|$)/.test(state)) break;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  t.pass('it is gone');
});

t.test('the memory tool asks the harness, and what it got is in the next request', async (t) => {
  const search = { tool: 'search_memory', input: { query: 'half', limit: 2 } };
  const variants = [
    { name: 'informed', when: ['next half euro'], steps: [search, { say: 'I know now.' }] },
    { name: 'plain', when: [], steps: [search, { say: 'No.' }] },
  ];
  const behaviour = parseBehaviour({ v: 1, match: 'bill the late boats', turns: [{ variants }] });
  const asked: unknown[] = [];
  const recall = async (question: { query: string; limit: number }) => {
    asked.push(question);
    return [{ id: memoryId(LESSON), text: LESSON }];
  };
  const world = await open(t, { behaviour, meter: { recall } });
  t.match(await world.turn({ tools: [...TURN.tools, 'search_memory'] }), { code: 0 });
  t.same(asked, [{ query: 'half', limit: 2 }]);
  t.match(world.session().at(-2), { content: [{ text: 'I know now.' }] });
  t.ok(JSON.stringify(world.session()).includes(JSON.stringify(BLOCK).slice(1, -1)));
});
