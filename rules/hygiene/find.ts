/**
 * What may not be published: secrets and paths of a person's machine, in a text and in what is encoded in it.
 * Promises: the shapes of rules/secrets.ts and home folders, through the layers of nested.ts; each finding names its line
 * and never the value.
 * Does not promise: to see a secret that no shape knows.
 */
import { SECRET_FINDERS } from '../secrets.ts';
import { latin1 } from '../windows.ts';
import { decodedTexts } from './nested.ts';

export interface HygieneFinding {
  /** From 1. */
  readonly line: number;
  readonly shape: string;
}

// Behind a host name, `/home/x` is part of an address. `/home/agent` is what scrub writes for an agent's home. `hint` is
// asked first: without it the pattern cannot match, and to look for it costs next to nothing.
const HOST_PATHS: readonly { readonly hint: string; readonly pattern: RegExp }[] = [
  {
    hint: '/home/',
    pattern: /(?:(?<![A-Za-z0-9._~%/-])|(?<=file:\/\/))\/home\/(?!agent(?![A-Za-z0-9._-]))[A-Za-z0-9._-]+/,
  },
  {
    hint: '/Users/',
    pattern: /(?:(?<![A-Za-z0-9._~%/-])|(?<=file:\/\/))\/Users\/(?!agent(?![A-Za-z0-9._-]))[A-Za-z0-9._-]+/,
  },
  { hint: '/root/', pattern: /(?:(?<![A-Za-z0-9._~%/-])|(?<=file:\/\/))\/root\/[A-Za-z0-9._-]+/ },
  { hint: 'Users\\', pattern: /(?<![A-Za-z0-9])[A-Za-z]:\\{1,8}Users\\{1,8}[A-Za-z0-9._-]+/ },
];

/** The findings of one file, each shape once a line. O(size x layers). */
export function findingsIn(bytes: Uint8Array): HygieneFinding[] {
  const text = latin1(bytes);
  const found: HygieneFinding[] = [];
  for (const [i, line] of text.split('\n').entries())
    for (const shape of shapesOfLine(line)) found.push({ line: i + 1, shape });
  // A secret of several lines is in no line alone.
  const named = new Set(found.map(({ shape }) => shape));
  for (const { name, find } of SECRET_FINDERS) {
    const span = named.has(name) ? undefined : find(text, 0);
    if (span !== undefined) found.push({ line: text.slice(0, span.start).split('\n').length, shape: name });
  }
  return found;
}

/** Set while a stream is read. */
export interface Watch {
  found: boolean;
}

/**
 * The same stream; `watch` says at its end whether a line held something. A secret of several lines is not seen here.
 * Memory: the longest line.
 */
export async function* watched(chunks: AsyncIterable<Uint8Array>, watch: Watch): AsyncGenerator<Uint8Array> {
  let held: string[] = [];
  for await (const chunk of chunks) {
    const [head = '', ...lines] = latin1(chunk).split('\n');
    held.push(head);
    for (const line of lines) {
      look(held.join(''), watch);
      held = [line];
    }
    yield chunk;
  }
  look(held.join(''), watch);
}

function look(line: string, watch: Watch): void {
  watch.found ||= shapesOfLine(line).size > 0;
}

const shapesOfLine = (line: string): ReadonlySet<string> => new Set(decodedTexts(line).flatMap(shapesIn));

function shapesIn(text: string): string[] {
  const secrets = SECRET_FINDERS.filter(({ find }) => find(text, 0) !== undefined).map(({ name }) => name);
  const named = HOST_PATHS.some(({ hint, pattern }) => text.includes(hint) && pattern.test(text));
  return named ? [...secrets, 'path of a machine'] : secrets;
}
