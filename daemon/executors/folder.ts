/**
 * The folder behind one sandbox of `none` or `bwrap`: workspace, home, temp and read-only copies on this host, with a
 * state file by which a later process finds what was started.
 * Promises: nothing outside the folder is written or removed, whatever links a program left in it.
 * Does not promise: that the program could not reach the folder's other parts; that is the executor's affair.
 */
import {
  chmodSync,
  cpSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmdirSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { ensureFolder } from '../../store/files.ts';
import { treeToFolder } from '../../store/folder.ts';
import { type Cid, link } from '../../store/format/cid.ts';
import { decode } from '../../store/format/codec.ts';
import { random } from '../../store/format/crypto.ts';
import { fail } from '../../store/format/errors.ts';
import type { Emit, Reader } from '../../store/format/reader.ts';
import { parseSnapshot, type Snapshot, snapshotBlock } from '../../store/format/tree.ts';
import type { HomeFile, Sandbox, SandboxSpec } from './executor.ts';
import { bootId, isAlive, kill, listProcesses, mounted, type ProcessId, startedIn } from './procs.ts';
import type { Seat } from './seat.ts';
import { usedFolder } from './used-folder.ts';

/** What a later process needs to know. Stands before anything is started. */
interface State {
  readonly owner: string;
  readonly token: string;
  readonly boot: string;
  readonly leaders: readonly ProcessId[];
}

export interface SandboxFolder {
  readonly path: string;
  readonly workspace: string;
  readonly home: string;
  readonly temp: string;
  readonly readOnly: Readonly<Partial<Record<'agent' | 'verifier', string>>>;
  /** Durable against our own death, not against the machine's: then nothing runs any more. */
  record(leader: ProcessId): void;
  emptyTemp(): void;
  snapshot(emit: Emit): Promise<{ snapshot: Cid }>;
  readHome(emit: Emit): Promise<Cid>;
  writeHome(files: readonly HomeFile[]): void;
  remove(): void;
}

const STATE = 'state.json';

/** Makes the folder below `root` and materialises what the sandbox starts from. Nothing is left where it throws. */
export async function createFolder(root: string, spec: SandboxSpec): Promise<SandboxFolder> {
  ensureFolder(root, 0o700);
  const path = join(root, Buffer.from(random(8)).toString('hex'));
  const folder = describeFolder(path, spec);
  try {
    mkdirSync(path, { mode: 0o700 });
    // An empty folder if we die here: `reap` removes it.
    folder.save([]);
    for (const part of [folder.home, folder.temp]) mkdirSync(part, { mode: 0o755 });
    await treeToFolder(spec.reader, spec.workspace, folder.workspace);
    for (const files of spec.readOnly ?? []) {
      const target = folder.readOnly[files.name] as string;
      mkdirSync(join(target, '..'), { recursive: true });
      if ('tree' in files) await treeToFolder(spec.reader, files.tree, target);
      else cpSync(files.folder, target, { recursive: true, verbatimSymlinks: true });
    }
  } catch (cause) {
    removeFolder(path);
    throw cause;
  }
  return folder;
}

function describeFolder(path: string, spec: SandboxSpec): SandboxFolder & { save(l: ProcessId[]): void } {
  const [workspace, home, temp] = [join(path, 'workspace'), join(path, 'home'), join(path, 'tmp')];
  const leaders: ProcessId[] = [];
  const save = (all: readonly ProcessId[]) =>
    writeState(path, { owner: spec.owner, token: spec.token, boot: bootId(), leaders: all });
  return {
    path,
    workspace,
    home,
    temp,
    readOnly: Object.fromEntries(
      (spec.readOnly ?? []).map(({ name }) => [name, join(path, 'opt', name)] as const),
    ),
    save,
    record(leader) {
      leaders.push(leader);
      save(leaders);
    },
    emptyTemp() {
      removeFolder(temp);
      mkdirSync(temp, { mode: 0o755 });
    },
    async snapshot(emit) {
      replaceByFolder(workspace);
      const mode = lstatSync(workspace).mode & 0o7777;
      const tree = link(await usedFolder(workspace, emit));
      return { snapshot: await emit(snapshotBlock({ mode, tree }).bytes, 'dag-json') };
    },
    readHome(emit) {
      replaceByFolder(home);
      return usedFolder(home, emit);
    },
    writeHome(files) {
      for (const file of files) writeBelow(home, file);
    },
    remove: () => removeFolder(path),
  };
}

/** A program without a mount boundary can remove or replace the folder itself: then there is nothing in it. */
function replaceByFolder(path: string): void {
  if (isFolder(path)) return;
  rmSync(path, { force: true });
  mkdirSync(path, { mode: 0o755 });
}

/** What a sandbox over a folder of this host does with its files: nothing runs while they are looked at. */
export function filesOf(
  folder: SandboxFolder,
  { stop }: Seat,
): Pick<Sandbox, 'snapshot' | 'home' | 'writeHome' | 'stop'> {
  return {
    stop,
    async snapshot(emit) {
      await stop();
      return folder.snapshot(emit);
    },
    async home(emit) {
      await stop();
      return folder.readHome(emit);
    },
    async writeHome(files) {
      await stop();
      folder.writeHome(files);
    },
  };
}

/** Root mode and tree of a snapshot; of a tree node, with the root's mode 0755. */
export async function readRoot(reader: Reader, cid: Cid): Promise<Snapshot> {
  const bytes = await reader.get(cid);
  const value = decode(bytes);
  const isTree = typeof value === 'object' && value !== null && 'entries' in value;
  return isTree ? { mode: 0o755, tree: link(cid) } : parseSnapshot(bytes);
}

/** Writes one file; what stands in the way (a link, a file for a folder, a folder for a file) is removed. */
function writeBelow(root: string, { path, bytes, mode }: HomeFile): void {
  const names = homePath(path);
  replaceByFolder(root);
  let at = root;
  for (const name of names.slice(0, -1)) {
    at = join(at, name);
    replaceByFolder(at);
  }
  const target = join(at, names.at(-1) as string);
  removeFolder(target);
  writeFileSync(target, bytes, { flag: 'wx' });
  chmodSync(target, mode ?? 0o644);
}

/** The names of a portable relative path. Throws E_PATH. */
export function homePath(path: string): string[] {
  const names = path.split('/');
  if (names.some((name) => name === '' || name === '.' || name === '..' || name.includes('\0'))) {
    fail('E_PATH', { where: 'agent home', wanted: 'a relative path without . and ..', found: path });
  }
  return names;
}

function writeState(path: string, state: State): void {
  const next = join(path, `${STATE}.next`);
  writeFileSync(next, JSON.stringify(state), { mode: 0o600 });
  // The old state if we die here: it lacks a leader whose gate has not opened and never will.
  renameSync(next, join(path, STATE));
}

/**
 * Ends and removes every sandbox of this owner below `root`; answers their tokens, sorted. Only processes that were
 * recorded, that carry the sandbox's folder in their environment or have it mounted, are killed; after it none lives.
 */
export function reapFolders(root: string, owner: string): string[] {
  const tokens: string[] = [];
  for (const name of listNames(root)) {
    const path = join(root, name);
    const state = readState(path);
    if (state === undefined) removeIfEmpty(path);
    if (state?.owner !== owner) continue;
    const leaders = state.boot === bootId() ? state.leaders.filter(isAlive) : [];
    for (const leader of leaders) kill(-leader.pid);
    for (let left = users(path); left.length > 0; left = users(path)) left.forEach(kill);
    removeFolder(path);
    tokens.push(state.token);
  }
  return tokens.sort();
}

/** Who still lives in a sandbox: one whose leader was killed ends a moment after it. */
const users = (path: string): number[] =>
  listProcesses().flatMap(({ pid }) =>
    pid !== process.pid && (startedIn(pid, path) || mounted(pid, path)) ? [pid] : [],
  );

function readState(path: string): State | undefined {
  try {
    return JSON.parse(readFileSync(join(path, STATE), 'utf8')) as State;
  } catch {
    return undefined;
  }
}

function removeIfEmpty(path: string): void {
  try {
    rmdirSync(path);
  } catch {
    // Not empty, so not one that died between folder and state file: it is not ours.
  }
}

function listNames(root: string): string[] {
  try {
    return readdirSync(root);
  } catch {
    return [];
  }
}

/** Removes whatever stands there, links themselves and not what they point to, folders without permissions too. */
function removeFolder(path: string): void {
  try {
    rmSync(path, { recursive: true, force: true, maxRetries: 3 });
  } catch {
    openUp(Buffer.from(path));
    rmSync(path, { recursive: true, force: true, maxRetries: 3 });
  }
}

function openUp(path: Buffer): void {
  if (!lstatSync(path).isDirectory()) return;
  chmodSync(path, 0o700);
  for (const name of readdirSync(path, { encoding: 'buffer' }))
    openUp(Buffer.concat([path, Buffer.from('/'), name]));
}

function isFolder(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
}
