/** What leaves the meter, what does not, what is booked, and where the key is not. */
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import fc from 'fast-check';
import t, { type Test } from 'tap';
import { openBudget } from '../../../daemon/meter/budget.ts';
import { holds, openGuard } from '../../../daemon/meter/guard.ts';
import { readKey } from '../../../daemon/meter/key.ts';
import { type Booking, type MeterConfig, openMeter, type Reservation } from '../../../daemon/meter/meter.ts';
import { usageReader } from '../../../daemon/meter/usage.ts';
import { worstCaseOf } from '../../../rules/cost.ts';
import { type Cid, cidOf } from '../../../store/format/cid.ts';
import { seeded } from '../../rules/kit.ts';

// Run alone, tap allows a file 30 s; these start many processes.
t.setTimeout(600_000);

// Made here, so that no file holds the shape of a key.
const KEY = ['sk', 'test', 'abcDEF0123456789'.repeat(3)].join('-');
const PRICE = { inputMicros: 3_000_000, outputMicros: 15_000_000 };
const ASK = { model: 'm', max_tokens: 100, messages: [{ role: 'user', content: 'hello' }] };
const MESSAGE = { type: 'message', content: [], usage: { input_tokens: 10, output_tokens: 4 } };

type Handler = (request: IncomingMessage, response: ServerResponse, body: string) => void;
const json =
  (value: unknown): Handler =>
  (_request, response) =>
    void response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(value));

interface World {
  readonly url: string;
  readonly meter: Awaited<ReturnType<typeof openMeter>>;
  readonly seen: { headers: IncomingMessage['headers']; url: string; body: string }[];
  readonly blocks: Map<Cid, Buffer>;
  readonly reserved: Reservation[];
  readonly booked: Booking[];
}

async function open(
  t: Test,
  handler: Handler,
  {
    caps = { run: 1e12, stage: 1e12, total: 1e12 },
    ...more
  }: Partial<MeterConfig> & { caps?: Record<'run' | 'stage' | 'total', number> } = {},
): Promise<World> {
  const seen: World['seen'] = [];
  const upstream = createServer((request, response) => {
    let body = '';
    request.on('data', (part) => {
      body += part;
    });
    request.on('end', () => {
      seen.push({ headers: request.headers, url: request.url ?? '', body });
      handler(request, response, body);
    });
  });
  await new Promise<void>((resolve) => upstream.listen(0, '127.0.0.1', () => resolve()));
  const [blocks, reserved, booked] = [new Map<Cid, Buffer>(), [] as Reservation[], [] as Booking[]];
  const meter = await openMeter({
    listen: { port: 0 },
    upstream: {
      url: `http://127.0.0.1:${(upstream.address() as AddressInfo).port}`,
      paths: ['/v1/messages'],
      key: KEY,
      timeoutSeconds: 60,
    },
    prices: { m: PRICE },
    budget: openBudget({ caps, spent: { stage: 0, total: 0 } }).run(caps.run),
    reserve: async (reservation) => `r${reserved.push(reservation)}`,
    book: async (booking) => void booked.push(booking),
    async emit(bytes) {
      const parts: Uint8Array[] = [];
      if (bytes instanceof Uint8Array) parts.push(bytes);
      else for await (const part of bytes) parts.push(part);
      const all = Buffer.concat(parts);
      blocks.set(cidOf('raw', all), all);
      return cidOf('raw', all);
    },
    ...more,
  });
  t.teardown(async () => {
    await meter.close();
    upstream.closeAllConnections();
    upstream.close();
  });
  return { url: meter.url, meter, seen, blocks, reserved, booked };
}

interface Heard {
  readonly status: number;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
  /** The connection broke before the end. */
  readonly broken: boolean;
}

function post(
  url: string,
  body: unknown,
  { path = '/v1/messages', method = 'POST', headers = {} } = {},
): Promise<Heard> {
  return new Promise((resolve) => {
    const broken = { status: 0, headers: {}, body: '', broken: true };
    const { hostname, port } = new URL(url);
    const sent = request({ hostname, port, path, method, headers, agent: false }, (answer) => {
      let text = '';
      const say = (cut: boolean) =>
        resolve({ status: answer.statusCode ?? 0, headers: answer.headers, body: text, broken: cut });
      answer.on('data', (part) => {
        text += part;
      });
      answer.on('end', () => say(false));
      answer.on('error', () => say(true));
    });
    sent.on('error', () => resolve(broken));
    sent.end(typeof body === 'string' || body instanceof Uint8Array ? body : JSON.stringify(body));
  });
}

