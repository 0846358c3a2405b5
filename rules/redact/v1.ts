/**
 * redact v1: takes what agents read unasked out of a source tree, for every arm alike.
 * Promises: matching on entries, before any link is resolved; every removed entry stands in the record with its Git
 * id, so that the commit's tree id can be had back; what comes close, dangles, or was named by a removed
 * configuration is reported.
 * Does not promise: that a kept file holds no memory; certification reads content.
 */
import {
  type Cid,
  cidFromDigest,
  digestOf,
  digestOfEvidence,
  evidence,
  link,
} from '../../store/format/cid.ts';
import { isFault } from '../../store/format/errors.ts';
import { type GitAlgorithm, gitMode } from '../../store/format/git-object.ts';
import { gitBlobOid } from '../../store/format/git-tree.ts';
import type { Emit, Reader } from '../../store/format/reader.ts';
import { type Entry, parseTree, type TreePath, treeBlock } from '../../store/format/tree.ts';
import type { Full } from '../contracts/kit.ts';
import type { Redaction, RemovedEntry } from '../contracts/redaction.ts';
import type { Source } from '../contracts/source.ts';
import { type Binding, defineRule, type Input, one, raw } from '../rule.ts';
import { pathKey, reachesGone } from './dangling.ts';
import { type Matcher, matcher, parseRedactionPolicy } from './match.ts';
import { CONFIG_LIMIT, namesIn, readingOf } from './named.ts';
import { REDACTION_POLICY } from './patterns-v1.ts';

type Body = Omit<Full<Redaction>, 'kind' | 'v' | 'derivation'>;

export const redactV1 = defineRule({
  name: 'redact',
  v: 1,
  scope: 'subject',
  gives: 'redaction',
  needs: { source: one('source'), policy: raw },
  on: ['source'],
  async bind(subject): Promise<readonly Binding[]> {
    if (subject.value.kind !== 'source') return [];
    return [{ inputs: { source: subject.cid, policy: REDACTION_POLICY.cid } }];
  },
  apply: (inputs, io) => redaction(inputs, io),
  async recheck(recorded, inputs, io) {
    const { source, policy } = inputs;
    const root = cidFromDigest('dag-json', digestOfEvidence(source.value.tree));
    if (await io.reader.has(root)) {
      try {
        return { body: await redaction(inputs, io), withheld: 0 };
      } catch (error) {
        if (!isFault(error, 'E_NOT_FOUND')) throw error;
      }
    }
    const patterns = matcher(parseRedactionPolicy(policy.value));
    const again = await hadBack(recorded, patterns, source.value.algorithm, io);
    const head = { source: link(source.cid), policy: link(policy.cid) };
    return { body: { ...head, ...again.body }, withheld: again.withheld + 1 };
  },
});

interface Given {
  readonly source: Input<Source>;
  readonly policy: Input<Uint8Array>;
}

async function redaction({ source, policy }: Given, io: Io): Promise<Body> {
  const root = cidFromDigest('dag-json', digestOfEvidence(source.value.tree));
  const patterns = matcher(parseRedactionPolicy(policy.value));
  const clean = await redactTree(root, patterns, source.value.algorithm, io);
  const names = await named(clean.removed, io.reader);
  return { source: link(source.cid), policy: link(policy.cid), ...clean, named: names };
}

interface Io {
  readonly reader: Reader;
  readonly emit: Emit;
}

export type CleanTree = Pick<Body, 'tree' | 'removed' | 'nearMisses' | 'danglingLinks'>;

interface Pass {
  readonly io: Io;
  readonly patterns: Matcher;
  readonly algorithm: GitAlgorithm;
  readonly removed: RemovedEntry[];
  readonly nearMisses: Body['nearMisses'];
  /** Kept links: path and target bytes. */
  readonly links: { readonly path: TreePath; readonly target: Uint8Array }[];
  /** Directories that vanished because all below them was removed. */
  readonly vanished: TreePath[];
}

