/**
 * Whether a phrase reached a model, by field and not by step (reference: agents, delivery).
 * Promises: agent-authored text, recaps and user-only notices never count; the text searched is the decoded text of one
 * record, with white space folded, and for a tool result also the strings of JSON inside it. Two records are never
 * joined.
 * Does not promise: to find a phrase that a channel re-words.
 */
import { isFault } from '../../store/format/errors.ts';
import { type Json, parseJson } from '../../store/format/json.ts';
import type { AtifStep } from '../trajectory/atif.ts';

export interface Found {
  readonly step: number;
  readonly native: string;
  readonly channel: string;
}

/** Every record that gave `phrase` to the model, in order. O(size of the trajectory). */
export function findDelivered(steps: readonly AtifStep[], phrase: string): Found[] {
  const wanted = fold(phrase);
  return steps
    .filter((step) => counts(step) && textsOf(step).some((text) => fold(text).includes(wanted)))
    .map(found);
}

/** Runs of white space become one space: a phrase wrapped over two lines is the same phrase. */
export function fold(text: string): string {
  return text.replace(/[ \t\r\n\f\v]+/g, ' ').trim();
}

const counts = ({ kind }: AtifStep): boolean => kind === 'injection' || kind === 'tool';

function found({ id, native, kind, channel }: AtifStep): Found {
  return { step: id, native, channel: kind === 'tool' ? 'tool' : (channel ?? 'hook') };
}

function textsOf(step: AtifStep): string[] {
  return step.kind === 'tool' ? [step.text, ...innerStrings(step.text)] : [step.text];
}

/** The strings of a text that is itself JSON. */
function innerStrings(text: string): string[] {
  if (!/^\s*[[{]/.test(text)) return [];
  try {
    return stringsOf(parseJson(Buffer.from(text, 'utf8')));
  } catch (error) {
    if (isFault(error, 'E_JSON')) return [];
    throw error;
  }
}

/** Every string value inside `value`. */
export function stringsOf(value: Json): string[] {
  if (typeof value === 'string') return [value];
  if (typeof value !== 'object' || value === null) return [];
  return Object.values(value).flatMap((part) => stringsOf(part as Json));
}
