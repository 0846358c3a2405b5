/**
 * The conformance suite of executors: anybody's executor can be asked whether it keeps the contract of
 * daemon/executors/executor.ts. Inside there must be `sh` and `node` on the PATH of `Sandbox.environment`.
 * Promises: each test names the promise it asks for. Does not promise: to measure time.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { createServer as createHttpServer } from 'node:http';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Test } from 'tap';
import type {
  Command,
  Executor,
  Finished,
  Image,
  Limits,
  ReadOnly,
  Sandbox,
} from '../../daemon/executors/executor.ts';
import { random } from '../../store/format/crypto.ts';
import { isFault } from '../../store/format/errors.ts';
import { parseSnapshot } from '../../store/format/tree.ts';
import { type Blocks, entriesOf, memoryBlocks, type Plan, putSnapshot, putTree } from './memory.ts';

export interface Subject {
  /** Opens the executor; `blocks` takes what its image is made of. Called once here and once in a second process. */
  open(blocks: Blocks): Promise<{ executor: Executor; image?: Image }>;
  /** The built module that exports this subject as `subject`: a second process loads it, and is killed. */
  readonly module: string;
  /** Whether network, files and processes of the host are out of reach. */
  readonly isolated: boolean;
  /** What is left on the host when everything is closed, for people to read; empty is right. */
  leftovers(executor: Executor, owner: string): Promise<readonly string[]>;
}

interface Kit {
  readonly subject: Subject;
  readonly executor: Executor;
  readonly blocks: Blocks;
  readonly owner: string;
  sandbox(t: Test, options?: Partial<Wish>): Promise<Sandbox>;
}

interface Wish {
  readonly workspace: Plan;
  readonly limits: Limits;
  readonly readOnly: readonly ReadOnly[];
  readonly token: string;
}

const LIMITS: Limits = { cpus: 1, memoryMb: 512, pids: 128 };
const hex = (bytes: number): string => Buffer.from(random(bytes)).toString('hex');
const text = (bytes: Uint8Array): string => Buffer.from(bytes).toString('utf8');
const sh = (script: string): readonly string[] => ['sh', '-c', script];
const js = (script: string): readonly string[] => ['node', '-e', script];

/** Runs a command with generous limits. */
function run(sandbox: Sandbox, argv: readonly string[], more: Partial<Command> = {}): Promise<Finished> {
  return sandbox.run({ argv, env: {}, timeoutSeconds: 120, maxOutputBytes: 1 << 22, ...more });
}

/** Asks `subject` everything. */
export async function executorSuite(t: Test, subject: Subject): Promise<void> {
  const blocks = memoryBlocks();
  const { executor, image } = await subject.open(blocks);
  const owner = `owner-${hex(8)}`;
  const kit: Kit = {
    subject,
    executor,
    blocks,
    owner,
    async sandbox(t, wish = {}) {
      const sandbox = await executor.open({
        owner,
        token: wish.token ?? hex(8),
        ...(image === undefined ? {} : { image }),
        limits: wish.limits ?? LIMITS,
        workspace: await putSnapshot(wish.workspace ?? {}, blocks.emit),
        readOnly: wish.readOnly ?? [],
        reader: blocks.reader,
      });
      t.teardown(() => sandbox.close());
      return sandbox;
    },
  };
  for (const part of [programs, ends, files, homes, walls, relays, limits, owners]) await part(t, kit);
  await t.test('closing leaves nothing on the host', async (t) => {
    await executor.close();
    t.same(await subject.leftovers(executor, owner), []);
  });
}