/**
 * The tree below `root` without what matches. Emits every node of it. Throws E_GIT for an entry to be removed that no
 * Git tree can hold, and what the reader throws. O(entries + bytes removed).
 */
export async function redactTree(
  root: Cid,
  patterns: Matcher,
  algorithm: GitAlgorithm,
  io: Io,
): Promise<CleanTree> {
  const pass: Pass = { io, patterns, algorithm, removed: [], nearMisses: [], links: [], vanished: [] };
  const tree = (await cleanDirectory(pass, root, [])) ?? (await emitNode(io, []));
  return reported(tree, pass);
}

/** The cleaned directory's cid; undefined where everything in it was removed, as Git knows no empty directory. */
async function cleanDirectory(pass: Pass, cid: Cid, at: TreePath): Promise<Cid | undefined> {
  const before = parseTree(await pass.io.reader.get(cid)).entries;
  const kept: Entry[] = [];
  for (const entry of before) {
    const cleaned = await cleanEntry(pass, entry, [...at, entry.name]);
    if (cleaned !== undefined) kept.push(cleaned);
  }
  if (kept.length === 0 && before.length > 0) return undefined;
  return emitNode(pass.io, kept);
}

async function cleanEntry(pass: Pass, entry: Entry, path: TreePath): Promise<Entry | undefined> {
  const pattern = entry.type === 'dir' ? undefined : pass.patterns.match(path);
  if (pattern !== undefined) {
    pass.removed.push(await removedEntry(pass, entry, path, pattern));
    return undefined;
  }
  const near = pass.patterns.near(path, entry.type === 'dir');
  if (near !== undefined) pass.nearMisses.push({ path: [...path], pattern: near });
  if (entry.type === 'link') pass.links.push({ path, target: await pass.io.reader.get(entry.cid['/']) });
  if (entry.type !== 'dir') return entry;
  const below = await cleanDirectory(pass, entry.cid['/'], path);
  if (below === undefined) pass.vanished.push(path);
  return below === undefined ? undefined : { ...entry, cid: link(below) };
}

async function removedEntry(
  pass: Pass,
  entry: Entry,
  path: TreePath,
  pattern: string,
): Promise<RemovedEntry> {
  const mode = gitMode(entry.type, entry.mode);
  const head = { path: [...path], mode: entry.mode, gitMode: mode, pattern };
  if (entry.type === 'submodule') return { ...head, type: entry.type, oid: entry.oid };
  const { cid, size, type } = entry as Extract<Entry, { type: 'file' | 'link' }>;
  const oid = await gitBlobOid(pass.io.reader, cid['/'], size, pass.algorithm);
  return { ...head, type, oid, size, bytes: evidence(digestOf(cid['/'])) };
}

async function emitNode(io: Io, entries: readonly Entry[]): Promise<Cid> {
  return io.emit(treeBlock(entries).bytes, 'dag-json');
}

/** The lists of the record, each in the order of its paths' bytes. */
function reported(tree: Cid, pass: Pass): CleanTree {
  const gone = new Set([...pass.removed.map((each) => each.path), ...pass.vanished].map(pathKey));
  const links = new Map(
    pass.links.map(({ path, target }) => [pathKey(path), Buffer.from(target).toString('latin1')]),
  );
  const dangling = pass.links.filter(({ path }) => reachesGone(pathKey(path), links, gone));
  return {
    tree: link(tree),
    removed: pass.removed.sort(byPath),
    nearMisses: pass.nearMisses.sort(byPath),
    danglingLinks: dangling
      .map(({ path, target }) => ({ path: [...path], target: printable(target) }))
      .sort(byPath),
  };
}

function byPath(a: { readonly path: TreePath }, b: { readonly path: TreePath }): number {
  const [left, right] = [pathKey(a.path), pathKey(b.path)];
  return left < right ? -1 : left > right ? 1 : 0;
}

/** A link target for people: text, or `%XX` of every byte where it is not UTF-8. */
function printable(target: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(target);
  } catch {
    return Array.from(target, (byte) => `%${byte.toString(16).padStart(2, '0')}`).join('');
  }
}

