/**
 * Host paths and what stands for them in what is published.
 * Promises: a path is found as it is and as JSON escapes it (to any of three depths, with or without `\/` and
 * `\uXXXX`) or as URLs percent-encode it; its replacement is written in the same spelling.
 * Does not promise: a path that the agent took apart, compressed or encoded in another way.
 */
import { z } from 'zod';
import { fail } from '../../store/format/errors.ts';
import { latin1 } from '../windows.ts';

/** The part of the host facts that scrub reads. */
const hostFacts = z.looseObject({
  replacements: z.array(z.strictObject({ path: z.string().min(3), with: z.string().min(1) })),
});
export type Replacement = z.infer<typeof hostFacts>['replacements'][number];

/** Reads the host facts. Throws E_RULE_INPUT. */
export function replacementsOf(bytes: Uint8Array): readonly Replacement[] {
  let value: unknown;
  try {
    value = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
  } catch (cause) {
    fail('E_RULE_INPUT', { where: 'host facts', wanted: 'JSON', found: 'other bytes', cause });
  }
  const parsed = hostFacts.safeParse(value);
  if (!parsed.success)
    fail('E_RULE_INPUT', { where: 'host facts', wanted: '{"replacements": [{"path", "with"}]}' });
  return parsed.data.replacements.filter((each) => each.path !== each.with);
}

/** Depths of JSON-in-JSON that are undone exactly. */
const DEPTHS = 3;
/** No spelling of a path is longer (bytes). */
export const LONGEST_PATH = 32_768;

type Spelling = (text: string) => string;
const json: Spelling = (text) => JSON.stringify(text).slice(1, -1);
const slashed: Spelling = (text) => text.replaceAll('/', '\\/');
const ascii: Spelling = (text) =>
  text.replace(/[^ -~]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
const component: Spelling = (text) => encodeURIComponent(text);
const whole: Spelling = (text) => encodeURI(text);
const lower =
  (spelling: Spelling): Spelling =>
  (text) =>
    spelling(text).replace(/%[0-9A-F]{2}/g, (octet) => octet.replace(/[A-F]/g, lowerLetter));
const lowerLetter = (letter: string): string => String.fromCharCode(letter.charCodeAt(0) + 32);

/** Every spelling that we know, as functions of the text: what a path becomes, its replacement becomes too. */
function spellings(): Spelling[] {
  const list: Spelling[] = [(text) => text, component, lower(component), whole, lower(whole)];
  // What one writer escapes, the next one escapes again.
  for (const first of [json, (text: string) => slashed(json(text)), (text: string) => ascii(json(text))]) {
    let at = first;
    for (let depth = 1; depth <= DEPTHS; depth++) {
      const inner = at;
      list.push(inner, (text) => slashed(inner(text)));
      at = (text) => json(inner(text));
    }
  }
  return list;
}

/** Finds any spelling of any path. */
export interface PathFinder {
  find(
    text: string,
    from: number,
  ): { readonly start: number; readonly end: number; readonly with: string } | undefined;
}

/** Longest spelling first, so that a path inside another one does not hide it. Throws E_RULE_INPUT. */
export function pathFinder(replacements: readonly Replacement[]): PathFinder {
  const table = new Map<string, string>();
  for (const spelling of spellings()) {
    for (const { path, with: text } of replacements) {
      const bare = path.length > 1 ? path.replace(/\/+$/, '') : path;
      const key = latin1(Buffer.from(spelling(bare)));
      if (!table.has(key)) table.set(key, latin1(Buffer.from(spelling(text))));
    }
  }
  for (const key of table.keys())
    if (key.length > LONGEST_PATH) fail('E_RULE_INPUT', { where: 'host facts', wanted: 'shorter paths' });
  const keys = [...table.keys()].sort((a, b) => b.length - a.length || (a < b ? -1 : 1));
  if (keys.length === 0) return { find: () => undefined };
  const hints = replacements.map(({ path }) => hintOf(path));
  // The name must end where the path ends: `/tmp/run1` is not in `/tmp/run12`.
  const pattern = new RegExp(`(?:${keys.map(escaped).join('|')})(?![A-Za-z0-9_-])`, 'g');
  const finder: PathFinder = {
    find(text, from) {
      if (!hints.some((hint) => text.includes(hint, from))) return undefined;
      pattern.lastIndex = from;
      const found = pattern.exec(text);
      if (found === null) return undefined;
      return { start: found.index, end: found.index + found[0].length, with: table.get(found[0]) ?? '' };
    },
  };
  for (const { with: text } of replacements) {
    if (finder.find(latin1(Buffer.from(text)), 0) !== undefined)
      fail('E_RULE_INPUT', {
        where: 'host facts',
        wanted: 'replacements that hold no replaced path',
        found: text,
      });
  }
  return finder;
}

/** The longest run that no spelling changes: without it in a text, no spelling of the path is there. */
function hintOf(path: string): string {
  const runs = path.match(/[A-Za-z0-9]+/g) ?? [''];
  return runs.reduce((best, run) => (run.length > best.length ? run : best));
}

const escaped = (text: string): string => text.replace(/[\\^$.*+?()[\]{}|/-]/g, '\\$&');