async function programs(t: Test, kit: Kit): Promise<void> {
  await t.test(
    'a program gets its arguments, input, folder and environment, and its output is bytes',
    async (t) => {
      const sandbox = await kit.sandbox(t, { workspace: { deep: { dir: {} } } });
      const given = { GREETING: 'hello world', EMPTY: '', 'odd.name': "quote ' \n line" };
      const seen = await run(sandbox, js('console.log(JSON.stringify(process.env))'), { env: given });
      t.same(JSON.parse(text(seen.stdout)), { ...sandbox.environment, ...given });
      t.match(seen, { exit: 0, signal: null, timedOut: false, oom: false, truncated: false, stopped: false });
      t.match(seen.durationSeconds, /^\d+\.\d{3}$/);

      const echoed = await run(sandbox, [
        'node',
        '-p',
        'JSON.stringify(process.argv.slice(1))',
        'a b',
        '',
        '$HOME',
        'é',
      ]);
      t.same(JSON.parse(text(echoed.stdout)), ['a b', '', '$HOME', 'é']);
      const where = await run(sandbox, ['node', '-p', 'process.cwd()'], {
        cwd: `${sandbox.paths.workspace}/deep`,
      });
      t.equal(text(where.stdout), `${sandbox.paths.workspace}/deep\n`);

      const input = random(3_000_000);
      const back = await run(sandbox, ['node', '-e', 'process.stdin.pipe(process.stdout)'], { stdin: input });
      t.ok(Buffer.from(back.stdout).equals(input), 'three megabytes in and out, unchanged');
      t.equal(text((await run(sandbox, sh('cat | wc -c'))).stdout).trim(), '0', 'no input is empty input');
      const both = await run(sandbox, sh('printf "out\\377" && printf "err\\376" >&2; echo x > /dev/stdout'));
      t.same(
        [Buffer.from(both.stdout).toString('hex'), Buffer.from(both.stderr).toString('hex')],
        ['6f7574ff780a', '657272fe'],
      );
    },
  );
  await t.test('output over the cap is cut, counted as cut, and does not end the program', async (t) => {
    const sandbox = await kit.sandbox(t);
    const script =
      'const b = Buffer.alloc(1e6, 97); for (let i = 0; i < 40; i++) fs.writeSync(1, b); process.exit(3)';
    const cut = await run(sandbox, js(script), { maxOutputBytes: 1000 });
    t.match(cut, { exit: 3, truncated: true });
    t.equal(text(cut.stdout), 'a'.repeat(1000));
    t.match(await run(sandbox, sh('printf 12345'), { maxOutputBytes: 5 }), { truncated: false });
  });
}

async function ends(t: Test, kit: Kit): Promise<void> {
  await t.test('exit status, signal, and commands that cannot run are told apart', async (t) => {
    const sandbox = await kit.sandbox(t, { workspace: { plain: { file: 'no program' } } });
    t.match(await run(sandbox, sh('exit 7')), { exit: 7, signal: null });
    const killed = await run(sandbox, sh('kill -TERM $$; sleep 60'));
    t.ok(
      killed.signal === 'SIGTERM' || killed.exit === 143,
      `died by SIGTERM: ${killed.signal} ${killed.exit}`,
    );
    const gone = await run(sandbox, ['no-such-command']);
    t.match(gone, { exit: 127, signal: null });
    t.match(await run(sandbox, ['./plain']), { exit: 126 });
    t.match(await run(sandbox, ['true'], { cwd: `${sandbox.paths.workspace}/none` }), { exit: 126 });
    t.match(await run(sandbox, sh('exit 137')), { oom: false }, 'the status 137 alone is no proof');
  });
  await t.test('the deadline ends everything, children that left their session too', async (t) => {
    const sandbox = await kit.sandbox(t);
    const mark = `9${Number.parseInt(hex(4), 16)}`;
    const script = `trap "" TERM; (setsid sleep ${mark} &); sleep ${mark} & echo begun; while :; do sleep ${mark}; done`;
    const late = await run(sandbox, sh(script), { timeoutSeconds: 3 });
    t.match(late, { exit: null, timedOut: true, stopped: false });
    t.equal(text(late.stdout), 'begun\n', 'what it wrote before is kept');
    t.same(withArgument(mark), []);
  });
  await t.test('what a program leaves running dies with it', async (t) => {
    const sandbox = await kit.sandbox(t);
    const mark = `8${Number.parseInt(hex(4), 16)}`;
    t.match(await run(sandbox, sh(`sleep ${mark} & (setsid sleep ${mark} &); exit 4`)), { exit: 4 });
    t.same(withArgument(mark), []);
  });
  await t.test('stop ends a run, which answers, and the sandbox is usable after', async (t) => {
    const sandbox = await kit.sandbox(t);
    const mark = `7${Number.parseInt(hex(4), 16)}`;
    const running = run(sandbox, sh(`echo begun > begun; (setsid sleep ${mark} &); sleep ${mark}`));
    await appears(mark);
    await t.rejects(run(sandbox, sh('true')), { code: 'E_EXECUTOR' }, 'one run at a time');
    await sandbox.stop();
    t.same(withArgument(mark), []);
    t.match(await running, { exit: null, stopped: true, timedOut: false });
    t.match(await run(sandbox, sh('cat begun')), { exit: 0 });
    await sandbox.close();
    await sandbox.close();
  });
}