/** What the removed configurations name. One that cannot be read stands with no names, for a person to look at. */
async function named(removed: readonly RemovedEntry[], reader: Reader): Promise<Body['named']> {
  const list: Body['named'] = [];
  for (const entry of removed) {
    const names = await namesOf(entry, reader);
    if (names !== undefined) list.push({ config: entry.path, names: [...names] });
  }
  return list;
}

/** The names in one removed entry: undefined where it names none. Throws E_NOT_FOUND where its bytes are withheld. */
async function namesOf(entry: RemovedEntry, reader: Reader): Promise<readonly string[] | undefined> {
  const reading = entry.type === 'file' ? readingOf(entry.path) : undefined;
  if (reading === undefined || entry.bytes === undefined) return undefined;
  if ((entry.size ?? 0) > CONFIG_LIMIT) return [];
  const bytes = await reader.get(cidFromDigest('raw', digestOfEvidence(entry.bytes)));
  const names = namesIn(reading, bytes);
  return names?.length === 0 ? undefined : (names ?? []);
}

/**
 * The record's fields had back from the clean tree and the removed entries: a kept entry that matches is taken out
 * again, a removed one that does not match is left out, so that either differs from what was recorded. Ids, sizes
 * and names are taken from the record only where an entry's bytes are withheld; `corpus` recomputes the tree id.
 */
async function hadBack(recorded: Body, patterns: Matcher, algorithm: GitAlgorithm, io: Io) {
  const pass: Pass = { io, patterns, algorithm, removed: [], nearMisses: [], links: [], vanished: [] };
  const tree = (await cleanDirectory(pass, recorded.tree['/'], [])) ?? (await emitNode(io, []));
  const kept = await directoriesOf(recorded.tree['/'], io.reader);
  const named: Body['named'] = [];
  let withheld = 0;
  for (const entry of recorded.removed) {
    const again = await removedAgain(entry, pass);
    if (again.withheld) withheld++;
    if (again.entry === undefined) continue;
    pass.removed.push(again.entry);
    pass.vanished.push(...ancestors(entry.path).filter((path) => !kept.has(pathKey(path))));
    const names = again.withheld ? recordedNames(recorded, entry) : await namesOf(again.entry, io.reader);
    if (names !== undefined) named.push({ config: entry.path, names: [...names] });
  }
  return { body: { ...reported(tree, pass), named }, withheld };
}

async function removedAgain(
  entry: RemovedEntry,
  pass: Pass,
): Promise<{ entry: RemovedEntry | undefined; withheld: boolean }> {
  const pattern = pass.patterns.match(entry.path);
  const mode = gitMode(entry.type, entry.mode);
  const again = pattern === undefined ? undefined : { ...entry, gitMode: mode, pattern };
  if (again === undefined || entry.bytes === undefined) return { entry: again, withheld: false };
  const cid = cidFromDigest('raw', digestOfEvidence(entry.bytes));
  if (!(await pass.io.reader.has(cid))) return { entry: again, withheld: true };
  const oid = await gitBlobOid(pass.io.reader, cid, entry.size ?? 0, pass.algorithm);
  return { entry: { ...again, oid }, withheld: false };
}

function recordedNames(recorded: Body, entry: RemovedEntry): readonly string[] | undefined {
  if (entry.type !== 'file' || readingOf(entry.path) === undefined) return undefined;
  return recorded.named.find((each) => pathKey(each.config) === pathKey(entry.path))?.names;
}

const ancestors = (path: TreePath): TreePath[] => path.slice(1).map((_, i) => path.slice(0, i + 1));

async function directoriesOf(root: Cid, reader: Reader, at: TreePath = []): Promise<Set<string>> {
  const found = new Set<string>();
  for (const entry of parseTree(await reader.get(root)).entries) {
    if (entry.type !== 'dir') continue;
    const path = [...at, entry.name];
    found.add(pathKey(path));
    for (const key of await directoriesOf(entry.cid['/'], reader, path)) found.add(key);
  }
  return found;
}
