/**
 * audit v1: every difference between two snapshots, each inside or outside the challenge's allowed subtrees.
 * Promises: a mutation is a changed entry, content, mode, type, link target or root mode; nothing is read through a
 * link, and equal subtrees are not opened. The list is in path order, names by bytes, parents before children.
 * Does not promise: an opinion on which undeclared writes are harmless; there is no such list.
 */
import type { Cid } from '../../store/format/cid.ts';
import { link } from '../../store/format/cid.ts';
import type { Reader } from '../../store/format/reader.ts';
import {
  compareNames,
  type Entry,
  nameBytes,
  parseTree,
  type Snapshot,
  type TreePath,
} from '../../store/format/tree.ts';
import type { Mutation } from '../contracts/audit.ts';
import { type Binding, defineRule, one, snapshot } from '../rule.ts';

export const auditV1 = defineRule({
  name: 'audit',
  v: 1,
  scope: 'subject',
  gives: 'audit',
  needs: { before: snapshot, after: snapshot, challenge: one('challenge') },
  on: ['receipt'],
  async bind(subject, view): Promise<readonly Binding[]> {
    const receipt = subject.value;
    if (receipt.kind !== 'receipt' || receipt.before === undefined || receipt.after === undefined) return [];
    const start = await view.record(receipt.start['/']);
    const plan = start.kind === 'start' ? await view.record(start.plan['/']) : undefined;
    if (plan?.kind !== 'plan' || !('shared' in plan)) return [];
    const [before, after] = [receipt.before['/'], receipt.after['/']];
    return [{ inputs: { before, after, challenge: plan.shared.challenge['/'] } }];
  },
  async apply({ before, after, challenge }, io) {
    const allowed = challenge.value.allowedOutputPaths;
    const mutations = await mutationsBetween(before.value, after.value, allowed, io.reader);
    return {
      before: link(before.cid),
      after: link(after.cid),
      challenge: link(challenge.cid),
      mutations,
      outside: mutations.filter((mutation) => !mutation.inside).length,
    };
  },
});

/**
 * Every mutation from `before` to `after`. An allowed path covers itself and all below it; a directory that was added
 * to hold an allowed path is inside too. O(entries of the subtrees that differ).
 */
export async function mutationsBetween(
  before: Snapshot,
  after: Snapshot,
  allowedOutputPaths: readonly string[],
  reader: Reader,
): Promise<Mutation[]> {
  const allowed = allowedOutputPaths.map((path) => path.split('/').map((name) => Buffer.from(name, 'utf8')));
  const found: Found[] = before.mode === after.mode ? [] : [{ path: [], change: 'mode', after: undefined }];
  await compareTrees(before.tree['/'], after.tree['/'], [], reader, found);
  return found.map(({ path, change, after }) => ({
    path: [...path],
    change,
    inside: isInside(path, allowed) || (change === 'added' && after === 'dir' && holds(path, allowed)),
  }));
}

interface Found {
  readonly path: TreePath;
  readonly change: Mutation['change'];
  readonly after: Entry['type'] | undefined;
}

async function compareTrees(
  before: Cid | undefined,
  after: Cid | undefined,
  at: TreePath,
  reader: Reader,
  found: Found[],
): Promise<void> {
  if (before === after) return;
  const [olds, news] = [await entriesOf(before, reader), await entriesOf(after, reader)];
  let [i, j] = [0, 0];
  while (i < olds.length || j < news.length) {
    const [old, young] = [olds[i], news[j]];
    const order = old === undefined ? 1 : young === undefined ? -1 : compareNames(old.name, young.name);
    if (order <= 0) i++;
    if (order >= 0) j++;
    await compareEntries(order <= 0 ? old : undefined, order >= 0 ? young : undefined, at, reader, found);
  }
}

async function entriesOf(tree: Cid | undefined, reader: Reader): Promise<readonly Entry[]> {
  return tree === undefined ? [] : parseTree(await reader.get(tree)).entries;
}

/** One name: its own changes first, then what lies below it. */
async function compareEntries(
  old: Entry | undefined,
  young: Entry | undefined,
  at: TreePath,
  reader: Reader,
  found: Found[],
): Promise<void> {
  const name = (old ?? young)?.name;
  if (name === undefined) return;
  const path = [...at, name];
  for (const change of changes(old, young)) found.push({ path, change, after: young?.type });
  await compareTrees(directoryOf(old), directoryOf(young), path, reader, found);
}

function directoryOf(entry: Entry | undefined): Cid | undefined {
  return entry?.type === 'dir' ? entry.cid['/'] : undefined;
}

function changes(old: Entry | undefined, young: Entry | undefined): Mutation['change'][] {
  if (old === undefined) return ['added'];
  if (young === undefined) return ['removed'];
  if (old.type !== young.type) return ['type'];
  const list: Mutation['change'][] = [];
  if (identity(old) !== identity(young)) list.push(old.type === 'link' ? 'target' : 'content');
  if (old.mode !== young.mode) list.push('mode');
  return list;
}

/** What an entry is beside its name and mode. A directory's content is compared entry by entry instead. */
function identity(entry: Entry): string {
  if (entry.type === 'file' || entry.type === 'link') return entry.cid['/'];
  if (entry.type === 'submodule') return entry.oid;
  return entry.type === 'device' ? entry.rdev : '';
}

/** Whether `path` is an allowed path or lies below one. */
function isInside(path: TreePath, allowed: readonly (readonly Uint8Array[])[]): boolean {
  const names = path.map(nameBytes);
  return allowed.some((each) => each.length <= names.length && startsWith(names, each));
}

/** Whether an allowed path lies below `path`. */
function holds(path: TreePath, allowed: readonly (readonly Uint8Array[])[]): boolean {
  const names = path.map(nameBytes);
  return allowed.some((each) => each.length > names.length && startsWith(each, names));
}

function startsWith(names: readonly Uint8Array[], prefix: readonly Uint8Array[]): boolean {
  return prefix.every((name, i) => Buffer.compare(name, names[i] ?? new Uint8Array()) === 0);
}
