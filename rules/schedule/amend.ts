/**
 * What an amendment may change, and when: it stands before the runs that it governs. What results are computed by
 * governs every run, so once one has begun it stands; what plans are bound to stands from the first version on.
 */
import { encode, type Value } from '../../store/format/codec.ts';
import type { Study } from '../contracts/study.ts';

/** A version says these anew. */
const HOUSEKEEPING: ReadonlySet<string> = new Set(['version', 'previous', 'family', 'who', 'why']);

/** Plans are bound to the first version's, and a family to its name. */
const BOUND: ReadonlySet<string> = new Set(['id', 'images', 'isolation', 'network']);

/** What governs runs still to come alone. */
const AHEAD: ReadonlySet<string> = new Set([
  'pairs',
  'epochs',
  'agents',
  'attempts',
  'caps',
  'builds',
  'prices',
  'certificates',
  'acceptances',
  'validations',
  'rules',
]);

/** The fields in which two versions differ, by name. */
export function changedFields(before: Study, after: Study): string[] {
  const [old, new_] = [before, after] as unknown as Readonly<Record<string, Value>>[];
  const names = [...new Set([...Object.keys(old ?? {}), ...Object.keys(new_ ?? {})])].sort();
  return names.filter((name) => !HOUSEKEEPING.has(name) && !same(old?.[name], new_?.[name]));
}

const same = (a: Value | undefined, b: Value | undefined): boolean =>
  a !== undefined && b !== undefined ? Buffer.compare(encode(a), encode(b)) === 0 : a === b;

/** Of these fields, those that no amendment may change. */
export const boundFields = (changed: readonly string[]): string[] =>
  changed.filter((name) => BOUND.has(name));

/** Of these fields, those that none may change after the first start. */
export const fieldsOfPastRuns = (changed: readonly string[]): string[] =>
  changed.filter((name) => !AHEAD.has(name));
