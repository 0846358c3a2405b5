/**
 * Unicode names taken apart (NFD), by a table that is a part of this rule.
 * Promises: canonically equal texts of Unicode 14.0 become the same text, on every engine.
 * Does not promise: compatibility forms; characters assigned after 14.0 stand for themselves.
 * Source: The Unicode Standard, sections 3.11 (canonical ordering) and 3.12 (Hangul syllables).
 */
import { COMBINING_CLASSES, DECOMPOSITIONS } from './unicode-14.ts';

const decompositions = readDecompositions();
const classes = readClasses();

function readDecompositions(): ReadonlyMap<number, readonly number[]> {
  let at = 0;
  return new Map(
    DECOMPOSITIONS.split(' ').map((item) => {
      const [step = '', parts = ''] = item.split('=');
      at += Number.parseInt(step, 16);
      return [at, parts.split('+').map((part) => Number.parseInt(part, 16))];
    }),
  );
}

function readClasses(): ReadonlyMap<number, number> {
  const found = new Map<number, number>();
  for (const item of COMBINING_CLASSES.split(' ')) {
    const [range = '', rank = ''] = item.split('=');
    const [first = '', last = first] = range.split('-');
    for (let code = Number.parseInt(first, 16); code <= Number.parseInt(last, 16); code++) {
      found.set(code, Number(rank));
    }
  }
  return found;
}

/** `text` in canonical decomposition. O(characters), and a sort of each run of combining marks. */
export function nfd(text: string): string {
  if (!/[\u0080-\uffff]/.test(text)) return text;
  const parts = [...text].flatMap((each) => takenApart(each.codePointAt(0) ?? 0));
  return ordered(parts)
    .map((code) => String.fromCodePoint(code))
    .join('');
}

const HANGUL = {
  first: 0xac00,
  count: 11_172,
  lead: 0x1100,
  vowel: 0x1161,
  trail: 0x11a7,
  vowels: 21,
  trails: 28,
};

function takenApart(code: number): readonly number[] {
  const syllable = code - HANGUL.first;
  if (syllable < 0 || syllable >= HANGUL.count) return decompositions.get(code) ?? [code];
  const trail = syllable % HANGUL.trails;
  const pair = (syllable - trail) / HANGUL.trails;
  const vowel = pair % HANGUL.vowels;
  const both = [HANGUL.lead + (pair - vowel) / HANGUL.vowels, HANGUL.vowel + vowel];
  return trail === 0 ? both : [...both, HANGUL.trail + trail];
}

/** Each run of combining marks sorted by class; marks of one class keep their order. */
function ordered(codes: readonly number[]): number[] {
  const done: number[] = [];
  let run: number[] = [];
  for (const code of codes) {
    if (classOf(code) !== 0) {
      run.push(code);
      continue;
    }
    done.push(...sorted(run), code);
    run = [];
  }
  return [...done, ...sorted(run)];
}

const classOf = (code: number) => classes.get(code) ?? 0;
const sorted = (run: readonly number[]) => [...run].sort((a, b) => classOf(a) - classOf(b));
