/**
 * What the importer asks of a Git repository: raw objects by full id, in the order asked, each re-hashed.
 * Promises: an object handed out has the id asked for; the last chunk of a streamed body comes only after the hash
 * has been checked.
 * Does not promise: names, refs or history; nothing here resolves anything.
 */

import { fail } from '../format/errors.ts';
import { type GitAlgorithm, type GitType, gitHasher, gitObjectId, isGitOid } from '../format/git-object.ts';

export interface GitObject {
  readonly oid: string;
  readonly type: GitType;
  readonly size: number;
  /**
   * Whole, or where it is large a stream, to be read before the visit ends. The memory is the reader's:
   * what is kept longer than a put is copied.
   */
  readonly body: Uint8Array | AsyncIterable<Uint8Array>;
}

/** Takes one object; a promise that it returns is waited for before the next object comes. */
export type Visit = (object: GitObject) => Promise<void> | undefined;

export interface GitReader {
  readonly algorithm: GitAlgorithm;
  readonly backend: 'git' | 'isomorphic';
  /**
   * Visits the objects of these ids in this order. Throws E_GIT (where: the id) for one that is absent or
   * unreadable, E_DIGEST for one with other bytes, E_GIT_REF for what is not a full id, E_GIT_LAYOUT for what this
   * back end cannot read, and what `visit` throws.
   */
  objects(oids: Iterable<string>, visit: Visit): Promise<void>;
  /** Ends child processes; the reader is of no use afterwards. */
  close(): Promise<void>;
}

const TYPES: readonly string[] = ['blob', 'tree', 'commit', 'tag'];

/** Throws E_GIT for an object type Git has not. */
export function knownType(type: string | undefined, oid: string): GitType {
  if (type === undefined || !TYPES.includes(type))
    fail('E_GIT', { where: oid, wanted: TYPES.join(', '), found: String(type) });
  return type as GitType;
}

/** Throws E_GIT_REF unless `oid` is a full lower-case id of this algorithm: refs, short ids and capitals are none. */
export function fullOid(oid: string, algorithm: GitAlgorithm): string {
  if (isGitOid(oid, algorithm)) return oid;
  return fail('E_GIT_REF', {
    wanted: `a full lower-case ${algorithm} object id`,
    found: JSON.stringify(oid),
    hint: 'git rev-parse <name> prints one',
  });
}

/** The same object, or E_DIGEST. A streamed body is checked as it is read. */
export function checkedObject(algorithm: GitAlgorithm, object: GitObject): GitObject {
  const { body, oid, type, size } = object;
  if (body instanceof Uint8Array) {
    same(oid, gitObjectId(algorithm, type, body));
    return object;
  }
  return { ...object, body: checkedStream(algorithm, { ...object, body }, size) };
}

async function* checkedStream(
  algorithm: GitAlgorithm,
  object: GitObject & { readonly body: AsyncIterable<Uint8Array> },
  size: number,
): AsyncGenerator<Uint8Array, void, void> {
  const running = gitHasher(algorithm, object.type, size);
  let last: Uint8Array | undefined;
  for await (const chunk of object.body) {
    if (last !== undefined) yield last;
    running.update(chunk);
    last = chunk;
  }
  same(object.oid, running.hex());
  if (last !== undefined) yield last;
}

function same(wanted: string, found: string): void {
  if (wanted !== found) fail('E_DIGEST', { where: 'Git object', wanted, found });
}

/** One object with its whole body: a commit, a tag, a tree. Throws what `objects` throws. */
export async function readWhole(
  reader: GitReader,
  oid: string,
): Promise<{ readonly type: GitType; readonly body: Uint8Array }> {
  let found: { type: GitType; body: Uint8Array } | undefined;
  await reader.objects([oid], async ({ type, body }) => {
    found = { type, body: Uint8Array.from(await whole(body)) };
  });
  return found ?? fail('E_INTERNAL', { where: oid, wanted: 'an answer for each id asked', found: 'none' });
}

/** All bytes of a body. */
export async function whole(body: GitObject['body']): Promise<Uint8Array> {
  if (body instanceof Uint8Array) return body;
  const parts: Uint8Array[] = [];
  for await (const part of body) parts.push(part);
  return Buffer.concat(parts);
}