/** Host processes whose command line has this argument. */
function withArgument(mark: string): string[] {
  return readdirSync('/proc').filter((name) => {
    try {
      return /^\d+$/.test(name) && readFileSync(`/proc/${name}/cmdline`, 'utf8').split('\0').includes(mark);
    } catch {
      return false;
    }
  });
}

async function appears(mark: string): Promise<void> {
  while (withArgument(mark).length === 0) await sleep(50);
}

const ODD: Plan = {
  empty: { file: '' },
  big: { file: Buffer.alloc(3_000_001, 'x') },
  secret: { file: 's', mode: 0o600 },
  nothing: { file: 'n', mode: 0o000 },
  run: { file: '#!/bin/sh\necho ran\n', mode: 0o755 },
  'with space\n and line': { file: '1' },
  ünï: { file: '2' },
  'hex:66ff6f': { file: '3' },
  'hex:66fe6f': { file: '4' },
  ['n'.repeat(255)]: { file: '5' },
  '-rf': { file: '6' },
  '..data': { file: '7' },
  dangling: { link: 'no/such/target' },
  absolute: { link: '/etc/passwd' },
  up: { link: '../../../..' },
  'hex:6cff': { link: `${'t/'.repeat(100)}end` },
  void: { dir: {} },
  closed: { dir: { inside: { file: '8', mode: 0o400 } }, mode: 0o700 },
  sticky: { dir: {}, mode: 0o1777 },
  a: { dir: { ['b'.repeat(120)]: { dir: { ['c'.repeat(120)]: { dir: { d: { file: '9' } } } } } } },
};

async function files(t: Test, kit: Kit): Promise<void> {
  const { emit, reader } = kit.blocks;
  await t.test('a workspace comes back as the same snapshot, odd names and modes included', async (t) => {
    for (const mode of [0o755, 0o700]) {
      const given = await putSnapshot(ODD, emit, mode);
      const sandbox = await kit.sandbox(t, { workspace: ODD });
      if (mode === 0o700) await run(sandbox, sh('chmod 700 .'));
      else t.equal(text((await run(sandbox, ['./run'])).stdout), 'ran\n');
      const { snapshot } = await sandbox.snapshot(emit);
      t.equal(snapshot, given);
      await sandbox.close();
    }
  });
  await t.test('every kind of entry that a program can make is read back', async (t) => {
    const sandbox = await kit.sandbox(t, {
      workspace: { old: { file: 'old' }, dir: { dir: { x: { file: 'x' } } } },
    });
    const script = `
      fs.writeFileSync('new', 'new'); fs.linkSync('new', 'hard'); fs.rmSync('old'); fs.chmodSync('new', 0o4751);
      fs.symlinkSync('new', 'soft'); child_process.execFileSync('mkfifo', ['pipe']);
      fs.writeFileSync(Buffer.from([0x62, 0xff]), 'raw');
      net.createServer().listen('sock', () => process.kill(process.pid, 'SIGKILL'));`;
    await run(sandbox, js(script));
    const { snapshot } = await sandbox.snapshot(emit);
    const entries = await entriesOf(reader, parseSnapshot(await reader.get(snapshot)).tree['/']);
    const kinds = [...entries].map(([name, entry]) => `${name} ${entry.type} ${entry.mode.toString(8)}`);
    t.same(kinds, [
      `${JSON.stringify({ '/': { bytes: 'Yv8' } })} file 644`,
      'dir dir 755',
      'hard file 4751',
      'new file 4751',
      'pipe fifo 0',
      'sock socket 0',
      'soft link 0',
    ]);
    t.same(
      entries.get('hard'),
      { ...entries.get('new'), name: 'hard' },
      'a hard link is a file of equal content',
    );
  });
  await t.test('links lead nowhere: what they point to is never read nor written', async (t) => {
    const sandbox = await kit.sandbox(t, { workspace: { dir: { dir: { f: { file: 'f' } } } } });
    await run(sandbox, sh('rm -r dir && ln -s /etc dir && ln -s / root && ln -s /proc/self/root proc'));
    const { snapshot } = await sandbox.snapshot(emit);
    const wanted: Plan = { dir: { link: '/etc' }, root: { link: '/' }, proc: { link: '/proc/self/root' } };
    t.equal(snapshot, await putSnapshot(wanted, emit));
  });
  await t.test('two sandboxes at once see their own files only', async (t) => {
    const both = [await kit.sandbox(t), await kit.sandbox(t)];
    const names = ['one', 'two'];
    await Promise.all(both.map((sandbox, i) => run(sandbox, sh(`echo ${names[i]} > name; sleep 1; ls`))));
    for (const [i, sandbox] of both.entries()) {
      t.equal(
        (await sandbox.snapshot(emit)).snapshot,
        await putSnapshot({ name: { file: `${names[i]}\n` } }, emit),
      );
    }
  });
  await t.test('a workspace that is not there is the fault of the reader, and leaves nothing', async (t) => {
    const missing = await putSnapshot({ gone: { file: hex(8) } }, memoryBlocks().emit);
    const spec = { owner: kit.owner, token: 'x', limits: LIMITS, workspace: missing, reader: reader };
    t.ok(isFault(await kit.executor.open(spec).catch((error: unknown) => error)));
  });
}

