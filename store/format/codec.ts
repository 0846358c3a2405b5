/**
 * Canonical dag-json: the one byte string of a record or tree node.
 * Promises: `encode` gives one spelling per value; `decode` accepts exactly what `encode` gives, deeply frozen.
 * Does not promise: floats, `undefined`, or keys outside the record alphabet; those are refused with E_CODEC.
 * Spec: IPLD DAG-JSON, narrowed by DESIGN section 2 (Records).
 */
import { type Cid, cidOf, isCid, type Link } from './cid.ts';
import { fail } from './errors.ts';

/** Bytes in dag-json: base64 without padding. */
export interface Bytes {
  readonly '/': { readonly bytes: string };
}
export type Value = null | boolean | number | string | Link | Bytes | readonly Value[] | ValueMap;
export interface ValueMap {
  readonly [key: string]: Value;
}

/** Deepest nesting of lists and maps that a value may have. */
export const MAX_DEPTH = 128;
const KEY = /^[A-Za-z0-9_.:-]{1,64}$/;

/** The canonical bytes of `value`. Throws E_CODEC. O(size). */
export function encode(value: Value): Uint8Array {
  return Buffer.from(text(value, '', 0), 'utf8');
}

/** The bytes of `value` and their CID. */
export function encodeBlock(value: Value): { cid: Cid; bytes: Uint8Array } {
  const bytes = encode(value);
  return { cid: cidOf('dag-json', bytes), bytes };
}

/** The value of canonical bytes, deeply frozen. Throws E_CODEC for any other spelling of the same value. O(size). */
export function decode(bytes: Uint8Array): Value {
  let value: Value;
  try {
    value = JSON.parse(new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)) as Value;
  } catch (cause) {
    fail('E_CODEC', { found: cause instanceof Error ? cause.message : 'unreadable bytes', cause });
  }
  if (Buffer.compare(encode(value), bytes) !== 0)
    fail('E_CODEC', { wanted: 'canonical spelling', found: 'another' });
  return deepFreeze(value);
}

/** Freezes a value and all it holds; returns it. */
export function deepFreeze<T>(value: T): T {
  if (typeof value === 'object' && value !== null && !Object.isFrozen(value)) {
    Object.freeze(value);
    for (const part of Object.values(value)) deepFreeze(part);
  }
  return value;
}

export function isLink(value: unknown): value is Link {
  return isPlain(value) && Object.keys(value).length === 1 && isCid(value['/']);
}

export function isBytes(value: unknown): value is Bytes {
  if (!isPlain(value) || Object.keys(value).length !== 1) return false;
  const inner = value['/'];
  if (!isPlain(inner) || Object.keys(inner).length !== 1 || typeof inner.bytes !== 'string') return false;
  return unpadded(Buffer.from(inner.bytes, 'base64')) === inner.bytes;
}

/** `bytes` as a dag-json value. */
export function toBytes(bytes: Uint8Array): Bytes {
  return deepFreeze({ '/': { bytes: unpadded(bytes) } });
}

export function fromBytes(value: Bytes): Uint8Array {
  return Buffer.from(value['/'].bytes, 'base64');
}

const unpadded = (bytes: Uint8Array): string => Buffer.from(bytes).toString('base64').replace(/=+$/, '');

function isPlain(value: unknown): value is Record<string, unknown> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false;
  const prototype = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}

function text(value: unknown, at: string, depth: number): string {
  if (value === null || typeof value === 'boolean') return String(value);
  if (typeof value === 'number') return integer(value, at);
  if (typeof value === 'string') return string(value, at);
  if (depth >= MAX_DEPTH)
    fail('E_CODEC', { where: at, wanted: `at most ${MAX_DEPTH} levels`, found: 'more' });
  if (Array.isArray(value)) return list(value, at, depth);
  if (isPlain(value)) return '/' in value ? special(value, at) : map(value, at, depth);
  return fail('E_CODEC', {
    where: at || '/',
    wanted: 'null, boolean, integer, string, list, map, link or bytes',
    found: typeof value,
  });
}

function integer(value: number, at: string): string {
  if (!Number.isSafeInteger(value) || Object.is(value, -0)) {
    fail('E_CODEC', {
      where: at || '/',
      wanted: 'an integer within +-(2^53-1)',
      found: Object.is(value, -0) ? '-0' : String(value),
    });
  }
  return String(value);
}

function string(value: string, at: string): string {
  if (!value.isWellFormed())
    fail('E_CODEC', { where: at || '/', wanted: 'well-formed Unicode', found: 'a lone surrogate' });
  return JSON.stringify(value);
}

function list(value: readonly unknown[], at: string, depth: number): string {
  const parts: string[] = [];
  for (let i = 0; i < value.length; i++) parts.push(text(value[i], `${at}/${i}`, depth + 1));
  return `[${parts.join(',')}]`;
}

function map(value: Record<string, unknown>, at: string, depth: number): string {
  const parts: string[] = [];
  for (const key of Object.keys(value).sort()) {
    if (!KEY.test(key) || key === '__proto__') {
      fail('E_CODEC', { where: at || '/', wanted: `a key of ${KEY.source}`, found: JSON.stringify(key) });
    }
    parts.push(`"${key}":${text(value[key], `${at}/${key}`, depth + 1)}`);
  }
  return `{${parts.join(',')}}`;
}

function special(value: Record<string, unknown>, at: string): string {
  if (isLink(value)) return `{"/":"${value['/']}"}`;
  if (isBytes(value)) return `{"/":{"bytes":"${value['/'].bytes}"}}`;
  return fail('E_CODEC', {
    where: at || '/',
    wanted: 'a link or bytes',
    found: 'another map with the key "/"',
  });
}