t.test('what cannot be priced, or would go elsewhere, never leaves', async (t) => {
  const world = await open(t, json(MESSAGE), { maxRequestBytes: 10_000 });
  const text = JSON.stringify(ASK);
  const image = (type: string, source: unknown) => ({
    ...ASK,
    messages: [{ role: 'user', content: [{ type, source }] }],
  });
  const rows: [string, number, unknown, Parameters<typeof post>[2]?][] = [
    ['another path', 404, ASK, { path: '/v1/files' }],
    ['another host', 404, ASK, { path: 'http://other.invalid/v1/messages' }],
    ['a path with more', 404, ASK, { path: '/v1/messages/batches' }],
    ['another method', 405, '', { method: 'GET' }],
    ['a compressed body', 400, gzipSync(text), { headers: { 'content-encoding': 'gzip' } }],
    ['no JSON', 400, '{'],
    ['a field twice', 400, text.replace('{', '{"max_tokens":1,')],
    ['a field without a price', 400, { ...ASK, service_tier: 'auto' }],
    ['a server’s own tool', 400, { ...ASK, tools: [{ type: 'web_search_20250305', name: 'web_search' }] }],
    ['another model', 400, { ...ASK, model: 'n' }],
    ['no bound on the answer', 400, { ...ASK, max_tokens: undefined }],
    ['a bound that is no number', 400, { ...ASK, max_tokens: '100' }],
    ['an image by address', 400, image('image', { type: 'url', url: 'http://x' })],
    ['a document by file', 400, image('document', { type: 'file', file_id: 'f' })],
    ['deep nesting', 400, `{"model":"m","max_tokens":1,"messages":${'['.repeat(3000)}${']'.repeat(3000)}}`],
    ['a body over the limit', 413, { ...ASK, system: 'x'.repeat(10_001) }],
  ];
  for (const [name, status, body, options] of rows) {
    const heard = await post(world.url, body, options);
    t.equal(heard.status, status, name);
    t.equal(JSON.parse(heard.body).type, 'error');
  }
  const { hostname, port } = new URL(world.url);
  const tunnel = await new Promise<string>((resolve) => {
    const socket = connect(Number(port), hostname, () =>
      socket.write('CONNECT other.invalid:443 HTTP/1.1\r\n\r\n'),
    );
    socket.on('data', (part) => resolve(String(part)));
  });
  t.match(tunnel, /^HTTP\/1.1 403/);
  t.same(world.seen, []);
  t.same(world.reserved, []);
  t.same(world.meter.state(), { sent: 0, exchanges: 0 });
});

t.test('an image given by address inside a tool call is only data', async (t) => {
  const world = await open(t, json(MESSAGE));
  const input = { type: 'image', source: { type: 'url' } };
  const messages = [{ role: 'assistant', content: [{ type: 'tool_use', id: 'x', name: 'write', input }] }];
  t.equal((await post(world.url, { ...ASK, messages })).status, 200);
});

t.test(
  'the upstream gets the key and the exact body; the agent’s own key, cookies and encodings stay behind',
  async (t) => {
    const world = await open(t, (_request, response) => {
      response.writeHead(200, {
        'content-type': 'application/json',
        'x-echo': KEY,
        'set-cookie': 'a=b',
        'retry-after': '3',
      });
      response.end(JSON.stringify(MESSAGE));
    });
    const headers = {
      'x-api-key': 'agent-key',
      authorization: 'Bearer agent',
      cookie: 'c',
      'accept-encoding': 'gzip',
      'anthropic-beta': 'b',
      'anthropic-version': '2023-06-01',
    };
    const heard = await post(world.url, ASK, { headers, path: '/v1/messages?beta=true' });
    const [got] = world.seen;
    t.match(got, { url: '/v1/messages', body: JSON.stringify(ASK) });
    t.match(got?.headers, {
      'x-api-key': KEY,
      'accept-encoding': 'identity',
      'anthropic-version': '2023-06-01',
    });
    for (const name of ['authorization', 'cookie', 'anthropic-beta'])
      t.equal(got?.headers[name], undefined, name);
    t.equal(heard.body, JSON.stringify(MESSAGE));
    t.same(Object.keys(heard.headers).sort(), [
      'connection',
      'content-type',
      'date',
      'retry-after',
      'transfer-encoding',
    ]);
    t.match(world.booked, [
      { sequence: 1, basis: 'usage', micros: 10 * 3 + 4 * 15, status: 200, complete: true },
    ]);
  },
);

