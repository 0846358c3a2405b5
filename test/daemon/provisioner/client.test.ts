/** Executables that misbehave in every way we know, and artifacts that lead astray. */
import { spawnSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t from 'tap';
import { openProvisioner, type ProvisionerConfig } from '../../../daemon/provisioner/provisioner.ts';
import { REFUSALS } from '../../../daemon/provisioner/refusal.ts';
import { sha256Hex } from '../../../store/format/crypto.ts';
import { AshlarError } from '../../../store/format/errors.ts';

// Run alone, tap allows a file 30 s; these start many processes.
t.setTimeout(600_000);

const GOOD = '{"project":"p1","queue_before_count":0,"restore_seconds":0.5}';
const EMPTY = {
  fixture: 'f',
  graphArm: null,
  runIdentity: 'r1',
  artifacts: { evidenceCorpus: null, graph: null },
};
const write = (text: string) => `process.stdout.write(${JSON.stringify(text)})`;
const counted = (number: string) =>
  write(`{"project":"p1","queue_before_count":${number},"restore_seconds":0.5}`);
const timed = (number: string) =>
  write(`{"project":"p1","queue_before_count":0,"restore_seconds":${number}}`);

/** A provisioner made of one script, with its folders. */
function make(script: string, change: Partial<ProvisionerConfig> = {}) {
  const base = mkdtempSync(join(tmpdir(), 'provisioner-'));
  const [root, work] = [join(base, 'fixtures'), join(base, 'work')];
  mkdirSync(root);
  writeFileSync(join(base, 'run.mjs'), script);
  const argv = [process.execPath, join(base, 'run.mjs')];
  return {
    base,
    root,
    work,
    provisioner: openProvisioner({ argv, root, work, timeoutSeconds: 60, maxBytes: 1 << 20, ...change }),
  };
}

const reached = new Set<string>();

/** What a call comes to: `ok`, or the rule that refused it. */
async function outcome(call: Promise<unknown>): Promise<string> {
  try {
    await call;
    return 'ok';
  } catch (fault) {
    if (!(fault instanceof AshlarError) || fault.code !== 'E_PROVISION') throw fault;
    reached.add(String(fault.data.rule));
    return String(fault.data.rule);
  }
}

/** Resolves when no such process runs; one that is killed and not yet reaped is gone. */
async function untilGone(pid: string): Promise<void> {
  for (;;) {
    const state = spawnSync('ps', ['-o', 'stat=', '-p', pid]).stdout.toString().trim();
    if (state === '' || state.startsWith('Z')) return;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

const ROWS: readonly { name: string; script: string; is: string }[] = [
  { name: 'two-objects-or-noise p1', script: write(GOOD), is: 'ok' },
  { name: 'two-objects-or-noise p2', script: write(` ${GOOD}\r\n\n`), is: 'ok' },
  { name: 'two-objects-or-noise p3', script: write(`${GOOD}\n${GOOD}\n`), is: 'not-one-object' },
  { name: 'two-objects-or-noise p4', script: write(`INFO [db] Connected\n${GOOD}\n`), is: 'not-one-object' },
  { name: 'two-objects-or-noise p5', script: write(`${GOOD}\ndone\n`), is: 'not-one-object' },
  { name: 'two-objects-or-noise p6', script: write(`[${GOOD}]`), is: 'not-one-object' },
  { name: 'two-objects-or-noise p7', script: '', is: 'not-one-object' },
  { name: 'bom-and-bytes p1', script: write(`\ufeff${GOOD}`), is: 'bom' },
  {
    name: 'bom-and-bytes p2',
    script: `process.stdout.write(Buffer.from('${GOOD}','utf16le'))`,
    is: 'not-one-object',
  },
  {
    name: 'bom-and-bytes p3',
    script: `process.stdout.write(Buffer.concat([Buffer.from('{"project":"p'),Buffer.from([0xff]),Buffer.from('","queue_before_count":0,"restore_seconds":0.5}')]))`,
    is: 'encoding',
  },
  { name: 'bom-and-bytes p4', script: write(`${GOOD}\0`), is: 'not-one-object' },
  { name: 'bom-and-bytes p5', script: write(GOOD.replace('p1', '\\ud800')), is: 'encoding' },
  {
    name: 'duplicate-and-odd-keys p1',
    script: write(GOOD.replace('{', '{"project":"p0",')),
    is: 'duplicate-field',
  },
  {
    name: 'duplicate-and-odd-keys p2',
    script: write(GOOD.replace('{', '{"proj\\u0065ct":"p0",')),
    is: 'duplicate-field',
  },
  {
    name: 'duplicate-and-odd-keys p3',
    script: write(GOOD.replace('project', 'Project')),
    is: 'missing-field',
  },
  {
    name: 'duplicate-and-odd-keys p4',
    script: write(GOOD.replace('{', '{"__proto__":{"x":1},')),
    is: 'unknown-field',
  },
  {
    name: 'duplicate-and-odd-keys p5',
    script: write(GOOD.replace('}', ',"note":"hi"}')),
    is: 'unknown-field',
  },
  {
    name: 'duplicate-and-odd-keys p6',
    script: write('{"project":"p1","queue_before_count":0}'),
    is: 'missing-field',
  },
  { name: 'numbers p1', script: counted('NaN'), is: 'not-one-object' },
  { name: 'numbers p2', script: counted('1e400'), is: 'number' },
  { name: 'numbers p3, minus zero is zero', script: counted('-0'), is: 'ok' },
  { name: 'numbers p4', script: counted('9007199254740993'), is: 'number' },
  { name: 'numbers p5', script: counted('0.5'), is: 'bad-field' },
  { name: 'numbers p6', script: counted('"0"'), is: 'bad-field' },
  { name: 'numbers p7', script: counted('-1'), is: 'bad-field' },
  { name: 'numbers p8, an exponent is only a spelling', script: counted('1e2'), is: 'ok' },
  { name: 'negative seconds', script: timed('-0.5'), is: 'bad-field' },
  { name: 'seconds that do not read back', script: timed('0.1000000000000000055'), is: 'number' },
  { name: 'an empty project', script: write(GOOD.replace('p1', '')), is: 'bad-field' },
  { name: 'exit status 3 after a good answer', script: `${write(GOOD)};process.exitCode=3`, is: 'exit' },
  {
    name: 'killed by a signal',
    script: `process.kill(process.pid,'SIGTERM');setInterval(()=>{},1e3)`,
    is: 'exit',
  },
  {
    name: 'flood',
    script: `process.stdout.write('{"project":"'+'x'.repeat(64<<20)+'"}')`,
    is: 'output-limit',
  },
  {
    name: 'drip',
    script: `process.stdout.write('{"project":"');setInterval(()=>process.stdout.write('x'.repeat(1<<16)),1)`,
    is: 'output-limit',
  },
  {
    name: 'a gigabyte',
    script: `const part = Buffer.alloc(1 << 20, 120); let n = 0; const go = () => { while (n++ < 1024) if (!process.stdout.write(part)) return process.stdout.once('drain', go); }; go()`,
    is: 'output-limit',
  },
  { name: 'progress', script: write(`restoring 10%\\rrestoring 100%\\n${GOOD}`), is: 'not-one-object' },
  { name: 'a verdict instead of a reply', script: write('{"status":"memory_absent"}'), is: 'missing-field' },
  {
    name: 'a verdict beside a reply',
    script: write(GOOD.replace('}', ',"memory":"absent"}')),
    is: 'unknown-field',
  },
  { name: 'a list of replies by key', script: write(`{"0":${GOOD}}`), is: 'missing-field' },
  ...[
    ['../../etc/passwd', 'bad-field'],
    ['a/../../b', 'bad-field'],
    ['..\\\\b', 'bad-field'],
    ['/etc/passwd', 'bad-field'],
    ['~/notes', 'bad-field'],
    ['C:\\\\Users', 'bad-field'],
    ['p\\u0000', 'bad-field'],
    ['p\\u001b[2J', 'bad-field'],
    ['p\\n', 'bad-field'],
    ['p\\u202egnp', 'bad-field'],
    ['team/p1', 'ok'],
    ['p..1', 'ok'],
    ['Projekt Ä', 'ok'],
  ].map(([project = '', is = '']) => ({
    name: `a project named ${project}`,
    script: write(GOOD.replace('p1', project)),
    is,
  })),
  { name: 'deaf', script: `process.stdout.write('${GOOD}',()=>process.exit(0))`, is: 'ok' },
  {
    name: 'errflood',
    script: `process.stderr.write('e'.repeat(64<<20),()=>process.stdout.write('${GOOD}',()=>process.exit(0)))`,
    is: 'ok',
  },
];

t.test('each way to misbehave is refused by its own rule, and honest oddities pass', async (t) => {
  for (const { name, script, is } of ROWS) {
    const { provisioner } = make(script);
    t.equal(await outcome(provisioner.restore(EMPTY)), is, name);
  }
});

t.test('what a product prints beside its answer is kept from the words of the refusal', async (t) => {
  const secret = ['gh', 'p_', 'a1B2'.repeat(9)].join('');
  for (const text of [`token ${secret}\n${GOOD}`, GOOD.replace('p1', `../${secret}`), `{"${secret}":1}`]) {
    const { provisioner } = make(write(text));
    const fault = await provisioner.restore(EMPTY).catch((error: AshlarError) => error);
    t.ok(fault instanceof AshlarError);
    t.notMatch((fault as AshlarError).message, secret);
  }
});

t.test('a child in a session of its own that holds stdout open does not hold us', async (t) => {
  const child = 'setTimeout(()=>{},600000)';
  const { provisioner, work } = make(`
    import { spawn } from 'node:child_process';
    import { writeFileSync } from 'node:fs';
    const c = spawn(process.execPath, ['-e', ${JSON.stringify(child)}], { stdio: 'inherit', detached: true });
    c.unref();
    writeFileSync('pid', String(c.pid));
    process.stdout.write('${GOOD}', () => process.exit(0));`);
  t.equal(await outcome(provisioner.restore(EMPTY)), 'stdout-open');
  process.kill(Number(readFileSync(join(work, 'pid'), 'utf8')), 'SIGKILL');
});

t.test('a program that is not there is refused, and no shell reads the argv', async (t) => {
  const { provisioner } = make('', { argv: ['/nonexistent/$(touch x)'] });
  t.equal(await outcome(provisioner.restore(EMPTY)), 'spawn');
});

t.test('a refused call leaves no process of its group, however deaf they are', async (t) => {
  const child = `process.on('SIGTERM',()=>{});process.on('SIGHUP',()=>{});setInterval(()=>{},1e3)`;
  const script = (last: string) => `
    import { spawn } from 'node:child_process';
    import { writeFileSync } from 'node:fs';
    const c = spawn(process.execPath, ['-e', ${JSON.stringify(child)}], { stdio: 'inherit' });
    writeFileSync('pids', process.pid + ' ' + c.pid);
    ${last}`;
  const rows = [
    { is: 'timeout', last: 'process.stdin.resume();setInterval(()=>{},1e3)', timeoutSeconds: 2 },
    {
      is: 'output-limit',
      last: `setInterval(()=>process.stdout.write('x'.repeat(1<<16)),1)`,
      timeoutSeconds: 60,
    },
    { is: 'stdout-open', last: `process.stdout.write('${GOOD}',()=>process.exit(0))`, timeoutSeconds: 60 },
  ];
  for (const { is, last, timeoutSeconds } of rows) {
    const { provisioner, work } = make(script(last), { timeoutSeconds });
    t.equal(await outcome(provisioner.restore(EMPTY)), is);
    for (const pid of readFileSync(join(work, 'pids'), 'utf8').split(' ')) {
      await untilGone(pid);
      t.pass(`${is}: ${pid} is gone`);
    }
  }
});

t.test(
  'a refusal carries the first bytes that were said, bounded, and stderr is marked where it is cut',
  async (t) => {
    const { provisioner } = make(
      `process.stdout.write('INFO '.repeat(9000));process.stderr.write('e'.repeat(1<<20))`,
    );
    const fault = await provisioner.restore(EMPTY).then(
      () => undefined,
      (error: AshlarError) => error,
    );
    const said = fault?.data.cause as { stdout: Uint8Array; stderr: string };
    t.equal(said.stdout.length, 4096);
    t.match(said.stderr, /\[cut: 1048576 bytes in all\]$/);
    t.match(
      fault?.message,
      /^E_PROVISION: the provisioner failed; at provisioner restore; rule not-one-object; wanted /,
    );
  },
);

t.test('all three verbs and recall: parsed values, raw bytes, seconds as decimals', async (t) => {
  const script = `
    import { readFileSync } from 'node:fs';
    const input = readFileSync(0, 'utf8');
    const out = {
      restore: '{"project":"p1","queue_before_count":0,"restore_seconds":1.50}',
      snapshot: '{"state":{"nodes":4},"probes":{"fulltext":["a"],"semantic":[],"graph":["b"]},"queue_after_count":2,"snapshot_seconds":3e-05}',
      destroy: '{"ok": true}',
      recall: JSON.stringify({ memories: [{ id: 'a', text: input }] }),
    };
    process.stdout.write(out[process.argv[2]]);`;
  const { provisioner } = make(script, { recall: true });
  const restored = await provisioner.restore(EMPTY);
  t.same(restored.value, { project: 'p1', queue_before_count: 0, restore_seconds: '1.5' });
  t.equal(
    Buffer.from(restored.raw).toString(),
    '{"project":"p1","queue_before_count":0,"restore_seconds":1.50}',
  );
  t.same((await provisioner.snapshot({ project: 'p1' })).value, {
    state: { nodes: 4 },
    probes: { fulltext: ['a'], semantic: [], graph: ['b'] },
    queue_after_count: 2,
    snapshot_seconds: '0.00003',
  });
  t.same((await provisioner.destroy({ project: 'p1' })).value, { ok: true });
  const recalled = await provisioner.recall?.({ project: 'p1', query: 'q', channel: 'prompt', limit: 3 });
  const input = '{"channel":"prompt","limit":3,"project":"p1","query":"q"}\n';
  t.same(recalled?.value, { memories: [{ id: 'a', text: input }] }, 'one compact object on stdin');
  t.equal(make(script).provisioner.recall, undefined);
});

t.test('what fits no verb is refused: a destroy that is not ok, a snapshot with another probe', async (t) => {
  const says = (text: string) => make(write(text)).provisioner;
  t.equal(await outcome(says('{"ok":false}').destroy({ project: 'p' })), 'bad-field');
  const snapshot =
    '{"state":{},"probes":{"fulltext":[],"semantic":[]},"queue_after_count":0,"snapshot_seconds":0}';
  t.equal(await outcome(says(snapshot).snapshot({ project: 'p' })), 'missing-field');
  const more = snapshot.replace('[]}', '[],"graph":[],"vector":[]}');
  t.equal(await outcome(says(more).snapshot({ project: 'p' })), 'unknown-field');
  const key = snapshot.replace('[]}', '[],"graph":[]}').replace('{}', '{"a b":1}');
  t.equal(await outcome(says(key).snapshot({ project: 'p' })), 'unknown-field');
});

t.test(
  'artifacts: only a plain way down to a regular file of that digest, before anything starts',
  async (t) => {
    const script = `import { writeFileSync } from 'node:fs'; writeFileSync('started', ''); ${write(GOOD)}`;
    const { provisioner, base, root, work } = make(script);
    for (const folder of ['fixtures/a', 'fixtures-evil', 'outside'])
      mkdirSync(join(base, folder), { recursive: true });
    writeFileSync(join(root, 'a/g.json'), '{"g":1}\n');
    writeFileSync(join(base, 'outside/g.json'), '{"g":2}\n');
    writeFileSync(join(base, 'fixtures-evil/g.json'), '{"g":3}\n');
    symlinkSync('a/g.json', join(root, 'in.json'));
    symlinkSync('../outside/g.json', join(root, 'out.json'));
    symlinkSync('../outside', join(root, 'dir'));
    spawnSync('mkfifo', [join(root, 'pipe')]);
    const sha256 = sha256Hex(Buffer.from('{"g":1}\n'));
    const rows: [string, string][] = [
      ['in.json', 'path-escape'],
      ['out.json', 'path-escape'],
      ['dir/g.json', 'path-escape'],
      ['../fixtures-evil/g.json', 'path-escape'],
      ['/etc/hostname', 'path-escape'],
      ['a\\g.json', 'path-escape'],
      ['a/../a/g.json', 'path-escape'],
      ['a//g.json', 'path-escape'],
      ['a', 'path-escape'],
      ['pipe', 'path-escape'],
      ['a/absent.json', 'missing-artifact'],
    ];
    const ask = (path: string, digest: string) =>
      outcome(
        provisioner.restore({
          ...EMPTY,
          artifacts: { evidenceCorpus: null, graph: { path, sha256: digest } },
        }),
      );
    for (const [path, is] of rows) t.equal(await ask(path, sha256), is, path);
    t.equal(await ask('a/g.json', sha256Hex(Buffer.from('{"g":2}\n'))), 'digest-mismatch');
    t.equal(await ask('a/g.json', '../../outside'), 'digest-mismatch');
    t.notOk(existsSync(join(work, 'started')));
    t.same(readdirSync(join(base, 'outside')), ['g.json']);
    t.equal(await ask('a/g.json', sha256), 'ok');
    t.ok(existsSync(join(work, 'started')));
  },
);

t.test('what is handed over is the copy that was hashed, so a swap afterwards changes nothing', async (t) => {
  const script = `
    import { readFileSync, writeFileSync } from 'node:fs';
    const { artifacts } = JSON.parse(readFileSync(0, 'utf8'));
    writeFileSync(process.env.SWAP, 'swapped');
    const text = readFileSync(artifacts.graph.path, 'utf8');
    process.stdout.write(JSON.stringify({ project: text, queue_before_count: 0, restore_seconds: 0 }));`;
  const file = join(mkdtempSync(join(tmpdir(), 'swap-')), 'g.json');
  writeFileSync(file, 'hashed');
  const { provisioner } = make(script, { root: join(file, '..'), env: { SWAP: file } });
  const graph = { path: 'g.json', sha256: sha256Hex(Buffer.from('hashed')) };
  const { value } = await provisioner.restore({ ...EMPTY, artifacts: { evidenceCorpus: null, graph } });
  t.equal(value.project, 'hashed');
  t.equal(readFileSync(file, 'utf8'), 'swapped');
});

t.test('the process gets PATH, LANG, what is configured, and nothing else of ours', async (t) => {
  process.env.ASHLAR_MODEL_KEY = 'not-for-anyone';
  const script = `process.stdout.write(JSON.stringify({ project: Object.keys(process.env).sort().join(), queue_before_count: 0, restore_seconds: 0 }))`;
  const { provisioner } = make(script, { env: { MINE: '1' } });
  const { value } = await provisioner.restore(EMPTY);
  delete process.env.ASHLAR_MODEL_KEY;
  t.equal(value.project, 'ASHLAR_PROVISIONER_ROOT,LANG,MINE,PATH');
});

t.test('every rule of the list is reached above', async (t) => {
  t.same([...reached].sort(), Object.keys(REFUSALS).sort());
});
