/**
 * Takes host paths and secrets out of a byte stream.
 * Promises: what comes out is a fixed point (scrubbing it again replaces nothing), whatever the chunks; without a
 * match the bytes are the same; memory is bounded by a few windows.
 * Does not promise: to see a secret that no shape knows.
 */
import { fail } from '../../store/format/errors.ts';
import { SECRET_FINDERS } from '../secrets.ts';
import { blocksOf, LEFT, OVERLAP, WINDOW } from '../windows.ts';
import type { PathFinder } from './paths.ts';

/** Passes over one window, or growth of it, after which the replacements are said to have no end. */
const MAX_PASSES = 64;
/** Bytes behind the cut that are settled too, so that no replacement can complete a path across it. */
const GUARD = OVERLAP / 2;

/** Counted while the stream is read. */
export interface Tally {
  replaced: number;
}

/** The scrubbed stream. Throws E_RULE_INPUT where the replacements never settle. */
export async function* scrubbed(
  chunks: AsyncIterable<Uint8Array>,
  paths: PathFinder,
  tally: Tally,
): AsyncGenerator<Uint8Array> {
  let left = '';
  let text = '';
  for await (const block of blocksOf(chunks, WINDOW)) {
    text += block;
    if (text.length < WINDOW + OVERLAP) continue;
    const settled = settle(left, text, text.length - OVERLAP + GUARD, paths, tally);
    const cut = Math.max(0, settled.length - OVERLAP);
    yield Buffer.from(settled.slice(0, cut), 'latin1');
    left = (left + settled.slice(0, cut)).slice(-LEFT);
    text = settled.slice(cut);
  }
  const rest = settle(left, text, Number.POSITIVE_INFINITY, paths, tally);
  if (rest.length > 0) yield Buffer.from(rest, 'latin1');
}

/** Replaces what begins before `limit`, again and again until nothing is found. `left` is context only. */
function settle(left: string, text: string, limit: number, paths: PathFinder, tally: Tally): string {
  let now = text;
  // What lies behind the limit keeps its distance from the end while the text before it changes.
  const behind = limit === Number.POSITIVE_INFINITY ? 0 : text.length - limit;
  for (let pass = 0; pass < MAX_PASSES; pass++) {
    const end = limit === Number.POSITIVE_INFINITY ? limit : left.length + now.length - behind;
    const edits = editsIn(left + now, left.length, end, paths);
    if (edits.length === 0) return now;
    tally.replaced += edits.length;
    now = edited(left + now, edits).slice(left.length);
    if (now.length > text.length * 4 + WINDOW) break;
  }
  return fail('E_RULE_INPUT', { where: 'host facts', wanted: 'replacements that come to an end' });
}

interface Edit {
  readonly start: number;
  readonly end: number;
  readonly with: string;
}

/** Non-overlapping edits in order: the earliest first, the longest of those that begin together. */
function editsIn(text: string, from: number, end: number, paths: PathFinder): Edit[] {
  const finders = [
    paths.find,
    ...SECRET_FINDERS.map((secret) => (within: string, at: number): Edit | undefined => {
      const span = secret.find(within, at);
      return span === undefined ? undefined : { ...span, with: `[redacted:${secret.name}]` };
    }),
  ];
  const found = finders.flatMap((find) => all(find, text, from, end));
  found.sort((a, b) => a.start - b.start || b.end - a.end || (a.with < b.with ? -1 : 1));
  const edits: Edit[] = [];
  for (const edit of found) if (edit.start >= (edits[edits.length - 1]?.end ?? 0)) edits.push(edit);
  return edits;
}

function all(find: PathFinder['find'], text: string, from: number, end: number): Edit[] {
  const list: Edit[] = [];
  for (let next = find(text, from); next !== undefined && next.start < end; next = find(text, next.end))
    list.push(next);
  return list;
}

function edited(text: string, edits: readonly Edit[]): string {
  const parts: string[] = [];
  let at = 0;
  for (const edit of edits) {
    parts.push(text.slice(at, edit.start), edit.with);
    at = edit.end;
  }
  parts.push(text.slice(at));
  return parts.join('');
}
