/**
 * Archives: ours against GNU tar and tar-stream, and damage.
 */
import { execFileSync } from 'node:child_process';
import {
  linkSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import fc from 'fast-check';
import t, { type Test } from 'tap';
import tarStream from 'tar-stream';
import { treeOfTar } from '../../../daemon/executors/docker/transfer.ts';
import { readTar, type TarInput, writeTar } from '../../../daemon/executors/tar.ts';
import { memoryBlocks, type Plan, putTree } from '../../suite/memory.ts';

interface Seen {
  readonly path: string;
  readonly type: string;
  readonly mode: number;
  readonly target: string;
  readonly body: string;
}

const latin = (bytes: Uint8Array): string => Buffer.from(bytes).toString('latin1');

async function bytesOf(source: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of source) chunks.push(Uint8Array.from(chunk));
  return Buffer.concat(chunks);
}

/** The archive in chunks of this size, as a stream would bring it. */
async function* cut(bytes: Uint8Array, size = 700): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

async function see(archive: Uint8Array, size?: number): Promise<Seen[]> {
  const all: Seen[] = [];
  for await (const { path, type, mode, target, body } of readTar(cut(archive, size))) {
    all.push({ path: latin(path), type, mode, target: latin(target), body: latin(await bytesOf(body)) });
  }
  return all.sort((a, b) => (a.path < b.path ? -1 : 1));
}

const OWNER = { uid: 1000, gid: 1000 };
const file = (path: string | Uint8Array, text = '', mode = 0o644): TarInput => {
  const body = Buffer.from(text, 'latin1');
  return { path: Buffer.from(path as string), type: 'file', mode, size: body.length, body: [body], ...OWNER };
};
const dir = (path: string): TarInput => ({ path: Buffer.from(path), type: 'dir', mode: 0o755, ...OWNER });

function oddFolder(t: Test): string {
  const folder = mkdtempSync(join(tmpdir(), 'tar-'));
  t.teardown(() => rmSync(folder, { recursive: true }));
  const root = join(folder, 'w');
  mkdirSync(join(root, 'a'.repeat(120), 'b'.repeat(130)), { recursive: true });
  writeFileSync(join(root, 'a'.repeat(120), 'b'.repeat(130), 'deep'), 'deep');
  writeFileSync(Buffer.concat([Buffer.from(`${root}/raw-`), Buffer.from([0xff, 0xfe])]), 'raw');
  writeFileSync(join(root, 'ünï'), 'unicode');
  writeFileSync(join(root, 'suid'), 's', { mode: 0o755 });
  execFileSync('chmod', ['4751', join(root, 'suid')]);
  linkSync(join(root, 'suid'), join(root, 'suid-too'));
  symlinkSync('t/'.repeat(90), join(root, 'long-link'));
  execFileSync('mkfifo', [join(root, 'pipe')]);
  writeFileSync(join(root, 'block'), Buffer.alloc(512, 7));
  return folder;
}

t.test('what GNU tar writes is read byte for byte, in every format that can hold it', async (t) => {
  const folder = oddFolder(t);
  for (const format of ['gnu', 'pax', 'oldgnu']) {
    const archive = execFileSync('tar', ['-C', folder, `--format=${format}`, '--sort=name', '-cf', '-', 'w']);
    for (const size of [1, 513, 1 << 20]) {
      const seen = await see(archive, size);
      const short = seen.map(
        ({ path, type, mode }) => `${path.replace(/(.)\1{50,}/g, '$1…')} ${type} ${mode.toString(8)}`,
      );
      t.same(short, [
        'w dir 755',
        'w/a… dir 755',
        'w/a…/b… dir 755',
        'w/a…/b…/deep file 644',
        'w/block file 644',
        'w/long-link link 777',
        'w/pipe fifo 644',
        'w/raw-ÿþ file 644',
        'w/suid file 4751',
        'w/suid-too hard 4751',
        `w/${latin(Buffer.from('ünï'))} file 644`,
      ]);
      t.equal(seen[3]?.body, 'deep');
      t.equal(seen[4]?.body, '\x07'.repeat(512));
      t.equal(seen[5]?.target, 't/'.repeat(90));
      t.equal(seen[9]?.target, 'w/suid');
    }
  }
  const split = ['p'.repeat(90), 'q'.repeat(60), 'f'];
  mkdirSync(join(folder, ...split), { recursive: true });
  const ustar = execFileSync('tar', ['-C', folder, '--format=ustar', '-cf', '-', split[0] as string]);
  t.equal((await see(ustar)).at(-1)?.path, split.join('/'), 'prefix and name');
});

