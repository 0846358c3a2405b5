/**
 * A results page: Markdown in which every number is bound to a field of a derived record, in the source itself:
 *   <!-- claim: summary /comparisons/0/difference as difference -->+9/14 (+0.643)<!-- /claim -->
 * `summary` is the summary of the close; any other record is named by its CID. Without `as` the form is `plain`.
 * Promises: what a reader would see as a number is bound or named as unbound; the target of a link is not seen.
 * Does not promise: that words are true; only numbers are bound. Numbers inside names (`v1`, `QS-44`) are names.
 */
import { fail } from '../../store/format/errors.ts';
import { type ClaimForm, claimForm } from '../contracts/claim.ts';

export interface Binding {
  /** `binding 1` is the first of the page. */
  readonly place: string;
  /** `summary`, or a CID. */
  readonly record: string;
  readonly field: string;
  readonly form: ClaimForm;
  /** What stands between the marks. */
  readonly text: string;
  /** Where that text begins and ends in the page. */
  readonly from: number;
  readonly to: number;
}

const OPEN = /<!--\s*claim:\s*(\S+)\s+(\/\S*)(?:\s+as\s+([a-z]+))?\s*-->/g;
const CLOSE = '<!-- /claim -->';
const MARK = /<!--\s*\/?\s*claim\b/;

/** The bindings of a page, in order. Throws E_CLAIM for a mark that opens or closes nothing, or an unknown form. */
export function bindingsOf(page: string): Binding[] {
  const found: Binding[] = [];
  let at = 0;
  for (const match of page.matchAll(OPEN)) {
    const [mark, record = '', field = '', as = 'plain'] = match;
    const from = match.index + mark.length;
    const to = page.indexOf(CLOSE, from);
    const place = `binding ${found.length + 1}`;
    const form = claimForm.safeParse(as);
    if (!form.success) fail('E_CLAIM', { where: place, wanted: claimForm.options.join(', '), found: as });
    if (MARK.test(page.slice(at, match.index)) || to < 0 || MARK.test(page.slice(from, to)))
      fail('E_CLAIM', { where: place, wanted: `one ${CLOSE} for each mark`, found: line(page, match.index) });
    found.push({ place, record, field, form: form.data, text: page.slice(from, to), from, to });
    at = to + CLOSE.length;
  }
  if (MARK.test(page.slice(at)))
    fail('E_CLAIM', {
      wanted: '<!-- claim: RECORD /FIELD as FORM -->',
      found: line(page, at + page.slice(at).search(MARK)),
    });
  return found;
}

const line = (page: string, at: number): string => `line ${page.slice(0, at).split('\n').length}`;

/** The page with every binding's text replaced by what `say` gives for it. */
export function filled(page: string, say: (binding: Binding) => string): string {
  let text = '';
  let at = 0;
  for (const binding of bindingsOf(page)) {
    text += page.slice(at, binding.from) + say(binding);
    at = binding.to;
  }
  return text + page.slice(at);
}

export interface Unbound {
  readonly line: number;
  readonly text: string;
}

/** Characters that print as a number, beside the ASCII digits: superscripts, fractions, other scripts, circled, wide. */
const OTHER_DIGITS =
  '\u00b2\u00b3\u00b9\u00bc-\u00be\u0660-\u0669\u06f0-\u06f9\u07c0-\u07c9\u0966-\u096f\u09e6-\u09ef\u0a66-\u0a6f\u0ae6-\u0aef\u0b66-\u0b6f\u0be6-\u0bf2\u0c66-\u0c6f\u0ce6-\u0cef\u0d66-\u0d78\u0de6-\u0def\u0e50-\u0e59\u0ed0-\u0ed9\u0f20-\u0f33\u1040-\u1049\u17e0-\u17e9\u1810-\u1819\u2070-\u2089\u2150-\u218b\u2460-\u249b\u24ea-\u24ff\u2776-\u2793\u3007\u3021-\u3029\u3220-\u3229\u3280-\u3289\ua620-\ua629\uff10-\uff19\u{1d7ce}-\u{1d7ff}';
const DIGIT = `[0-9${OTHER_DIGITS}]`;
const NUMBER = new RegExp(`${DIGIT}(?:[.,/]?${DIGIT})*%?`, 'gu');
/** A name: letters, then digits, `_` or `-` between (`v1`, `QS-44`, `SHA-256`). */
const NAME = /[A-Za-z](?:[A-Za-z0-9_]|-(?=[A-Za-z0-9]))*/g;

const LINK = /(?<!\\)(\[[^[\]\\\n]*\])\([^()\s]*\)/g;

/** Numbers that a reader would see and that no claim binds. */
export function unboundNumbers(page: string): Unbound[] {
  const blank = (text: string) => text.replace(/[^\n]/g, ' ');
  let seen = '';
  let at = 0;
  for (const { from, to } of bindingsOf(page)) {
    seen += page.slice(at, from) + blank(page.slice(from, to));
    at = to;
  }
  seen += page.slice(at);
  // A link's target is not read; its text is. A comment that is no mark may stand in code, where it is read.
  const shown = seen
    .replace(OPEN, blank)
    .replaceAll(CLOSE, blank)
    .replace(LINK, (link, text: string) => text + blank(link.slice(text.length)))
    .replace(NAME, blank);
  return [...shown.matchAll(NUMBER)].map(({ index, 0: text }) => ({
    line: shown.slice(0, index).split('\n').length,
    text,
  }));
}
