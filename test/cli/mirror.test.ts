/** Serving and pulling as processes: commands beside the server go through its socket, a second store takes what it shows. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { execPath } from 'node:process';
import t from 'tap';
import { cidOf, digestOf } from '../../store/format/cid.ts';
import { bin, type Desk, lines, openDesk, ran } from './kit.ts';

interface Server {
  readonly url: string;
  stop(): Promise<number | null>;
}

async function serve({ folder, env }: Desk, ...args: string[]): Promise<Server> {
  const child = spawn(execPath, [bin, 'mirror', 'serve', '--json', ...args], {
    cwd: folder,
    env,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [line] = (await once(child.stdout, 'data')) as [Buffer];
  const { url } = JSON.parse(line.toString()) as { url: string };
  return {
    url,
    async stop() {
      child.kill('SIGTERM');
      const [code] = (await once(child, 'exit')) as [number | null];
      return code;
    },
  };
}

t.test('mirror: commands beside the server, curl, a pull into a second store', async (t) => {
  const desk = openDesk();
  t.teardown(desk.clear);
  await desk.ok('init');
  const server = await serve(desk);
  // Four processes at once, all through the server's socket; two of them put the same bytes.
  const texts = ['one', 'two', 'three', 'three'];
  const put = await Promise.all(texts.map((input) => desk.ashlar(['put', '-'], { input })));
  const cids = put.map(({ code, out }) => (code === 0 ? out.trim() : `exit ${code}`));
  t.same(
    cids,
    texts.map((text) => cidOf('raw', Buffer.from(text))),
    'each put has its own cid',
  );
  const [one = '', two = ''] = cids;
  await Promise.all([desk.ok('name', 'shown/one', one), desk.ok('name', 'shown/three', cids[2] ?? '')]);
  t.equal(await desk.ok('get', one), 'one');

  const sum = await ran('sh', ['-c', `curl -sSf "${server.url}/ipfs/${one}?format=raw" | sha256sum`], {
    env: desk.env,
  });
  t.equal(sum.out.slice(0, 64), digestOf(cidOf('raw', Buffer.from('one'))));
  const hidden = await ran('curl', ['-sSf', `${server.url}/ipfs/${two}?format=raw`], { env: desk.env });
  t.not(hidden.code, 0, 'what has no name and no log is not shown');

  const second = join(desk.folder, 'second');
  await desk.ok('init', '--store', second);
  const pulled = await desk.ok('mirror', 'pull', server.url, '--as', 'lab', '--store', second, '--json');
  t.match(lines(pulled).at(-1), { blocks: 2, names: 2 });
  const again = await desk.ok('mirror', 'pull', server.url, '--as', 'lab', '--store', second, '--json');
  t.match(lines(again).at(-1), { blocks: 0, bytes: 0, records: 0 });
  t.equal(await desk.ok('get', 'lab/shown/one', '--store', second), 'one');
  // `run` writes off what it finds under way: beside an owner that would be the owner's.
  const busy = await desk.ashlar(['run']);
  t.same([busy.code, /E_STORE_BUSY/.test(busy.err)], [6, true], 'what runs must own the store itself');
  t.equal(await server.stop(), 0, 'a signal ends it in good order');
  t.equal(await desk.ok('get', two), 'two', 'what was put beside it is there');
});

t.test('mirror: what it refuses', async (t) => {
  const desk = openDesk();
  t.teardown(desk.clear);
  await desk.ok('init');
  const rows: readonly (readonly [readonly string[], number, RegExp])[] = [
    [['mirror', 'fly'], 2, /E_USAGE/],
    [['mirror', 'pull'], 2, /E_USAGE/],
    [['mirror', 'write', 'never', '--out', 'x'], 3, /E_NOT_FOUND/],
    [['mirror', 'pull', 'ftp://127.0.0.1'], 2, /E_CONFIG/],
    [['mirror', 'pull', 'http://127.0.0.1:1'], 6, /E_REMOTE/],
    [['mirror', 'serve', '--host', '192.0.2.1'], 2, /E_CONFIG/],
  ];
  for (const [args, code, err] of rows) {
    const found = await desk.ashlar(args);
    t.equal(found.code, code, args.join(' '));
    t.match(found.err, err, args.join(' '));
  }
});

t.test('a hint of a dead owner, or one that answers nonsense, does not keep a command out', async (t) => {
  const desk = openDesk();
  t.teardown(desk.clear);
  await desk.ok('init');
  const hint = join(desk.folder, '.ashlar', 'owner.json');
  writeFileSync(hint, JSON.stringify({ pid: 1, socket: join(desk.folder, 'nobody') }));
  const { code, out } = await desk.ashlar(['put', '-'], { input: 'x' });
  t.equal(code, 0);
  t.equal(out.trim(), cidOf('raw', Buffer.from('x')));
  t.ok(readFileSync(join(desk.folder, '.ashlar', 'ashlar.json')).length > 0);
});
