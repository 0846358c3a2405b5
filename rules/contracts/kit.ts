/**
 * The words that contracts are written in: links, evidence, ids, decimals, decisions, derived records.
 * Promises: every record schema is strict at every level, its parsed value is frozen at every level, and its links
 * and evidence references can be listed from the schema alone.
 * Does not promise: that a linked object exists; the store checks that.
 */
import { z } from 'zod';
import { type Cid, type Evidence, isCid, isEvidence, type Link } from '../../store/format/cid.ts';
import { type Bytes, deepFreeze, isBytes } from '../../store/format/codec.ts';
import type { Name } from '../../store/format/tree.ts';

/** What a link may point at: a record kind, or a block that is no record. `*` is any of them. */
export type LinkKind = string;

/** Every link schema made by `link`, with the kinds it accepts. Read by `links.ts`. */
export const linkSchemas = z.registry<{ kinds: readonly LinkKind[] }>();
/** Every evidence schema made by `evidence`. Read by `links.ts`. */
export const evidenceSchemas = z.registry<{ evidence: true }>();

/** A CID link to one of these kinds. */
export function link(...kinds: [LinkKind, ...LinkKind[]]) {
  const schema = z.strictObject({ '/': z.custom<Cid>(isCid, 'expected a canonical CID') });
  linkSchemas.add(schema, { kinds });
  return schema as unknown as z.ZodType<Link, Link>;
}

/** An evidence reference: a digest that may be withheld and that no closure follows. */
export function evidence() {
  const schema = z.custom<Evidence>(isEvidence, 'expected sha256:<64 hex>');
  evidenceSchemas.add(schema, { evidence: true });
  return schema;
}

/** A digest of bytes that need not be in any store: a program, a build. */
export const digestText = () => z.string().regex(/^sha256:[0-9a-f]{64}$/);
/** A short name made of lower-case letters, digits and hyphens. */
export const id = () => z.string().regex(/^[a-z0-9][a-z0-9-]{0,63}$/);
/** An exact decimal: no exponent, no sign on zero. */
export const decimal = () => z.string().regex(/^(?:0|-?(?:[1-9]\d*|0(?=\.\d*[1-9]))(?:\.\d+)?|0\.0+)$/);
export const count = () => z.int().min(0).max(Number.MAX_SAFE_INTEGER);
/** An amount of money in millionths of the price table's currency. */
export const micros = count;
export const positive = () => z.int().min(1).max(Number.MAX_SAFE_INTEGER);
/** Times that a pair is run. Bounded: a study yields all its plans at once, and whoever verifies it makes them again. */
export const epochs = () => z.int().min(1).max(1000);
export const sentence = () => z.string().min(1).max(16_384);
export const hex = (digits: number) => z.string().regex(new RegExp(`^[0-9a-f]{${digits}}$`));
/** A full Git object id, SHA-1 or SHA-256. */
export const gitOid = () => z.string().regex(/^(?:[0-9a-f]{40}|[0-9a-f]{64})$/);
/** `mem_` and twelve hexadecimal digits of the text's digest. */
export const memoryId = () => z.string().regex(/^mem_[0-9a-f]{12}$/);
/** A map with free keys of the record alphabet. */
export const map = <S extends z.ZodType>(value: S) =>
  z.record(z.string().regex(/^[A-Za-z0-9_.:-]{1,64}$/), value);

/** One segment of a found path. */
export const name = () =>
  z.custom<Name>(
    (value) => (typeof value === 'string' && value.length > 0) || isBytes(value),
    'expected a name',
  );
/** A path as it was found: names from the root down. */
export const treePath = () => z.array(name());
/** A path as an author writes it: relative, POSIX, portable (DESIGN section 2, Paths). */
export const portablePath = () => z.string().refine(isPortablePath, 'expected a portable relative path');

function isPortablePath(text: string): boolean {
  if (text === '' || text.startsWith('/') || /^[A-Za-z]:/.test(text) || /[\\\0]/.test(text)) return false;
  return text.split('/').every((segment) => segment !== '' && segment !== '.' && segment !== '..');
}

/** Who decided and why: part of every decision. */
export const decision = { who: sentence(), why: sentence() };

/** What a derived record was derived from. Lists are sorted; the derivation key is the digest of this value. */
export const derivation = z.strictObject({
  rule: id(),
  v: positive(),
  inputs: map(z.union([link('*'), z.array(link('*'))])),
  parameters: map(z.union([z.string(), count()])).exactOptional(),
});
export type Derivation = z.infer<typeof derivation>;

/** A record schema: strict, with `kind` and `v`, frozen at every level once parsed. */
export function record<K extends string, S extends z.ZodRawShape>(kind: K, shape: S) {
  return z.strictObject({ kind: z.literal(kind), v: z.literal(1), ...shape }).overwrite(deepFreeze);
}

/**
 * A derived record: `derivation` beside its fields. What a rule cannot read gives `refused` instead (never both);
 * `isRefused` tells them apart.
 */
export function derived<K extends string, S extends z.ZodRawShape>(kind: K, shape: S) {
  const full = z.strictObject({ kind: z.literal(kind), v: z.literal(1), derivation, ...shape });
  const refused = z.strictObject({ kind: z.literal(kind), v: z.literal(1), derivation, refused: refusal });
  return z.union([full, refused]).overwrite(deepFreeze);
}

const refusal = z.strictObject({ code: z.string().regex(/^E_[A-Z_]+$/), detail: z.string() });
export type Refusal = z.infer<typeof refusal>;

/** The full form of a derived record. */
export type Full<T> = Exclude<T, { refused: Refusal }>;

export function isRefused<T extends { kind: string }>(value: T): value is Extract<T, { refused: Refusal }> {
  return 'refused' in value;
}

/** The `derivation` field, where a record has one. */
export function derivationOf(value: { readonly kind: string }): Derivation | undefined {
  return 'derivation' in value ? (value.derivation as Derivation) : undefined;
}

export type { Bytes };
