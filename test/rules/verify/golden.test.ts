/**
 * The golden release of rule versions 1, re-derived by the running Node and by newer ones, from the folder alone.
 * Newer Nodes come from the package registry, once; a machine that the registry has none for verifies with its own.
 */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { arch, execPath, platform } from 'node:process';
import { fileURLToPath } from 'node:url';
import t from 'tap';
import { openFolder } from '../../../daemon/release/folder.ts';
import { verify } from '../../../rules/verify/verify.ts';
import { GOLDEN, inMemory, readFiles } from '../../tamper/publication.ts';

t.setTimeout(600_000);
const root = resolve(GOLDEN, '..', '..', '..');
const dist = join(dirname(fileURLToPath(import.meta.url)), '..', '..', '..');
const NODES = { 22: '22.12.0', 24: '24.21.0' };

const WORK = `
const { openFolder } = await import(process.argv[2]);
const { verify } = await import(process.argv[3]);
const { result, trust, release, faults } = await verify(await openFolder(process.argv[4]));
process.stdout.write(JSON.stringify({ node: process.versions.node, result, trust, release, faults }));
`;

/** What a Node says about the golden release. */
function verifiedBy(node: string) {
  const parts = ['daemon/release/folder.js', 'rules/verify/verify.js'].map((part) => join(dist, part));
  const argv = ['--input-type=module', '-e', WORK, 'verify', ...parts, GOLDEN];
  const { stdout, stderr, status } = spawnSync(node, argv, {
    encoding: 'utf8',
    env: {},
  });
  return status === 0 ? JSON.parse(stdout) : { status, stderr };
}

/** The program of a newer Node; undefined where the registry has none for this machine. */
function newer(major: string, version: string): string | undefined {
  const folder = join(root, 'node_modules', '.cache', `node-${major}`);
  const name = `node-${platform}-${arch}`;
  const program = join(folder, 'node_modules', name, 'bin', 'node');
  if (!existsSync(program)) {
    mkdirSync(folder, { recursive: true });
    const argv = ['install', '--ignore-scripts', '--no-save', '--no-audit', '--no-fund', '--prefix', folder];
    spawnSync('npm', [...argv, `${name}@${version}`], { encoding: 'utf8' });
  }
  return existsSync(program) ? program : undefined;
}

t.test('the running Node re-derives every record of the golden release', async (t) => {
  const source = inMemory(readFiles(GOLDEN));
  const verified = await verify(source);
  t.match(verified, { result: 'ok', trust: 'self-attested', faults: [], leaves: 8 });
  t.ok(verified.records > 30);
  t.ok(verified.scrubbed.of > 0);
  t.match(await verify(await openFolder(GOLDEN)), { ...verified }, 'from the folder as from memory');
  const said = verifiedBy(execPath);
  t.match(said, { result: 'ok', release: verified.release }, JSON.stringify(said).slice(0, 400));
});

t.test('newer Nodes give the same answer', async (t) => {
  const { release } = await verify(inMemory(readFiles(GOLDEN)));
  for (const [major, version] of Object.entries(NODES)) {
    const node = newer(major, version);
    if (node === undefined) {
      t.comment(`the registry gave no Node ${version} for ${platform} ${arch}`);
      continue;
    }
    const said = verifiedBy(node);
    t.match(said, { node: version, result: 'ok', release, faults: [] }, JSON.stringify(said).slice(0, 400));
  }
});

/** Every file that a compiled module loads, with the built-in modules that each names. */
function loaded(entry: string, seen = new Map<string, string[]>()): ReadonlyMap<string, string[]> {
  if (seen.has(entry)) return seen;
  const names = [...readFileSync(entry, 'utf8').matchAll(/(?:from|import)\s*\(?\s*["']([^"']+)["']/g)].map(
    ([, name]) => name as string,
  );
  seen.set(
    entry,
    names.filter((name) => name.startsWith('node:')),
  );
  for (const name of names) if (name.startsWith('.')) loaded(join(dirname(entry), name), seen);
  return seen;
}

t.test('the verifier loads nothing that could open a socket or write a file', (t) => {
  const rule = loaded(join(dist, 'rules/verify/verify.js'));
  t.ok(rule.size > 50, 'the rules are reached');
  t.same([...new Set([...rule.values()].flat())], ['node:crypto'], 'the rule itself knows only digests');
  const folder = loaded(join(dist, 'daemon/release/folder.js'));
  const places = ['node:crypto', 'node:fs', 'node:fs/promises', 'node:path'];
  t.same([...new Set([...folder.values()].flat())].sort(), places);
  const text = readFileSync(join(dist, 'daemon/release/folder.js'), 'utf8');
  t.notMatch(text, /writeFile|createWriteStream|mkdir|rename|unlink|\brm\b|connect/);
  t.end();
});