async function homes(t: Test, kit: Kit): Promise<void> {
  const { emit, reader } = kit.blocks;
  await t.test(
    'the home is kept from run to run and read back as a tree, temp is empty at each start',
    async (t) => {
      const sandbox = await kit.sandbox(t);
      const config = { path: '.config/agent/settings.json', bytes: Buffer.from('{}'), mode: 0o600 };
      await sandbox.writeHome([config, { path: 'note', bytes: Buffer.from('n') }]);
      const first = await run(
        sandbox,
        sh('cat "$HOME/.config/agent/settings.json"; echo s1 > "$HOME/session"; echo t > "$TMPDIR/t"'),
      );
      t.equal(text(first.stdout), '{}');
      const second = await run(sandbox, sh('cat "$HOME/session"; ls "$TMPDIR"'));
      t.equal(text(second.stdout), 's1\n');
      const wanted: Plan = {
        '.config': { dir: { agent: { dir: { 'settings.json': { file: '{}', mode: 0o600 } } } } },
        note: { file: 'n' },
        session: { file: 's1\n' },
      };
      t.equal(await sandbox.home(emit), await putTree(wanted, emit));
      t.equal(
        (await sandbox.snapshot(emit)).snapshot,
        await putSnapshot({}, emit),
        'home is no part of the workspace',
      );
    },
  );
  await t.test('writing into the home follows no link that a program left there', async (t) => {
    const sandbox = await kit.sandbox(t);
    await run(
      sandbox,
      sh(
        `ln -s "${sandbox.paths.workspace}" "$HOME/.config"; ln -s "${sandbox.paths.workspace}/f" "$HOME/f"`,
      ),
    );
    await sandbox.writeHome([
      { path: '.config/settings', bytes: Buffer.from('1') },
      { path: 'f', bytes: Buffer.from('2') },
    ]);
    t.equal(
      (await sandbox.snapshot(emit)).snapshot,
      await putSnapshot({}, emit),
      'the workspace is untouched',
    );
    const entries = await entriesOf(reader, await sandbox.home(emit));
    t.same([entries.get('.config')?.type, entries.get('f')?.type], ['dir', 'file']);
    await t.rejects(sandbox.writeHome([{ path: '../x', bytes: Buffer.from('') }]), { code: 'E_PATH' });
  });
}

