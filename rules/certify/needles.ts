/**
 * What a challenge knows and no agent may read: answer phrases, the passing solutions, the hidden tests.
 * Promises: of a solution's file only what it adds to the corpus counts, so that code which was there already is no
 * leak; runs of lines too short to mean anything are left out.
 * Does not promise: paraphrases.
 */
import type { Cid } from '../../store/format/cid.ts';
import { isFault } from '../../store/format/errors.ts';
import type { Reader } from '../../store/format/reader.ts';
import { parseTree, printPath, type TreePath, walkTree } from '../../store/format/tree.ts';
import type { Challenge } from '../contracts/challenge.ts';
import type { Needle } from './detect.ts';

/** Shorter runs of added text are found in ordinary code (characters without whitespace). */
const SHORTEST_RUN = 40;
/** Larger files are no hand-written solution (bytes). */
const LARGEST_FILE = 1 << 20;

/** The needles of a challenge over the tree that its agents start from. Throws what the reader throws. */
export async function needlesOf(challenge: Challenge, corpus: Cid, reader: Reader): Promise<Needle[]> {
  const needles: Needle[] = challenge.answerPhrases.map((text, i) => ({
    kind: 'solution-leak',
    pattern: `answer-phrase-${i + 1}`,
    text,
  }));
  for (const solution of challenge.solutions) {
    // A solution that must score nothing is a decoy: what it says may stand in the evidence.
    if (solution.reward === 0) continue;
    for await (const { path, text } of textFiles(solution.tree['/'], reader)) {
      const before = await textAt(corpus, path, reader);
      for (const [i, run] of addedRuns(before ?? '', text).entries())
        needles.push({
          kind: 'solution-leak',
          pattern: `solution:${solution.name}:${printPath(path)}:${i + 1}`,
          text: run,
        });
    }
  }
  for await (const { path, text } of textFiles(challenge.verifier.asset['/'], reader)) {
    if (solid(text))
      needles.push({ kind: 'suspicious-metadata', pattern: `hidden-test:${printPath(path)}`, text });
  }
  return needles;
}

/** Maximal runs of lines of `after` that are no lines of `before`, long enough to mean something. */
export function addedRuns(before: string, after: string): string[] {
  const known = new Set(before.split('\n').map((line) => line.trim()));
  const runs: string[][] = [[]];
  for (const line of after.split('\n')) {
    const bare = line.trim();
    if (bare === '') continue;
    if (known.has(bare)) runs.push([]);
    else runs[runs.length - 1]?.push(line);
  }
  return runs.map((run) => run.join('\n')).filter(solid);
}

const solid = (text: string): boolean => text.replace(/\s+/g, '').length >= SHORTEST_RUN;

async function* textFiles(root: Cid, reader: Reader): AsyncGenerator<{ path: TreePath; text: string }> {
  for await (const { path, entry } of walkTree(reader, root)) {
    if (entry.type !== 'file' || entry.size > LARGEST_FILE) continue;
    const text = decoded(await reader.get(entry.cid['/']));
    if (text !== undefined) yield { path, text };
  }
}

/** The text of the file at a path of a tree, or undefined where there is none. */
async function textAt(root: Cid, path: TreePath, reader: Reader): Promise<string | undefined> {
  let cid = root;
  for (const [i, name] of path.entries()) {
    const entry = parseTree(await reader.get(cid)).entries.find(
      (each) => JSON.stringify(each.name) === JSON.stringify(name),
    );
    if (entry?.type === 'dir' && i < path.length - 1) cid = entry.cid['/'];
    else if (entry?.type === 'file' && i === path.length - 1) return present(entry.cid['/'], reader);
    else return undefined;
  }
  return undefined;
}

async function present(cid: Cid, reader: Reader): Promise<string | undefined> {
  try {
    return decoded(await reader.get(cid));
  } catch (error) {
    if (isFault(error, 'E_NOT_FOUND')) return undefined;
    throw error;
  }
}

function decoded(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    return undefined;
  }
}
