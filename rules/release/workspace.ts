/**
 * What an agent or a prebuild left in a workspace and hygiene holds back: the file's bytes stay home, its tree node is
 * published, so that every audit can be repeated.
 * Promises: only files that no corpus holds and that nothing else publishes; each named by receipt and path.
 * Does not promise: to look at corpora; certification did.
 */
import { type Cid, codecOf, digestOf, evidence, link } from '../../store/format/cid.ts';
import { closure } from '../../store/format/closure.ts';
import type { Value } from '../../store/format/codec.ts';
import { isFault } from '../../store/format/errors.ts';
import type { Reader } from '../../store/format/reader.ts';
import { parseSnapshot, type TreePath, walkTree } from '../../store/format/tree.ts';
import { kindIn } from '../blocks.ts';
import type { Full } from '../contracts/kit.ts';
import type { Receipt } from '../contracts/receipt.ts';
import type { Release } from '../contracts/release.ts';
import { findingsIn } from '../hygiene/find.ts';
import { full, readAs } from '../rule.ts';
import { blockOf } from '../scrub/published.ts';

export type Withheld = Full<Release>['withheld'][number];

export interface Workspaces {
  readonly withheld: readonly Withheld[];
  /** Of those, how many were taken from the record because their bytes are not here. */
  readonly unseen: number;
}

interface Candidate {
  readonly entry: Withheld;
  readonly cid: Cid;
}

interface Work {
  readonly reader: Reader;
  /** What a manifest says of files whose bytes are not here. */
  readonly said: ReadonlySet<Cid>;
  /** Files below a tree, read once. */
  readonly files: Map<Cid, readonly File[]>;
  readonly verdicts: Map<Cid, Verdict>;
  /** What receipts link: snapshots and prebuild trees. */
  readonly trees: Set<Cid>;
}

type Verdict = 'held' | 'unseen' | 'fine';

interface File {
  readonly path: TreePath;
  readonly cid: Cid;
}

/**
 * The workspace files of these receipts that are held back. `recorded` is what a manifest says of files whose bytes are
 * not here. O(bytes of the files that no corpus holds). Throws E_NOT_FOUND for one that is neither here nor recorded.
 */
export async function heldInWorkspaces(
  receipts: readonly Cid[],
  roots: readonly Cid[],
  recorded: readonly Withheld[],
  reader: Reader,
): Promise<Workspaces> {
  const said = new Set(recorded.map(({ bytes }) => blockOf(bytes)));
  const work: Work = { reader, said, files: new Map(), verdicts: new Map(), trees: new Set() };
  const candidates: Candidate[] = [];
  for (const cid of [...receipts].sort()) candidates.push(...(await candidatesOf(cid, work)));
  if (candidates.length === 0) return { withheld: [], unseen: 0 };
  for (const cid of await elsewhere(roots, work)) work.verdicts.set(cid, 'fine');
  const held = candidates.filter(({ cid }) => work.verdicts.get(cid) !== 'fine');
  const unseen = held.filter(({ cid }) => work.verdicts.get(cid) === 'unseen');
  return {
    withheld: held.map(({ entry }) => entry),
    unseen: new Set(unseen.map(({ cid }) => cid)).size,
  };
}

/** The files of one run that may be held back, each path and content once. */
async function candidatesOf(receiptCid: Cid, work: Work): Promise<Candidate[]> {
  const receipt = await readAs('receipt', receiptCid, work.reader);
  const known = new Set((await corpusFiles(receipt, work)).map(({ cid }) => cid));
  const found = new Map<string, Candidate>();
  for (const { root, node } of await treesOf(receipt, work.reader)) {
    work.trees.add(root);
    for (const { path, cid } of await filesOf(node, work)) {
      if (known.has(cid) || (await verdictOn(cid, work)) === 'fine') continue;
      const entry = { receipt: link(receiptCid), path: [...path], bytes: evidence(digestOf(cid)) };
      found.set(JSON.stringify([path, cid]), { entry, cid });
    }
  }
  return [...found.values()];
}

async function verdictOn(cid: Cid, work: Work): Promise<Verdict> {
  const before = work.verdicts.get(cid);
  if (before !== undefined) return before;
  const verdict = await judged(cid, work);
  work.verdicts.set(cid, verdict);
  return verdict;
}

async function judged(cid: Cid, { said, reader }: Work): Promise<Verdict> {
  if (said.has(cid) && !(await reader.has(cid))) return 'unseen';
  return findingsIn(await reader.get(cid)).length > 0 ? 'held' : 'fine';
}

async function corpusFiles(receipt: Receipt, work: Work): Promise<readonly File[]> {
  const { reader } = work;
  const start = await readAs('start', receipt.start['/'], reader);
  const plan = full({ cid: start.plan['/'], value: await readAs('plan', start.plan['/'], reader) });
  const corpus = plan.shared.corpus['/'];
  const { tree } = full({ cid: corpus, value: await readAs('corpus', corpus, reader) });
  return filesOf(tree['/'], work);
}

/** The trees of a run: `root` is what its receipt links, `node` the tree below it. */
async function treesOf(
  { prebuild, before, after }: Receipt,
  reader: Reader,
): Promise<{ root: Cid; node: Cid }[]> {
  const found: { root: Cid; node: Cid }[] = [];
  for (const linked of [prebuild, before, after]) {
    if (linked === undefined) continue;
    const root = linked['/'];
    found.push({ root, node: (await treeOfSnapshot(root, reader)) ?? root });
  }
  return found;
}

/** Undefined for what is no snapshot: a prebuild is a tree. */
async function treeOfSnapshot(cid: Cid, reader: Reader): Promise<Cid | undefined> {
  const bytes = await reader.get(cid);
  try {
    return parseSnapshot(bytes).tree['/'];
  } catch (error) {
    if (isFault(error)) return undefined;
    throw error;
  }
}

async function filesOf(tree: Cid, { files, reader }: Work): Promise<readonly File[]> {
  const before = files.get(tree);
  if (before !== undefined) return before;
  const list: File[] = [];
  for await (const { path, entry } of walkTree(reader, tree))
    if (entry.type === 'file' || entry.type === 'link') list.push({ path, cid: entry.cid['/'] });
  files.set(tree, list);
  return list;
}

/** What is published whatever the workspaces hold. */
async function elsewhere(roots: readonly Cid[], { trees, verdicts, reader }: Work): Promise<Cid[]> {
  const stop = (cid: Cid, value: Value) => trees.has(cid) || kindIn(value) === 'release';
  const found: Cid[] = [];
  for await (const { cid } of closure(reader, roots, { stop }))
    if (codecOf(cid) === 'raw' && verdicts.has(cid)) found.push(cid);
  return found;
}
