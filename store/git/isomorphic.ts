/**
 * The back end without a Git program: the only file that knows isomorphic-git, used for raw objects alone.
 * Promises: the bytes the other back end gives, re-hashed here, or E_GIT_LAYOUT; names and modes are never its affair.
 * Does not promise: speed or flat memory (it loads whole packs); SHA-256 repositories, alternates and index files of
 * version 1 or with 64-bit offsets.
 */
import fs from 'node:fs';
import git from 'isomorphic-git';
import { fail, isFault } from '../format/errors.ts';
import { counted } from '../format/words.ts';
import type { Layout } from './layout.ts';
import { checkedObject, fullOid, type GitObject, type GitReader, knownType, type Visit } from './reader.ts';

export function openIsomorphic(layout: Layout): GitReader {
  if (layout.algorithm !== 'sha1') refuse('a SHA-256 repository');
  if (layout.alternates) refuse('objects borrowed from another repository');
  const cache = {};
  const objects = async (oids: Iterable<string>, visit: Visit) => {
    for (const oid of oids) await visit(await object(layout, cache, fullOid(oid, layout.algorithm)));
  };
  return { algorithm: layout.algorithm, backend: 'isomorphic', objects, close: async () => undefined };
}

async function object(layout: Layout, cache: object, oid: string): Promise<GitObject> {
  try {
    const found = await git.readObject({ fs, gitdir: layout.commonDir, oid, format: 'wrapped', cache });
    const bytes = found.object as Uint8Array;
    // A loose object comes with its header, a packed one without.
    const object =
      (found.type as string) === 'wrapped' ? unwrapped(oid, bytes) : plain(oid, found.type, bytes);
    return checkedObject(layout.algorithm, object);
  } catch (cause) {
    if (cause instanceof git.Errors.NotFoundError)
      fail('E_GIT', { where: oid, wanted: 'the object', found: 'missing', cause });
    if (isFault(cause)) throw cause;
    return refuse(cause instanceof Error ? cause.message : String(cause), cause);
  }
}

function plain(oid: string, type: string | undefined, body: Uint8Array): GitObject {
  return { oid, type: knownType(type, oid), size: body.length, body };
}

function unwrapped(oid: string, bytes: Uint8Array): GitObject {
  const end = bytes.indexOf(0);
  const [type, size] = Buffer.from(bytes.subarray(0, Math.max(end, 0)))
    .toString('latin1')
    .split(' ');
  const object = plain(oid, type, bytes.subarray(end + 1));
  if (size !== String(object.size))
    fail('E_DIGEST', { where: oid, wanted: counted(object.size, 'byte'), found: String(size) });
  return object;
}

function refuse(found: string, cause?: unknown): never {
  return fail('E_GIT_LAYOUT', {
    wanted: 'a repository that isomorphic-git can read',
    found,
    hint: 'with git on PATH the other back end reads it',
    cause,
  });
}
