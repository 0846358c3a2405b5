/**
 * Builds a Git repository from plain data: a base folder and dated steps laid over it.
 * Promises: the same data gives the same commit ids on every machine: author, dates, modes and names come from the
 * data alone, never from the clock, the user, the umask or Git's configuration. No Git program is needed.
 * Does not promise: merges, tags, submodules or signatures: a straight line of commits on `main`.
 */
import {
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { deflateSync } from 'node:zlib';
import { ioFault } from '../files.ts';
import { fail } from '../format/errors.ts';
import { encodeGitTree, type GitType, gitMode, gitObjectId } from '../format/git-object.ts';
import { parsePortable } from '../format/path.ts';
import { unsafeName } from './names.ts';
import { parsePlan, type RepositoryPlan, type RepositoryStep } from './plan.ts';

export interface BuiltStep {
  readonly step: string;
  readonly commit: string;
  readonly tree: string;
}

interface Blob {
  readonly type: 'file' | 'link';
  readonly mode: number;
  readonly oid: string;
}

/** path -> blob, of one step. */
type Files = Map<string, Blob>;

/**
 * Reads `<source>/repository.json` and the folders it names, writes a bare repository at `target`.
 * Throws E_JSON and E_CONFIG for the data, E_STORE_EXISTS where `target` stands already, E_IO.
 */
export function buildRepository(source: string, target: string): readonly BuiltStep[] {
  if (lstatSync(target, { throwIfNoEntry: false }) !== undefined) fail('E_STORE_EXISTS', { where: target });
  try {
    const plan = parsePlan(readFileSync(join(source, 'repository.json')));
    mkdirSync(target);
    return writeRepository(source, target, plan);
  } catch (cause) {
    // Dying before this leaves a folder without HEAD, which nobody takes for a repository.
    rmSync(target, { recursive: true, force: true });
    return ioFault(cause, source);
  }
}

function writeRepository(source: string, target: string, plan: RepositoryPlan): BuiltStep[] {
  const files: Files = new Map();
  const built: BuiltStep[] = [];
  for (const folder of ['objects/info', 'objects/pack', 'refs/heads', 'refs/tags'])
    mkdirSync(join(target, folder), { recursive: true });
  for (const step of plan.steps) {
    layOver(files, step, source, target, plan);
    const tree = writeTree(target, files);
    const commit = writeObject(
      target,
      'commit',
      commitBytes(plan, step, tree, built[built.length - 1]?.commit),
    );
    built.push({ step: step.id, commit, tree });
  }
  writeFileSync(
    join(target, 'config'),
    '[core]\n\trepositoryformatversion = 0\n\tfilemode = true\n\tbare = true\n',
  );
  writeFileSync(join(target, 'refs/heads/main'), `${built[built.length - 1]?.commit}\n`);
  writeFileSync(join(target, 'HEAD'), 'ref: refs/heads/main\n');
  return built;
}

/** Deletes, then lays the step's folder over what is there, then sets the executable bits. */
function layOver(
  files: Files,
  step: RepositoryStep,
  source: string,
  target: string,
  plan: RepositoryPlan,
): void {
  for (const path of step.delete) {
    const gone = [...files.keys()].filter((each) => each === path || each.startsWith(`${path}/`));
    if (gone.length === 0) badStep(step, 'a path to delete that is there', path);
    for (const each of gone) files.delete(each);
  }
  const here = new Set<string>();
  for (const stored of listed(join(source, step.folder))) {
    const path = plan.realPath(stored);
    if (here.has(path)) badStep(step, 'one stored file for each path', path);
    here.add(path);
    files.set(path, writeBlob(target, join(source, step.folder, stored), files.get(path)?.mode ?? 0o644));
  }
  for (const path of step.executable) {
    const blob = files.get(path);
    if (blob?.type !== 'file') badStep(step, 'a file to make executable', path);
    else files.set(path, { ...blob, mode: 0o755 });
  }
}

function badStep(step: RepositoryStep, wanted: string, found: string): never {
  return fail('E_CONFIG', { where: `repository.json, step ${step.id}`, wanted, found });
}

/** Portable paths of the files and links below a folder, in order of code units. */
function listed(folder: string, at = ''): string[] {
  const found: string[] = [];
  for (const name of readdirSync(join(folder, at)).sort()) {
    const path = at === '' ? name : `${at}/${name}`;
    const stat = lstatSync(join(folder, path));
    if (stat.isDirectory()) found.push(...listed(folder, path));
    else if (stat.isFile() || stat.isSymbolicLink()) found.push(parsePortable(path));
    else fail('E_CONFIG', { where: path, wanted: 'files, links and folders', found: 'a special file' });
  }
  return found;
}

function writeBlob(target: string, path: string, mode: number): Blob {
  if (lstatSync(path).isSymbolicLink())
    return {
      type: 'link',
      mode: 0,
      oid: writeObject(target, 'blob', readlinkSync(path, { encoding: 'buffer' })),
    };
  return {
    type: 'file',
    mode: mode === 0 ? 0o644 : mode,
    oid: writeObject(target, 'blob', readFileSync(path)),
  };
}

/** One level of a tree: names to blobs and to levels below. */
interface Level extends Map<string, Blob | Level> {}

function writeTree(target: string, files: Files): string {
  const root: Level = new Map();
  for (const [path, blob] of files) {
    const names = path.split('/');
    const last = names.pop() as string;
    let level = root;
    for (const name of names) {
      const next = level.get(name) ?? new Map();
      if (!(next instanceof Map)) return clash(path);
      level.set(name, next);
      level = next;
    }
    if (level.has(last)) return clash(path);
    level.set(last, blob);
  }
  return writeLevel(target, root);
}

function clash(path: string): never {
  return fail('E_CONFIG', { where: path, wanted: 'a file or a folder', found: 'both' });
}

function writeLevel(target: string, level: Level): string {
  const lines = [...level].map(([text, below]) => {
    const name = Buffer.from(text);
    const unsafe = unsafeName(name);
    if (unsafe !== undefined) fail('E_PATH', { where: text, wanted: 'a name Git takes', found: unsafe });
    if (below instanceof Map) return { mode: gitMode('dir', 0o755), name, oid: writeLevel(target, below) };
    return { mode: gitMode(below.type, below.mode), name, oid: below.oid };
  });
  return writeObject(target, 'tree', encodeGitTree(lines));
}

function commitBytes(
  plan: RepositoryPlan,
  step: RepositoryStep,
  tree: string,
  parent: string | undefined,
): Uint8Array {
  const who = `${plan.author.name} <${plan.author.email}> ${step.seconds} +0000`;
  const lines = [`tree ${tree}`, ...(parent === undefined ? [] : [`parent ${parent}`])];
  lines.push(`author ${who}`, `committer ${who}`, '', step.message.replace(/\n*$/, '\n'));
  return Buffer.from(lines.join('\n'), 'utf8');
}

/** A loose object (gitformat-loose): the id is over the content, so the compressor's version does not matter. */
function writeObject(target: string, type: GitType, content: Uint8Array): string {
  const oid = gitObjectId('sha1', type, content);
  const folder = join(target, 'objects', oid.slice(0, 2));
  const path = join(folder, oid.slice(2));
  if (lstatSync(path, { throwIfNoEntry: false }) !== undefined) return oid;
  mkdirSync(folder, { recursive: true });
  const header = Buffer.from(`${type} ${content.length}\0`, 'latin1');
  writeFileSync(path, deflateSync(Buffer.concat([header, content])), { flag: 'wx', mode: 0o444 });
  return oid;
}