const EVENTS = [
  {
    type: 'message_start',
    message: { usage: { input_tokens: 7, cache_read_input_tokens: 5, output_tokens: 1 } },
  },
  { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'é\u2028"data: {' } },
  {
    type: 'message_delta',
    delta: { stop_reason: 'end_turn' },
    usage: { output_tokens: 9, input_tokens: null },
  },
  { type: 'message_stop' },
];
const sse = (events: unknown[], end = '\n') =>
  events.map((event) => `event: x${end}data: ${JSON.stringify(event)}${end}${end}`).join('');

t.test('a stream passes byte for byte, however it is cut, and its last counts are booked', async (t) => {
  const whole = Buffer.from(sse(EVENTS));
  const world = await open(t, (_request, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream; charset=utf-8' });
    for (const byte of whole) response.write(Buffer.of(byte));
    response.end();
  });
  const heard = await post(world.url, { ...ASK, stream: true });
  t.equal(heard.body, whole.toString());
  t.match(world.booked, [{ usage: { input: 7, output: 9, cacheRead: 5, cacheWrite: 0 }, basis: 'usage' }]);
  t.same(world.blocks.get(world.booked[0]?.response as Cid), whole);
});

t.test('usage is read only from an answer that ended as it should', async (t) => {
  const read = (type: string, text: string) => {
    const reader = usageReader(type, 1000);
    reader.feed(Buffer.from(text));
    return reader.end();
  };
  const stream = 'text/event-stream';
  t.same(read(stream, sse(EVENTS, '\r\n')), { input: 7, output: 9, cacheRead: 5, cacheWrite: 0 });
  t.equal(read(stream, sse(EVENTS.slice(0, 3))), undefined, 'no message_stop');
  t.equal(read(stream, sse(EVENTS.slice(1))), undefined, 'no start');
  t.equal(read(stream, sse([...EVENTS, { type: 'error' }])), undefined, 'an error event');
  t.equal(read(stream, sse(EVENTS) + 'x'.repeat(1001)), undefined, 'a line over the limit');
  const plain = (usage: unknown) => read('application/json', JSON.stringify({ ...MESSAGE, usage }));
  t.same(plain({ input_tokens: 1, output_tokens: 2, cache_creation_input_tokens: 3 })?.cacheWrite, 3);
  for (const usage of [
    undefined,
    null,
    {},
    { input_tokens: -1, output_tokens: 1 },
    { input_tokens: 1.5, output_tokens: 1 },
  ]) {
    t.equal(plain(usage), undefined);
  }
  t.equal(read('application/json', '{"type":"error"}'), undefined);
  t.equal(read('application/json', `{"pad":"${'x'.repeat(1000)}"}`), undefined, 'a body over the limit');
});

