/** Repositories on disk from objects given as data, and what an import made of them, for the tests of store/git. */
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { deflateSync } from 'node:zlib';
import { sha256Hex } from '../../../store/format/crypto.ts';
import { gitMode } from '../../../store/format/git-object.ts';
import { nameBytes, type TreePath, walkTree } from '../../../store/format/tree.ts';
import { type Imported, importCommit } from '../../../store/git/import.ts';
import { openGit } from '../../../store/git/open.ts';
import { type Blocks, openBlocks } from '../../rules/kit.ts';

export const BACKENDS = ['git', 'isomorphic'] as const;
export type Backend = (typeof BACKENDS)[number];

export interface RawObject {
  readonly oid: string;
  readonly type: string;
  readonly base64: string;
}

/** One case of test/vectors/cases/git.json: objects made by Git, and its own listing of them. */
export interface Case {
  readonly expect: Readonly<Record<string, unknown>>;
  readonly asks: Readonly<Record<string, { readonly rev: string; readonly name_hex?: string }>>;
  readonly refs: Readonly<Record<string, string>>;
  readonly config: string;
  readonly oracle?: readonly string[];
  readonly objects: readonly RawObject[];
}

// This module runs as dist/test/store/git/kit.js.
const vectors = fileURLToPath(new URL('../../../../test/vectors/cases/git.json', import.meta.url));
export const CASES = JSON.parse(readFileSync(vectors, 'utf8')) as Readonly<Record<string, Case>>;

/** A repository of loose objects. */
export function looseRepository(
  folder: string,
  { objects, refs, config }: Omit<Case, 'expect' | 'asks'>,
): string {
  const put = (path: string, content: string | Uint8Array) => {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), content);
  };
  put('.git/HEAD', 'ref: refs/heads/main\n');
  put('.git/config', config);
  for (const [name, oid] of Object.entries(refs)) put(`.git/${name}`, `${oid}\n`);
  for (const { oid, type, base64 } of objects) {
    const content = Buffer.from(base64, 'base64');
    const whole = Buffer.concat([Buffer.from(`${type} ${content.length}\0`), content]);
    put(`.git/objects/${oid.slice(0, 2)}/${oid.slice(2)}`, deflateSync(whole));
  }
  return folder;
}

export interface Taken extends Imported {
  readonly blocks: Blocks;
}

/** Imports through one back end into blocks in memory. */
export async function take(repository: string, commit: string, backend: Backend): Promise<Taken> {
  const blocks = openBlocks();
  const reader = await openGit(repository, { backend });
  try {
    return { ...(await importCommit(reader, commit, blocks.emit)), blocks };
  } finally {
    await reader.close();
  }
}

const joined = (path: TreePath): Buffer =>
  Buffer.concat(
    path.flatMap((name, i) => (i === 0 ? [nameBytes(name)] : [Buffer.from('/'), nameBytes(name)])),
  );

/** Our tree in the words of the oracle: mode, SHA-256 of the bytes or `-`, size, path in hex; sorted by path. */
export async function listing({ blocks, tree }: Taken): Promise<string[]> {
  const lines: { readonly path: Buffer; readonly text: string }[] = [];
  for await (const { path, entry } of walkTree(blocks.reader, tree)) {
    if (entry.type === 'dir') continue;
    const mode = gitMode(entry.type, entry.mode);
    const held = entry.type === 'file' || entry.type === 'link';
    const bytes = held ? await blocks.reader.get(entry.cid['/']) : undefined;
    const what = bytes === undefined ? '- 0' : `${sha256Hex(bytes)} ${bytes.length}`;
    lines.push({ path: joined(path), text: `${mode} ${what} ${joined(path).toString('hex')}` });
  }
  return lines.sort((a, b) => Buffer.compare(a.path, b.path)).map((line) => line.text);
}

/** The oracle's lines in path order. */
export const byPath = (lines: readonly string[]): string[] => {
  const path = (line: string) => Buffer.from(line.split(' ')[3] as string, 'hex');
  return [...lines].sort((a, b) => Buffer.compare(path(a), path(b)));
};

/** Writes a loose object exactly as given, unchecked; gives its id. Made without the code under test. */
export function writeLoose(folder: string, type: string, content: Uint8Array): string {
  const whole = Buffer.concat([Buffer.from(`${type} ${content.length}\0`), content]);
  const oid = createHash('sha1').update(whole).digest('hex');
  const path = join(folder, '.git/objects', oid.slice(0, 2));
  mkdirSync(path, { recursive: true });
  if (!existsSync(join(path, oid.slice(2)))) writeFileSync(join(path, oid.slice(2)), deflateSync(whole));
  return oid;
}

/** A line of a raw tree: mode digits, id, name in latin1. */
export type Line = readonly [mode: string, oid: string, name: string];

/** A raw tree exactly as given. */
export function rawTree(folder: string, lines: readonly Line[]): string {
  const parts = lines.map(([mode, oid, name]) =>
    Buffer.concat([Buffer.from(`${mode} ${name}\0`, 'latin1'), Buffer.from(oid, 'hex')]),
  );
  return writeLoose(folder, 'tree', Buffer.concat(parts));
}

/** A commit on this tree. */
export function rawCommit(folder: string, tree: string): string {
  const who = 'a <a@example.invalid> 1700000000 +0000';
  return writeLoose(folder, 'commit', Buffer.from(`tree ${tree}\nauthor ${who}\ncommitter ${who}\n\nraw\n`));
}

/** Runs the program git with fixed dates and no configuration of this machine. Text out, trimmed. */
export function git(folder: string, args: readonly string[], input: string | Uint8Array = ''): string {
  const who = { NAME: 'a', EMAIL: 'a@example.invalid', DATE: '1700000000 +0000' };
  const env: Record<string, string> = {
    PATH: process.env.PATH ?? '',
    LC_ALL: 'C',
    GIT_CONFIG_GLOBAL: '/dev/null',
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_CONFIG_COUNT: '1',
    GIT_CONFIG_KEY_0: 'protocol.file.allow',
    GIT_CONFIG_VALUE_0: 'always',
  };
  for (const [key, value] of Object.entries(who)) {
    env[`GIT_AUTHOR_${key}`] = value;
    env[`GIT_COMMITTER_${key}`] = value;
  }
  return execFileSync('git', args, { cwd: folder, env, input, stdio: ['pipe', 'pipe', 'pipe'] })
    .toString()
    .trim();
}