async function walls(t: Test, kit: Kit): Promise<void> {
  const { emit } = kit.blocks;
  const folder = mkdtempSync(join(tmpdir(), 'suite-'));
  t.teardown(() => rmSync(folder, { recursive: true }));
  await t.test('files beside the workspace can be read and belong to no snapshot', async (t) => {
    const tree = await putTree(
      { 'test.sh': { file: 'echo tested\n' }, sub: { dir: { f: { file: 'f' } } } },
      emit,
    );
    const readOnly = [
      { name: 'verifier', tree } as const,
      { name: 'agent', folder: import.meta.dirname } as const,
    ];
    const sandbox = await kit.sandbox(t, { readOnly });
    const { verifier, agent } = sandbox.paths.readOnly;
    t.equal(text((await run(sandbox, ['sh', `${verifier}/test.sh`])).stdout), 'tested\n');
    t.match(text((await run(sandbox, ['ls', agent as string])).stdout), 'executor.js');
    if (kit.subject.isolated) {
      const written = await run(
        sandbox,
        sh(`echo x > ${verifier}/new; rm -r ${verifier}/sub ${agent}/*; ls ${verifier}/sub`),
      );
      t.equal(text(written.stdout), 'f\n', 'nothing there can be changed');
    }
    t.equal((await sandbox.snapshot(emit)).snapshot, await putSnapshot({}, emit));
  });
  if (!kit.subject.isolated) return;
  await t.test('there is no network: no name, no neighbour, no loopback of the host', async (t) => {
    const sandbox = await kit.sandbox(t);
    const server = createServer((socket) => socket.end('reached')).listen(0, '0.0.0.0');
    await once(server, 'listening');
    t.teardown(() => server.close());
    const { port } = server.address() as AddressInfo;
    const seen = await run(sandbox, ['node', '-e', PROBE, String(port)]);
    const answers = JSON.parse(text(seen.stdout)) as Record<string, string>;
    for (const [target, answer] of Object.entries(answers)) t.not(answer, 'open', `${target}: ${answer}`);
    t.equal(Object.keys(answers).length, 5);
  });
  await t.test('nothing inside names the owner, the token or this project', async (t) => {
    const token = hex(12);
    const sandbox = await kit.sandbox(t, { token });
    const paths = ['environ', 'mountinfo', 'cgroup', 'cmdline', 'status']
      .map((name) => `/proc/self/${name}`)
      .join(' ');
    const seen = await run(
      sandbox,
      sh(`env; hostname; pwd; ls -a / ~ ..; cat ${paths} /etc/hosts /etc/passwd`),
    );
    for (const word of [token, kit.owner, 'ashlar']) t.notMatch(text(seen.stdout).toLowerCase(), word);
    const surface = await sandbox.surface();
    t.equal(text((await run(sandbox, ['hostname'])).stdout).trim(), surface.hostname);
    t.ok(surface.mounts.some((mount) => mount.startsWith(`${sandbox.paths.workspace} `)));
    t.notMatch(JSON.stringify(surface), new RegExp(`${token}|${kit.owner}`));
    t.same(sandbox.paths, (await kit.sandbox(t)).paths, 'paths are the same in every sandbox');
  });
  await t.test('the host is out of sight: its folders, its processes, its privileges', async (t) => {
    const sandbox = await kit.sandbox(t);
    const seen = await run(
      sandbox,
      sh(`ls ${folder}; ls ${process.cwd()}; kill -0 ${process.pid}; touch /usr/x /x; id -u`),
    );
    t.equal(text(seen.stdout).trim(), '1000', 'no folder listed, and the user is not root');
    const status = text((await run(sandbox, ['cat', '/proc/self/status'])).stdout);
    t.match(status, /CapEff:\s+0000000000000000/);
    t.match(status, /NoNewPrivs:\s+1/);
  });
}

/** Tries a name, a public address, a bridge's gateway and the host's loopback and prints what came of each. */
const PROBE = `
const port = Number(process.argv[1]), out = {};
const dial = (host, port) => new Promise((done) => {
  const s = net.connect({ host, port, timeout: 3000 });
  s.on('connect', () => { done('open'); s.destroy(); });
  s.on('error', (e) => done(e.code)); s.on('timeout', () => { done('timeout'); s.destroy(); });
});
const name = () => new Promise((done) => dns.lookup('example.com', (e) => done(e ? e.code : 'open')));
(async () => {
  out.name = await name();
  for (const host of ['127.0.0.1', '172.17.0.1', '10.0.0.1']) out[host] = await dial(host, port);
  out.relay = await dial('127.0.0.1', 8080);
  console.log(JSON.stringify(out));
})();`;