t.test(
  'without a usage the worst case is booked, and the agent never gets half an answer as a whole one',
  async (t) => {
    const worst = worstCaseOf({ bytes: JSON.stringify(ASK).length, maxTokens: 100 }, PRICE);
    const head = { 'content-type': 'application/json' };
    const rows: [string, Handler, Partial<Booking>, boolean][] = [
      [
        'an error answer',
        (_q, r) => void r.writeHead(529, head).end('{"type":"error"}'),
        { status: 529, complete: true },
        false,
      ],
      ['no body at all', (_q, r) => void r.writeHead(500).end(), { status: 500, complete: true }, false],
      [
        'a redirect is not followed',
        (_q, r) => void r.writeHead(307, { location: '/x' }).end('no'),
        { status: 307, complete: true },
        false,
      ],
      ['closed before the head', (q) => void q.socket.destroy(), { status: 0, complete: false }, false],
      [
        'closed in the middle',
        (q, r) => void r.writeHead(200, head).write('x'.repeat(2000), () => q.socket.destroy()),
        { status: 200, complete: false },
        true,
      ],
      [
        'compressed against the request',
        (_q, r) =>
          void r
            .writeHead(200, { ...head, 'content-encoding': 'gzip' })
            .end(gzipSync(JSON.stringify(MESSAGE))),
        { status: 200, complete: false },
        false,
      ],
      [
        'over the limit',
        (_q, r) => void r.writeHead(200, head).end('x'.repeat(5000)),
        { status: 200, complete: false },
        true,
      ],
    ];
    for (const [name, handler, wanted, broken] of rows) {
      const world = await open(t, handler, { maxResponseBytes: 4096 });
      const heard = await post(world.url, ASK);
      t.match(world.booked, [{ ...wanted, basis: 'worst-case', micros: worst }], name);
      t.equal(heard.broken, broken, name);
      if (wanted.complete === false && !broken) t.equal(heard.status, 502, name);
      t.equal(world.meter.state().fault, undefined, 'no fault of ours');
    }
  },
);

t.test(
  'the run’s cap is the agent’s limit, the others are ours, and what is held counts as spent',
  async (t) => {
    const worst = worstCaseOf({ bytes: JSON.stringify(ASK).length, maxTokens: 100 }, PRICE);
    const wide = { run: 1e12, stage: 1e12, total: 1e12 };
    const rows = [
      { caps: { ...wide, run: worst - 1 }, by: 'run', type: 'cost_limit' },
      { caps: { ...wide, stage: worst - 1 }, by: 'stage', type: 'budget_limit' },
      { caps: { ...wide, total: worst - 1 }, by: 'total', type: 'budget_limit' },
      { caps: { run: worst - 1, stage: worst - 1, total: worst - 1 }, by: 'run', type: 'cost_limit' },
    ];
    for (const { caps, by, type } of rows) {
      const world = await open(t, json(MESSAGE), { caps });
      const heard = await post(world.url, ASK);
      t.match(
        [heard.status, JSON.parse(heard.body).error.type, heard.headers['x-should-retry']],
        [402, type, 'false'],
      );
      t.match(world.meter.state(), { sent: 0, refusedBy: by });
      t.same(world.seen, []);
    }
    const exact = await open(t, json(MESSAGE), { caps: { ...wide, run: worst } });
    t.equal((await post(exact.url, ASK)).status, 200, 'a cap may be met exactly');
    t.equal((await post(exact.url, ASK)).status, 402, 'then it is used up');

    let release: () => void = () => {};
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    const slow: Handler = (request, response, body) =>
      void held.then(() => json(MESSAGE)(request, response, body));
    const purse = openBudget({ caps: { stage: worst + 90, total: 1e12 }, spent: { stage: 0, total: 0 } });
    const [one, two, three] = [
      await open(t, slow, { budget: purse.run(1e12) }),
      await open(t, json(MESSAGE), { budget: purse.run(1e12) }),
      await open(t, json(MESSAGE), { budget: purse.run(1e12) }),
    ];
    const first = post(one.url, ASK);
    while (one.seen.length === 0) await new Promise((resolve) => setTimeout(resolve, 5));
    t.equal((await post(two.url, ASK)).status, 402, 'the first one’s worst case is held');
    release();
    t.equal((await first).status, 200);
    t.equal((await post(three.url, ASK)).status, 200, 'its true cost leaves room for another run');
    t.equal((await post(two.url, ASK)).status, 402, 'a run that met a cap stays refused');
  },
);

