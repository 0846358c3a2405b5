/**
 * What the content of a surface gives away.
 * Promises: every detector reports its first place only, with the line; a secret's text is never in a finding; files
 * of any size are read through windows; NUL bytes are passed over, so that UTF-16 and binary files are read too.
 * Does not promise: to understand encodings other than JSON escapes and whitespace.
 */
import type { Finding } from '../contracts/certificate.ts';
import { SECRET_FINDERS } from '../secrets.ts';
import { latin1, type Window, windowsOf } from '../windows.ts';
import { indexInText, normal } from './normal.ts';
import type { CertificationPolicy } from './policy.ts';

/** A finding in content, without its place. */
export interface Hit {
  readonly kind: Finding['kind'];
  readonly pattern: string;
  readonly line: number;
}

/** Index of the first match that begins in [from, own), or undefined. */
type Find = (text: string, from: number, own: number) => number | undefined;
export interface Detector {
  readonly kind: Finding['kind'];
  readonly pattern: string;
  readonly find: Find;
}

/** Text that may stand nowhere: an answer, a solution, a hidden test. */
export interface Needle {
  readonly kind: 'solution-leak' | 'suspicious-metadata';
  readonly pattern: string;
  readonly text: string;
}

/** Longest part of a needle that is looked for (characters of its normal form). */
const LONGEST_NEEDLE = 4096;

/** The detectors of a policy, with these needles. */
export function detectors(policy: CertificationPolicy, needles: readonly Needle[]): Detector[] {
  const normalForm = memoised();
  const secrets = SECRET_FINDERS.filter(({ name }) => policy.metadata.secrets.includes(name));
  return [
    ...secrets.map(({ name, find }): Detector => {
      const first: Find = (text, from, own) => within(find(text, from)?.start, own);
      return { kind: 'suspicious-metadata', pattern: `secret:${name}`, find: first };
    }),
    ...policy.awareness.identity.map(
      (term): Detector => ({ kind: 'benchmark-awareness', pattern: term, find: wholeWord(term) }),
    ),
    ...needles.flatMap((needle) => needleDetector(needle, normalForm)),
  ];
}

// A unified hunk header, quoted or indented, with a line of the hunk behind it; or the header line of a Git diff.
const HUNK =
  /^[ \t>]{0,16}@@ -\d{1,9}(?:,\d{1,9})? \+\d{1,9}(?:,\d{1,9})? @@[^\n]{0,1024}\r?\n[ \t>]{0,16}[ +\\-]/gm;
const GIT_DIFF = /^[ \t>]{0,16}diff --git \S{1,1024} \S{1,1024}\r?$/gm;

/** Patches told by content: the only findings that may be accepted. */
export const PATCH_DETECTORS: readonly Detector[] = [
  { kind: 'patch-or-diff', pattern: 'unified-diff-hunk', find: hinted('@@ -', HUNK) },
  { kind: 'patch-or-diff', pattern: 'git-diff-header', find: hinted('diff --git ', GIT_DIFF) },
];

function within(index: number | undefined, own: number): number | undefined {
  return index !== undefined && index < own ? index : undefined;
}

function hinted(hint: string, pattern: RegExp): Find {
  return (text, from, own) => {
    if (!text.includes(hint, from)) return undefined;
    pattern.lastIndex = from;
    return within(pattern.exec(text)?.index, own);
  };
}

/** A term with no letter or digit beside it; its hyphens may be any of `-_. ` or nothing. */
export function wholeWord(term: string): Find {
  const body = term.replaceAll('-', '[-_. ]?');
  // An escape before the word is no letter of it: `\n`, `%2F`.
  const before = '(?:(?<![A-Za-z0-9])|(?<=\\\\[nrtfb])|(?<=%[0-9A-Fa-f]{2}))';
  const pattern = new RegExp(`${body}(?<=${before}${body})(?![A-Za-z0-9])`, 'gi');
  return (text, from, own) => {
    pattern.lastIndex = from;
    return within(pattern.exec(text)?.index, own);
  };
}

type NormalForm = (text: string, from: number) => string;

function needleDetector({ kind, pattern, text }: Needle, normalForm: NormalForm): Detector[] {
  const needle = normal(latin1(Buffer.from(text, 'utf8'))).slice(0, LONGEST_NEEDLE);
  if (needle === '') return [];
  const find: Find = (haystack, from) => {
    const at = normalForm(haystack, from).indexOf(needle);
    return at < 0 ? undefined : from + indexInText(haystack.slice(from), at);
  };
  return [{ kind, pattern, find }];
}

/** Many needles are looked for in one window, one after the other: its normal form is made once. */
function memoised(): NormalForm {
  let last = { text: '', from: 0, form: '' };
  return (text, from) => {
    if (last.text !== text || last.from !== from) last = { text, from, form: normal(text.slice(from)) };
    return last.form;
  };
}

/** The first hit of every detector in a stream, in the order of the detectors. Memory is bounded. */
export async function hitsIn(chunks: AsyncIterable<Uint8Array>, all: readonly Detector[]): Promise<Hit[]> {
  const hits = new Map<Detector, Hit>();
  let lines = 1;
  for await (const window of windowsOf(chunks)) {
    const { text, from, own } = withoutNul(window);
    for (const detector of all) {
      const at = hits.has(detector) ? undefined : detector.find(text, from, own);
      if (at === undefined) continue;
      const { kind, pattern } = detector;
      hits.set(detector, { kind, pattern, line: lines + newlines(text, from, at) });
    }
    lines += newlines(text, from, own);
  }
  return all.flatMap((detector) => hits.get(detector) ?? []);
}

/** The hits in a text that is at hand. */
export async function hitsInText(text: string, all: readonly Detector[]): Promise<Hit[]> {
  return hitsIn(once(Buffer.from(text, 'utf8')), all);
}

async function* once(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes;
}

function withoutNul(window: Window): Window {
  const { text, from, own } = window;
  if (!text.includes('\0')) return window;
  const [left, middle, rest] = [text.slice(0, from), text.slice(from, own), text.slice(own)].map((part) =>
    part.replaceAll('\0', ''),
  );
  const start = left?.length ?? 0;
  return { text: `${left}${middle}${rest}`, from: start, own: start + (middle?.length ?? 0) };
}

function newlines(text: string, from: number, to: number): number {
  let count = 0;
  for (let at = text.indexOf('\n', from); at >= 0 && at < to; at = text.indexOf('\n', at + 1)) count++;
  return count;
}