async function relays(t: Test, kit: Kit): Promise<void> {
  await t.test(
    'with a relay socket the meter is reachable at relayUrl, and only during that run',
    async (t) => {
      const folder = mkdtempSync(join(tmpdir(), 'suite-'));
      const relaySocket = join(folder, 'meter.sock');
      const meter = createHttpServer((request, response) => {
        const chunks: Uint8Array[] = [];
        request.on('data', (chunk: Uint8Array) => chunks.push(chunk));
        request.on('end', () => response.end(Buffer.concat([Buffer.from('meter:'), ...chunks])));
      });
      meter.listen(relaySocket);
      await once(meter, 'listening');
      t.teardown(() => {
        meter.closeAllConnections();
        meter.close();
        rmSync(folder, { recursive: true });
      });
      const sandbox = await kit.sandbox(t);
      const env = { BASE_URL: sandbox.relayUrl };
      // Not `fetch`: where the connection is reset early enough, Node 20's settles neither way.
      const call = `const say = (line) => { console.log(line); process.exit(5); };
      http.request(process.env.BASE_URL + '/v1', { method: 'POST' }, (answer) => {
        let body = '';
        answer.on('data', (text) => { body += text; }).on('end', () => say(body.length + ' ' + body.slice(0, 8)));
      }).on('error', () => say('cut')).end('x'.repeat(400000))`;
      const through = await run(sandbox, js(call), { env, relaySocket });
      t.equal(text(through.stdout), '400006 meter:xx\n');
      t.equal(through.exit, 5, "the status is the program's");
      t.equal(text((await run(sandbox, js(call), { env })).stdout), 'cut\n', 'no relay without a socket');
      t.equal(
        text((await run(sandbox, js(call), { env, relaySocket })).stdout),
        '400006 meter:xx\n',
        'again',
      );
      const seen = await run(sandbox, js('console.log(JSON.stringify(process.env))'), { env, relaySocket });
      t.same(
        JSON.parse(text(seen.stdout)),
        { ...sandbox.environment, ...env },
        'the environment is the same',
      );
      t.match(await run(sandbox, ['no-such-command'], { relaySocket }), { exit: 127 });
      const killed = await run(sandbox, sh('kill -TERM $$; sleep 60'), { relaySocket });
      t.ok(killed.signal === 'SIGTERM' || killed.exit === 143);
    },
  );
}

async function limits(t: Test, kit: Kit): Promise<void> {
  await t.test('memory over the limit is oom', async (t) => {
    const sandbox = await kit.sandbox(t, { limits: { ...LIMITS, memoryMb: 128 } });
    const script = 'const all = []; setInterval(() => all.push(Buffer.alloc(2e7, 1)), 20)';
    t.match(await run(sandbox, js(script)), { oom: true, timedOut: false, pidsHit: false });
    t.match(await run(sandbox, sh('echo fine')), { exit: 0, oom: false });
  });
  await t.test('processes over the limit are held, and seen', async (t) => {
    const sandbox = await kit.sandbox(t, { limits: { ...LIMITS, pids: 48 } });
    const mark = `6${Number.parseInt(hex(4), 16)}`;
    const script = `let n = 0; setInterval(() => {
      child_process.spawn('sleep', ['${mark}']).on('error', () => undefined);
      if (++n > 300) process.exit(0);
    }, 10)`;
    t.match(await run(sandbox, js(script)), { pidsHit: true, timedOut: false });
    t.same(withArgument(mark), []);
    t.match(await run(sandbox, sh('echo fine')), { exit: 0, pidsHit: false });
  });
}

async function owners(t: Test, kit: Kit): Promise<void> {
  await t.test(
    'when the owner is killed, what it started dies or is reaped, and nothing is adopted',
    async (t) => {
      const [owner, token, mark] = [`owner-${hex(8)}`, hex(8), `5${Number.parseInt(hex(4), 16)}`];
      const script = join(import.meta.dirname, 'executor-owner.js');
      const child = spawn(process.execPath, [script, kit.subject.module, owner, token, `mark=${mark}`], {
        stdio: ['ignore', 'inherit', 'inherit'],
      });
      const ended = once(child, 'exit');
      await Promise.race([appears(mark), ended]);
      const bystander = await kit.sandbox(t);
      child.kill('SIGKILL');
      await ended;
      t.same(await kit.executor.reap(`${owner}-other`), []);
      t.same(await kit.executor.reap(owner), [token]);
      t.same(withArgument(mark), []);
      t.same(await kit.executor.reap(owner), []);
      t.match(await run(bystander, sh('echo alive')), { exit: 0 }, 'another owner is left alone');
    },
  );
}