t.test('nothing is sent when the reservation fails, and after any fault of ours nothing more', async (t) => {
  const broken = () => Promise.reject(new Error('disk full'));
  const whole = await open(t, json(MESSAGE), { reserve: broken });
  t.equal((await post(whole.url, ASK)).status, 502);
  t.same(whole.seen, []);
  const stream: Handler = (_request, response) => void response.writeHead(200).end('x'.repeat(1 << 20));
  for (const part of [{ book: broken }, { emit: broken }, { emit: onlyBytes }]) {
    const world = await open(t, stream, part);
    const heard = await post(world.url, ASK);
    t.ok(heard.status !== 200 || heard.broken, 'no whole answer without a record of it');
    t.match(world.meter.state().fault, { code: 'E_METER' });
    t.match(world.meter.state().fault?.message, /disk full/);
    const before = world.seen.length;
    t.equal((await post(world.url, ASK)).status, 502);
    t.equal(world.seen.length, before);
  }
});

/** A store that fails while a stream is under way. */
async function onlyBytes(bytes: Uint8Array | AsyncIterable<Uint8Array>): Promise<Cid> {
  if (bytes instanceof Uint8Array) return cidOf('raw', bytes);
  for await (const part of bytes) if (part.length > 0) throw new Error('disk full');
  return cidOf('raw', new Uint8Array());
}

t.test('a key in a body is a fault: not a byte of it is recorded or handed on', async (t) => {
  const parts = (text: string): Handler => {
    return (_request, response) => {
      response.writeHead(200, { 'content-type': 'application/json' });
      for (const byte of Buffer.from(text)) response.write(Buffer.of(byte));
      response.end();
    };
  };
  const escaped = Buffer.from(`xy${KEY}`).toString('base64');
  for (const text of [`{"echo":"${KEY}"}`, KEY, `{"echo":"${escaped}"}`, Buffer.from(KEY).toString('hex')]) {
    const world = await open(t, parts(text));
    const heard = await post(world.url, ASK);
    const kept = Buffer.concat([...world.blocks.values()]);
    for (const bytes of [kept, Buffer.from(heard.body)]) {
      t.notOk(holds(bytes, KEY));
      t.notOk(bytes.includes(KEY.slice(0, 8)));
    }
    t.match(world.booked, [{ complete: false, basis: 'worst-case' }]);
    t.match(world.meter.state().fault?.message, /the model key stands in a response body/);
    t.notOk(String(world.meter.state().fault?.stack).includes(KEY));
  }
  const world = await open(t, json(MESSAGE));
  t.equal((await post(world.url, { ...ASK, system: `I know ${KEY}` })).status, 502);
  t.same([world.seen, [...world.blocks]], [[], []]);
  t.match(world.meter.state().fault?.message, /request body/);
});

t.test('closing breaks off what is under way, books it, and lets nothing more in', async (t) => {
  const world = await open(t, () => {});
  const heard = post(world.url, ASK);
  while (world.seen.length === 0) await new Promise((resolve) => setTimeout(resolve, 5));
  await world.meter.close();
  t.match(world.booked, [{ status: 0, complete: false, basis: 'worst-case' }]);
  t.not((await heard).status, 200);
  t.equal((await post(world.url, ASK)).status, 0);
});

t.test('the memory tool’s path exists only where a condition declares it', async (t) => {
  const path = '/v1/memory/search';
  const without = await open(t, json(MESSAGE));
  t.equal((await post(without.url, { query: 'q', limit: 1 }, { path })).status, 404);
  const memories = [{ id: 'mem_000000000000', text: 'x' }];
  const world = await open(t, json(MESSAGE), { recall: async () => memories });
  t.equal((await post(world.url, { query: 'q', limit: 1 }, { path })).body, JSON.stringify({ memories }));
  t.equal((await post(world.url, { query: '', limit: 1 }, { path })).status, 400);
  t.equal((await post(world.url, { query: 'q', limit: 1, project: 'other' }, { path })).status, 400);
  t.equal(world.blocks.size, 2, 'question and answer are kept');
  const failing = await open(t, json(MESSAGE), { recall: () => Promise.reject(new Error('gone')) });
  t.equal((await post(failing.url, { query: 'q', limit: 1 }, { path })).status, 502);
  t.match(failing.meter.state().fault, { code: 'E_METER' });
});

