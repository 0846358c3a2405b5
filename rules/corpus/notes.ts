/**
 * What a tree holds that may surprise another machine or an agent: names that differ by case or by Unicode spelling
 * only, Git LFS pointers in place of files, submodules without content.
 * Promises: reports; the tree is carried exactly. Case is folded for A-Z only, as the oldest file systems do, and for
 * what canonical decomposition leaves as A-Z.
 * Does not promise: anything on what a pointer or submodule stands for; nothing is fetched.
 */
import type { z } from 'zod';
import type { Cid } from '../../store/format/cid.ts';
import type { Reader } from '../../store/format/reader.ts';
import { type Entry, type Name, parseTree, type TreePath } from '../../store/format/tree.ts';
import type { Corpus, corpusNote } from '../contracts/corpus.ts';
import type { Full } from '../contracts/kit.ts';
import { fold } from '../redact/match.ts';
import { nfd } from './nfd.ts';

type Note = z.infer<typeof corpusNote>;
export type Counts = Omit<Full<Corpus>['counts'], 'removed'>;
type Tally = { -readonly [K in keyof Counts]: Counts[K] };

export interface Survey {
  readonly counts: Counts;
  readonly notes: Note[];
}

/** Counts and notes of a tree, in path order. Throws what the reader throws. O(entries). */
export async function survey(reader: Reader, root: Cid): Promise<Survey> {
  const counts: Tally = { files: 0, links: 0, directories: 0, submodules: 0, bytes: 0 };
  const notes: Note[] = [];
  await visit(reader, root, [], counts, notes);
  return { counts, notes };
}

async function visit(reader: Reader, cid: Cid, at: TreePath, counts: Tally, notes: Note[]): Promise<void> {
  const { entries } = parseTree(await reader.get(cid));
  notes.push(...collisions(entries, at));
  for (const entry of entries) {
    const path = [...at, entry.name];
    count(entry, counts);
    if (entry.type === 'submodule') notes.push({ what: 'submodule', paths: [path], detail: entry.oid });
    if (entry.type === 'file') notes.push(...(await pointer(reader, entry, path)));
    if (entry.type === 'dir') await visit(reader, entry.cid['/'], path, counts, notes);
  }
}

function count(entry: Entry, counts: Tally): void {
  if (entry.type === 'file') counts.files++;
  else if (entry.type === 'link') counts.links++;
  else if (entry.type === 'dir') counts.directories++;
  else if (entry.type === 'submodule') counts.submodules++;
  if (entry.type === 'file' || entry.type === 'link') counts.bytes += entry.size;
}

function collisions(entries: readonly Entry[], at: TreePath): Note[] {
  const names = entries.map(({ name }) => name);
  const noted = (what: Note['what'], group: readonly Name[], detail: string): Note => ({
    what,
    paths: group.map((name) => [...at, name]),
    detail,
  });
  return [
    ...grouped(names, fold).map((group) => noted('case-collision', group, 'one name where case is folded')),
    // A group of one case-folded name is told above.
    ...grouped(names, (name) => fold(apart(name)))
      .filter((group) => new Set(group.map(fold)).size > 1)
      .map((group) => noted('unicode-collision', group, 'one name where Unicode spellings are folded')),
  ];
}

/** A name that is no Unicode has one spelling. */
const apart = (name: Name): Name => (typeof name === 'string' ? nfd(name) : name);

/** The names that share a key with another, in the order of their first. */
function grouped(names: readonly Name[], keyOf: (name: Name) => string): Name[][] {
  const groups = new Map<string, Name[]>();
  for (const name of names) {
    const key = keyOf(name);
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [name]);
    else group.push(name);
  }
  return [...groups.values()].filter((group) => group.length > 1);
}

/** A pointer's version line, object id and size take 124 bytes and a little more (git-lfs docs/spec.md). */
const POINTER_SIZES = { least: 100, most: 1024 };
const POINTER = /^version https:\/\/git-lfs\.github\.com\/spec\/v1\n(?:[a-z0-9.-]+ [^\n]+\n)*$/;

async function pointer(
  reader: Reader,
  entry: Extract<Entry, { type: 'file' }>,
  path: TreePath,
): Promise<Note[]> {
  if (entry.size < POINTER_SIZES.least || entry.size > POINTER_SIZES.most) return [];
  const text = Buffer.from(await reader.get(entry.cid['/'])).toString('latin1');
  if (!/^version https:\/\/git-lfs\.github\.com\//.test(text)) return [];
  const oid = /\noid (sha256:[0-9a-f]{64})\r?\n/.exec(text)?.[1];
  const size = /\nsize (\d{1,15})\r?\n/.exec(text)?.[1];
  const sound = POINTER.test(text) && oid !== undefined && size !== undefined;
  const detail = `oid ${oid ?? 'unreadable'}, size ${size ?? 'unreadable'}`;
  return [{ what: sound ? 'lfs-pointer' : 'lfs-malformed', paths: [[...path]], detail }];
}
