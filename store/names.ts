/**
 * The one record kind that belongs to the store itself: a name that points at a cid.
 * Promises: one shape; a name has one spelling.
 * Does not promise: that a head is right; records.ts compares it.
 */
import { type Cid, link } from './format/cid.ts';
import { isLink, type Value } from './format/codec.ts';
import { fail } from './format/errors.ts';
import type { RecordFacts } from './store.ts';

export const NAME_KIND = 'name';
const SEGMENT = '[A-Za-z0-9][A-Za-z0-9._-]{0,63}';
const NAME = new RegExp(`^${SEGMENT}(?:/${SEGMENT}){0,7}$`);

export interface NameRecord {
  readonly name: string;
  readonly target: Cid | null;
  readonly previous: Cid | null;
}

/** Throws E_CONTRACT for a spelling that no name has. */
export function checkName(name: string): void {
  if (!NAME.test(name))
    fail('E_CONTRACT', {
      where: 'name',
      wanted: 'up to 8 segments of letters, digits, ".", "_" and "-"',
      found: JSON.stringify(name),
    });
}

export function nameValue({ name, target, previous }: NameRecord): Value {
  const linked = (cid: Cid | null) => (cid === null ? null : link(cid));
  return { kind: NAME_KIND, v: 1, name, target: linked(target), previous: linked(previous) };
}

export function isNameValue(value: Value): boolean {
  return typeof value === 'object' && value !== null && 'kind' in value && value.kind === NAME_KIND;
}

/** Throws E_CONTRACT. */
export function parseName(value: Value): NameRecord {
  const { kind, v, name, target, previous, ...rest } = value as Record<string, Value>;
  const known = kind === NAME_KIND && v === 1 && typeof name === 'string' && Object.keys(rest).length === 0;
  if (!known || !isTarget(target) || !isTarget(previous))
    fail('E_CONTRACT', {
      where: 'name record',
      wanted: '{kind, v: 1, name, target, previous}',
      found: 'another shape',
    });
  checkName(name);
  return { name, target: target?.['/'] ?? null, previous: previous?.['/'] ?? null };
}

const isTarget = (value: Value | undefined): value is { readonly '/': Cid } | null =>
  value === null || isLink(value);

export function nameFacts({ target, previous }: NameRecord): RecordFacts {
  const links = [
    ...(target === null ? [] : [{ cid: target, kinds: ['*'] }]),
    ...(previous === null ? [] : [{ cid: previous, kinds: [NAME_KIND] }]),
  ];
  return { kind: NAME_KIND, links, evidence: [] };
}
