/**
 * Where a store's owner listens.
 * Promises: a path under 100 bytes (sun_path holds 108), the same for every process of one user, in a folder that only
 * this user can enter.
 */
import { chmodSync, lstatSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { getuid } from 'node:process';
import { ensureFolder } from '../../store/files.ts';
import { sha256Hex } from '../../store/format/crypto.ts';
import { fail } from '../../store/format/errors.ts';

/** Longest path that every system takes (bytes). */
const LONGEST = 100;

/** The socket of the store at this real path. Makes the folder. Throws E_CONFIG where the folder is somebody else's. */
export function socketOf(
  storePath: string,
  environment: Readonly<Record<string, string | undefined>>,
): string {
  const name = `${sha256Hex(Buffer.from(storePath)).slice(0, 24)}.sock`;
  const runtime = environment.XDG_RUNTIME_DIR;
  const bases = [...(runtime === undefined || runtime === '' ? [] : [runtime]), tmpdir(), '/tmp'];
  for (const base of bases) {
    const folder = join(base, `ashlar-${getuid?.() ?? 0}`);
    const path = join(folder, name);
    if (Buffer.byteLength(path) >= LONGEST) continue;
    ownFolder(folder);
    return path;
  }
  return fail('E_CONFIG', { where: 'socket', wanted: `a path under ${LONGEST} bytes` });
}

function ownFolder(folder: string): void {
  ensureFolder(folder, 0o700);
  const found = lstatSync(folder);
  const mine = found.isDirectory() && (getuid === undefined || found.uid === getuid());
  if (!mine) fail('E_CONFIG', { where: folder, wanted: 'a folder of this user', found: 'another' });
  if ((found.mode & 0o077) !== 0) chmodSync(folder, 0o700);
}