t.test('what tar-stream writes is read, and what we write is read by both', async (t) => {
  const pack = tarStream.pack();
  const long = `${'n'.repeat(150)}/é`;
  pack.entry({ name: long, mode: 0o600, mtime: new Date(0) }, 'body');
  pack.entry({ name: 'l', type: 'symlink', linkname: 'x'.repeat(200) });
  pack.finalize();
  const theirs = await see(await bytesOf(pack as AsyncIterable<unknown> as AsyncIterable<Uint8Array>));
  t.same(
    theirs.map(({ path, body }) => [path, body]),
    [
      ['l', ''],
      [latin(Buffer.from(long)), 'body'],
    ],
  );
  const entries = [
    dir('d'),
    file(`d/${'é'.repeat(120)}`, 'ours', 0o4711),
    file(Buffer.from([0x64, 0x2f, 0xff]), 'raw'),
  ];
  const target = Buffer.from('y/'.repeat(120));
  const archive = await bytesOf(
    writeTar([...entries, { path: Buffer.from('d/l'), type: 'link', mode: 0o777, target, ...OWNER }]),
  );
  const seen: string[] = [];
  const extract = Readable.from([archive]).pipe(tarStream.extract());
  for await (const entry of extract) {
    seen.push(
      `${entry.header.name} ${entry.header.mode?.toString(8)} ${entry.header.uid} ${entry.header.mtime?.getTime()}`,
    );
    entry.resume();
  }
  t.match(seen, ['d/ 755 1000 0', `d/${'é'.repeat(120)} 4711 1000 0`, /^d\//, 'd/l 777 1000 0']);
  const folder = mkdtempSync(join(tmpdir(), 'tar-'));
  t.teardown(() => rmSync(folder, { recursive: true }));
  execFileSync('tar', ['-C', folder, '-xpf', '-'], { input: archive });
  t.same(
    readdirSync(join(folder, 'd'), { encoding: 'buffer' }).map(latin).sort(),
    [latin(Buffer.from('é'.repeat(120))), 'l', 'ÿ'].sort(),
  );
  t.equal(lstatSync(join(folder, 'd', 'é'.repeat(120))).mode & 0o7777, 0o4711);
  t.equal(readFileSync(join(folder, 'd', 'é'.repeat(120)), 'utf8'), 'ours');
  t.equal(readlinkSync(join(folder, 'd/l')), latin(target));
});

t.test('writing and reading are inverse for any bytes in names, targets and bodies', async (t) => {
  const name = fc
    .uint8Array({ minLength: 1, maxLength: 300 })
    .map((bytes) => bytes.map((b) => (b === 0 || b === 0x2f ? 1 : b)));
  const entry = fc.record({
    name,
    body: fc.uint8Array({ maxLength: 1500 }),
    mode: fc.integer({ min: 0, max: 0o7777 }),
  });
  const link = fc.record({ name, target: name });
  await fc.assert(
    fc.asyncProperty(
      fc.array(entry),
      fc.array(link),
      fc.integer({ min: 1, max: 2000 }),
      async (files, links, size) => {
        const inputs: TarInput[] = [
          ...files.map(({ name, body, mode }) => ({
            path: name,
            type: 'file' as const,
            mode,
            size: body.length,
            body: [body],
            ...OWNER,
          })),
          ...links.map(({ name, target }) => ({
            path: name,
            type: 'link' as const,
            mode: 0o777,
            target,
            ...OWNER,
          })),
        ];
        const archive = await bytesOf(writeTar(inputs));
        let at = 0;
        for await (const seen of readTar(cut(archive, size))) {
          const wanted = inputs[at++] as TarInput;
          const body = Buffer.concat([...((wanted.body ?? []) as Iterable<Uint8Array>)]);
          const equal = Buffer.compare(seen.path, wanted.path) === 0 && seen.mode === wanted.mode;
          const target = Buffer.compare(seen.target, wanted.target ?? Buffer.alloc(0)) === 0;
          if (!equal || !target || !(await bytesOf(seen.body)).equals(body)) return false;
        }
        return at === inputs.length;
      },
    ),
  );
  const big = await bytesOf(writeTar([{ ...dir('x'), uid: 2 ** 31 }]));
  t.equal((await see(big))[0]?.path, 'x', 'a number that octal cannot hold');
});

t.test('damage and what cannot be read exactly is refused', async (t) => {
  const whole = await bytesOf(
    writeTar([dir('w'), file('w/f', 'x'.repeat(600)), file(`w/${'n'.repeat(200)}`)]),
  );
  for (const length of [0, 100, 512, 1024, 1500, 2048, 2600, whole.length - 1024]) {
    await t.rejects(see(whole.subarray(0, length)), { code: 'E_EXECUTOR' }, `cut at ${length}`);
  }
  for (const at of [0, 100, 124, 148, 156, 512]) {
    const flipped = Buffer.from(whole);
    flipped.writeUInt8((whole[at] as number) ^ 1, at);
    await t.rejects(see(flipped), { code: 'E_EXECUTOR' }, `bit at ${at}`);
  }
  const folder = mkdtempSync(join(tmpdir(), 'tar-'));
  t.teardown(() => rmSync(folder, { recursive: true }));
  writeFileSync(join(folder, 'sparse'), 'x');
  truncateSync(join(folder, 'sparse'), 1 << 22);
  writeFileSync(join(folder, 'small'), 'x');
  for (const format of ['gnu', 'posix']) {
    const sparse = execFileSync('tar', ['-C', folder, '-S', `--format=${format}`, '-cf', '-', 'sparse']);
    await t.rejects(see(sparse), { code: 'E_EXECUTOR' }, `sparse ${format}`);
  }
  const global = execFileSync('tar', [
    '-C',
    folder,
    '--format=posix',
    '--pax-option',
    'path=evil',
    '-cf',
    '-',
    'small',
  ]);
  await t.rejects(see(global), { code: 'E_EXECUTOR' }, 'one name for all');
  await t.rejects(
    bytesOf(writeTar([{ ...file('f', 'four'), size: 5 }])),
    { code: 'E_EXECUTOR' },
    'body and size',
  );
});

t.test('an archive is a tree only if each entry stands once, in its folder, as listed', async (t) => {
  const { emit } = memoryBlocks();
  const tree = async (entries: TarInput[], count: number, sockets: string[] = []) =>
    treeOfTar(cut(await bytesOf(writeTar(entries))), async () => ({ count, sockets }), emit);
  const hard: TarInput = {
    path: Buffer.from('w/h'),
    type: 'hard',
    mode: 0,
    target: Buffer.from('w/f'),
    ...OWNER,
  };
  const good = await tree([dir('w'), file('w/f', '1', 0o600), hard], 3, [
    Buffer.from('s').toString('hex'),
  ]).catch((e) => e);
  t.match(good, { mode: 0o755 });
  const plain: Plan = { f: { file: '1', mode: 0o600 }, h: { file: '1', mode: 0o600 } };
  t.equal((await tree([dir('w'), file('w/f', '1', 0o600), hard], 2)).tree, await putTree(plain, emit));
  const raw = [Buffer.from([0x77, 0x2f, 0xfe]), Buffer.from([0x77, 0x2f, 0xff])];
  t.ok(await tree([dir('w'), ...raw.map((path) => file(path, 'x'))], 2), 'two names that decode to one');
  const bad: Record<string, [TarInput[], number, string[]?]> = {
    'two equal paths': [[dir('w'), file('w/f'), file('w/f')], 2],
    'two equal paths, spelled twice': [[dir('w'), file('w/f'), file('w/./f')], 2],
    'no folder for it': [[dir('w'), file('w/no/f')], 1],
    'a file as folder': [[dir('w'), file('w/f'), file('w/f/g')], 2],
    'a way out': [[dir('w'), file('w/../f')], 1],
    'a hard link to nothing': [[dir('w'), hard], 1],
    'nothing at all': [[], 0],
    'one more listed': [[dir('w'), file('w/f')], 2],
    'one less listed': [[dir('w'), file('w/f'), file('w/g')], 1],
    'a socket where a file is': [[dir('w'), file('w/f')], 2, ['66']],
  };
  for (const [what, [entries, count, sockets]] of Object.entries(bad)) {
    await t.rejects(tree(entries, count, sockets), { code: 'E_EXECUTOR' }, what);
  }
});
