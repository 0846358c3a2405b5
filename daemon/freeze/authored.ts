/**
 * What an author writes: JSON files read strictly, and paths that may not leave their folder.
 * Promises: an unknown field, a wrong type or a path out of the folder is E_CONTRACT or E_PATH with file and field.
 */
import { readFile, realpath, stat } from 'node:fs/promises';
import { join, sep } from 'node:path';
import type { z } from 'zod';
import { readBounded } from '../../store/bounded.ts';
import { fail, isFault } from '../../store/format/errors.ts';
import { parseJson } from '../../store/format/json.ts';
import { parsePortable } from '../../store/format/path.ts';

/** Reads a JSON file by its schema. Throws E_NOT_FOUND, E_JSON, E_CONTRACT. */
export async function readAuthored<S extends z.ZodType>(file: string, schema: S): Promise<z.infer<S>> {
  const result = schema.safeParse(await readJsonFile(file));
  if (result.success) return result.data;
  const issue = result.error.issues[0];
  return fail('E_CONTRACT', {
    where: `${file} /${issue?.path.join('/') ?? ''}`,
    found: issue?.message ?? 'another shape',
  });
}

/** Longest JSON file of an author: what `parseJson` takes. */
const JSON_BYTES = 16 << 20;

async function readJsonFile(file: string) {
  const bytes = await readBounded(file, { max: JSON_BYTES, wanted: 'a JSON file' });
  try {
    return parseJson(bytes);
  } catch (cause) {
    if (!isFault(cause, 'E_JSON')) throw cause;
    return fail('E_JSON', { ...cause.data, where: `${file} ${cause.data.where ?? ''}`.trim(), cause });
  }
}

/**
 * Where a path that an author wrote leads to. Throws E_NOT_FOUND, and E_PATH where a link, of whichever segment, leads out
 * of the folder: what lies outside is not what the author handed over.
 */
export async function placeBelow(folder: string, path: string): Promise<string> {
  const at = below(folder, path);
  const [base, real] = await Promise.all([realpath(folder), realpath(at)]).catch(refusedAt(at));
  if (!real.startsWith(`${base}${sep}`))
    fail('E_PATH', { where: at, wanted: 'a place in the folder', found: 'a link out of it' });
  return real;
}

/** The bytes of a plain file below `folder`. Throws E_NOT_FOUND, E_PATH, E_IO. */
export async function readBelow(folder: string, path: string): Promise<Uint8Array> {
  const [at, real] = [below(folder, path), await placeBelow(folder, path)];
  // Asked before it is opened: a pipe without a writer would never open.
  if (!(await stat(real)).isFile())
    fail('E_NOT_FOUND', { where: at, wanted: 'a plain file', found: 'something else' });
  return readFile(real).catch(refusedAt(at));
}

const refusedAt = (where: string) => (cause: NodeJS.ErrnoException) =>
  fail(cause.code === 'ENOENT' || cause.code === 'ENOTDIR' ? 'E_NOT_FOUND' : 'E_IO', {
    where,
    wanted: 'a readable file or folder',
    cause,
  });

/** A path below `folder`, as an author writes it. Throws E_PATH. */
export function below(folder: string, path: string): string {
  return join(folder, ...parsePortable(path).split('/'));
}
