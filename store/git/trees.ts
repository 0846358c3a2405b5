/**
 * All distinct trees below one, read and checked before anything is written.
 * Promises: every name is one a folder can hold and none is `.git` in any spelling; no name stands twice in a tree.
 * Does not promise: that the blobs are there.
 */
import { fail, isFault } from '../format/errors.ts';
import { type GitEntry, type GitKind, gitKind, isPlainTree, parseGitTree } from '../format/git-object.ts';
import { type Name, nameFromBytes, printPath, type TreePath } from '../format/tree.ts';
import { unsafeName } from './names.ts';
import { type GitObject, type GitReader, type Visit, whole } from './reader.ts';

export interface TreeLine extends GitKind {
  readonly name: Name;
  readonly oid: string;
}

/** Where an object was first seen: a tree, and a name in it. */
interface Seen {
  readonly parent?: string;
  readonly name: Name;
}

export interface Trees {
  /** The lines of a tree, in the order they stand in. */
  linesOf(oid: string): readonly TreeLine[];
  /** The raw bytes of a tree that is odd: whose re-encoding from its lines differs. Undefined for all others. */
  oddRaw(oid: string): Uint8Array | undefined;
  /** Ids of the files and links, each once, in the order first seen. */
  readonly blobs: readonly string[];
  /** The path at which an object was first seen. */
  pathOf(oid: string): TreePath;
}

/** Deepest nesting of directories. */
export const MAX_LEVELS = 1000;

interface Tree {
  readonly raw: Uint8Array | undefined;
  readonly lines: readonly TreeLine[];
}

/** Reads level by level, each distinct tree once. Throws E_GIT, E_PATH, E_DIGEST, E_TOO_LARGE. */
export async function readTrees(reader: GitReader, root: string): Promise<Trees> {
  const trees = new Map<string, Tree>();
  const blobs: string[] = [];
  const seen = new Map<string, Seen>([[root, { name: '' }]]);
  const pathOf = (oid: string): TreePath => {
    const path: Name[] = [];
    for (let at = seen.get(oid); at?.parent !== undefined; at = seen.get(at.parent)) path.unshift(at.name);
    return path;
  };
  const note = (parent: string, line: TreeLine): boolean => {
    if (line.type === 'submodule' || seen.has(line.oid)) return false;
    seen.set(line.oid, { parent, name: line.name });
    if (line.type !== 'dir') blobs.push(line.oid);
    return line.type === 'dir';
  };
  let level = [root];
  for (let depth = 0; level.length > 0; depth++) {
    if (depth > MAX_LEVELS) tooDeep();
    level = await readLevel(reader, level, trees, note, pathOf);
  }
  const treeOf = (oid: string): Tree =>
    trees.get(oid) ?? fail('E_INTERNAL', { where: oid, wanted: 'a tree read' });
  return { linesOf: (oid) => treeOf(oid).lines, oddRaw: (oid) => treeOf(oid).raw, blobs, pathOf };
}

export function tooDeep(): never {
  return fail('E_TOO_LARGE', { wanted: `at most ${MAX_LEVELS} levels of directories`, found: 'more' });
}

/** Reads the trees of one level; gives the new ones below. */
async function readLevel(
  reader: GitReader,
  level: readonly string[],
  trees: Map<string, Tree>,
  note: (parent: string, line: TreeLine) => boolean,
  pathOf: (oid: string) => TreePath,
): Promise<string[]> {
  const below: string[] = [];
  await located(reader, level, pathOf, async (object) => {
    try {
      if (object.type !== 'tree') fail('E_GIT', { where: object.oid, wanted: 'a tree', found: object.type });
      const raw = Uint8Array.from(await whole(object.body));
      const entries = parseGitTree(raw, reader.algorithm);
      const lines = checkedLines(entries);
      trees.set(object.oid, { raw: isPlainTree(entries) ? undefined : raw, lines });
      for (const line of lines) if (note(object.oid, line)) below.push(line.oid);
    } catch (cause) {
      atPath(cause, pathOf(object.oid));
    }
  });
  return below;
}

/** Visits the objects of these ids; a fault of the repository names the path that asked for the object. */
export async function located(
  reader: GitReader,
  oids: readonly string[],
  pathOf: (oid: string) => TreePath,
  visit: Visit,
): Promise<void> {
  let next = 0;
  let visiting = false;
  try {
    await reader.objects(oids, (object) => {
      visiting = true;
      next += 1;
      const visited = visit(labelled(object, () => pathOf(object.oid)));
      if (visited === undefined) visiting = false;
      return visited?.then(() => {
        visiting = false;
      });
    });
  } catch (cause) {
    if (visiting) throw cause;
    atPath(cause, pathOf(oids[next] ?? ''));
  }
}

/** A fault in the middle of a streamed body names the path too. */
function labelled(object: GitObject, path: () => TreePath): GitObject {
  const { body } = object;
  return body instanceof Uint8Array ? object : { ...object, body: labelledBody(body, path) };
}

async function* labelledBody(
  body: AsyncIterable<Uint8Array>,
  path: () => TreePath,
): AsyncGenerator<Uint8Array, void, void> {
  try {
    yield* body;
  } catch (cause) {
    atPath(cause, path());
  }
}

/** Throws a fault again with the path in front of what it names; anything else as it is. */
export function atPath(cause: unknown, path: TreePath): never {
  if (!isFault(cause) || path.length === 0) throw cause;
  const { where } = cause.data;
  return fail(cause.code, {
    ...cause.data,
    where: printPath(path) + (where === undefined ? '' : ` (${where})`),
  });
}

function checkedLines(entries: readonly GitEntry[]): TreeLine[] {
  const names = new Set<string>();
  return entries.map(({ mode: digits, name: bytes, oid }) => {
    const unsafe = unsafeName(bytes);
    if (unsafe !== undefined)
      fail('E_PATH', { where: inHex(bytes), wanted: 'a name that is safe to write', found: unsafe });
    const key = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('latin1');
    if (names.has(key)) fail('E_GIT', { where: inHex(bytes), wanted: 'each name once', found: 'a second' });
    names.add(key);
    const { type, mode } = gitKind(digits);
    return { type, mode, name: nameFromBytes(bytes), oid };
  });
}

const inHex = (name: Uint8Array): string => `entry 0x${Buffer.from(name).toString('hex')}`;