t.test('an unusable configuration is refused by name', async (t) => {
  const socket = join(mkdtempSync(join(tmpdir(), 'meter-')), 's');
  const config = (url: string, listen: MeterConfig['listen'] = { socket }) =>
    openMeter({
      listen,
      upstream: { url, paths: [], timeoutSeconds: 1 },
      prices: {},
      budget: openBudget({ caps: { stage: 0, total: 0 }, spent: { stage: 0, total: 0 } }).run(0),
      reserve: async () => '',
      book: async () => {},
      emit: async () => cidOf('raw', new Uint8Array()),
    });
  for (const url of ['', 'ftp://x', 'http://x/path', 'http://user@x', 'https://x/?q', 'unix:relative']) {
    await t.rejects(config(url), { code: 'E_CONFIG' }, url);
  }
  const meter = await config('https://api.invalid');
  t.equal(meter.url, `unix:${socket}`);
  await t.rejects(config('https://api.invalid'), { code: 'E_METER' }, 'the address is taken');
  await meter.close();
});

t.test('the key comes from the environment, or from a file that Git ignores', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'key-'));
  const file = join(folder, '.env');
  t.equal(readKey({ env: {}, file }), undefined, 'no file');
  writeFileSync(file, `# comment\nOTHER=1\nASHLAR_MODEL_KEY="${KEY}"\n`);
  t.equal(readKey({ env: {}, file }), KEY);
  t.equal(readKey({ env: { ASHLAR_MODEL_KEY: KEY.toUpperCase() }, file }), KEY.toUpperCase());
  spawnSync('git', ['init', '-q', folder]);
  t.throws(() => readKey({ env: {}, file }), { code: 'E_CONFIG', message: /could be committed/ });
  writeFileSync(join(folder, '.gitignore'), '.env\n');
  t.equal(readKey({ env: {}, file }), KEY);
  mkdirSync(join(folder, 'deeper'));
  writeFileSync(join(folder, 'deeper/.env'), `export ASHLAR_MODEL_KEY='${KEY}'\n`);
  t.equal(readKey({ env: {}, file: join(folder, 'deeper/.env') }), KEY);
  for (const unfit of ['short', `${KEY} x`, `${KEY}\n${KEY}`]) {
    const fault = t.throws(() => readKey({ env: { ASHLAR_MODEL_KEY: unfit } }), { code: 'E_CONFIG' });
    t.notOk(String(fault).includes(unfit), 'the message does not print it');
  }
});

t.test('a guard releases all that is clean and no part of a secret, for any cut of any stream', async (t) => {
  const secret = 'S3cr3t-S3cr3t-key';
  const words = fc.array(fc.constantFrom('S3cr3t-', 'S3cr3t', 'key', 'x', '-', secret), { maxLength: 12 });
  fc.assert(
    fc.property(words, fc.array(fc.nat(7), { minLength: 1 }), (pieces, cuts) => {
      const text = pieces.join('');
      const guard = openGuard(secret);
      let out = '';
      for (let at = 0, i = 0; at < text.length; i++) {
        const size = 1 + (cuts[i % cuts.length] ?? 0);
        out += Buffer.from(guard.feed(Buffer.from(text.slice(at, at + size)))).toString();
        at += size;
      }
      out += Buffer.from(guard.rest()).toString();
      const first = text.indexOf(secret);
      if (first < 0) return out === text && !guard.tripped();
      return guard.tripped() && text.startsWith(out) && out.length <= first;
    }),
    seeded(t, 200),
  );
  t.pass('200 streams');
});

t.test('no sequence of holds and bookings passes a cap', async (t) => {
  const step = fc.record({ run: fc.nat(2), worst: fc.nat(60), part: fc.nat(100) });
  fc.assert(
    fc.property(fc.array(step), (steps) => {
      const caps = { stage: 150, total: 120 };
      const budget = openBudget({ caps, spent: { stage: 10, total: 0 } });
      const runs = [budget.run(50), budget.run(50), budget.run(50)];
      for (const { run, worst, part } of steps) {
        const own = runs[run] as (typeof runs)[number];
        const broken = own.take(worst);
        if (broken === undefined && part < 70) own.settle(worst, Math.floor((worst * part) / 100));
        const now = own.committed();
        if (now.run > 50 || now.stage > 150 || now.total > 120) return false;
      }
      return true;
    }),
    seeded(t, 200),
  );
  t.pass('200 sequences');
});
