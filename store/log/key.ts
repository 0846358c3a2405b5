/**
 * The log key: an Ed25519 seed in a file outside the store, and beside it what it last signed for each log.
 * Promises: only a file that its owner alone can read (0600) and that lies outside the store is used; a size is signed
 * with one root, even when an older copy of the store comes back.
 * Does not promise: secrecy of the file against its owner, or memory of what was signed where the folder was deleted.
 */
import { realpathSync, statSync } from 'node:fs';
import { dirname, join, sep } from 'node:path';
import { otherwiseDamaged } from '../damage.ts';
import { type Files, readWhole, writeDurably } from '../files.ts';
import { fromBase64, toBase64 } from '../format/base64.ts';
import { parseCheckpoint } from '../format/checkpoint.ts';
import { generateKey, publicKeyOf, sha256Hex } from '../format/crypto.ts';
import { fail } from '../format/errors.ts';

const PREFIX = 'ashlar-log-key:';

export interface LogKey {
  readonly path: string;
  readonly seed: Uint8Array;
  readonly publicKey: Uint8Array;
  /** First 16 hexadecimal digits of the public key's SHA-256. */
  readonly id: string;
}

/** Where the key is unless somebody says otherwise: `ASHLAR_LOG_KEY`, else `ashlar/log.key` in the configuration folder. */
export function logKeyPath(env: Readonly<Record<string, string | undefined>>): string {
  // Set to nothing is as good as not set.
  const base = env.XDG_CONFIG_HOME || join(env.HOME || '/', '.config');
  return env.ASHLAR_LOG_KEY || join(base, 'ashlar', 'log.key');
}

/** Makes a key unless there is a file already. Throws E_IO. */
export async function createLogKey(files: Files, path: string): Promise<void> {
  if (files.size(path) !== null) return;
  await files.mkdir(dirname(path));
  const { seed } = generateKey();
  const temporary = `${path}.${sha256Hex(seed).slice(0, 16)}.new`;
  await writeDurably(files, path, Buffer.from(`${PREFIX}${toBase64(seed)}\n`), temporary, 0o600);
}

/** The key, or null where there is no file. Throws E_LOG_KEY for one that is unfit. */
export function loadLogKey(files: Files, path: string, storeRoot: string): LogKey | null {
  const bytes = readWhole(files, path);
  if (bytes === null) return null;
  const real = realpathSync(path);
  if (`${real}${sep}`.startsWith(`${realpathSync(storeRoot)}${sep}`))
    fail('E_LOG_KEY', { where: path, wanted: 'a file outside the store', found: 'one inside' });
  const mode = statSync(real).mode & 0o777;
  if ((mode & 0o077) !== 0)
    fail('E_LOG_KEY', { where: path, wanted: 'mode 0600', found: `0${mode.toString(8)}` });
  const text = Buffer.from(bytes).toString('latin1');
  const seed = text.startsWith(PREFIX) ? fromBase64(text.slice(PREFIX.length).trimEnd()) : undefined;
  if (seed?.length !== 32)
    fail('E_LOG_KEY', { where: path, wanted: `${PREFIX}<base64>`, found: 'another text' });
  const publicKey = publicKeyOf(seed);
  return { path, seed, publicKey, id: sha256Hex(publicKey).slice(0, 16) };
}

const signedPath = (key: LogKey, origin: string): string =>
  join(`${key.path}.signed`, sha256Hex(Buffer.from(`${key.id}\n${origin}`)).slice(0, 32));

export interface Signed {
  readonly size: number;
  /** 32 bytes. */
  readonly root: Uint8Array;
}

/** What this key last signed for this log, or null. Throws E_STORE_DAMAGED. */
export function lastSigned(files: Files, key: LogKey, origin: string): Signed | null {
  const path = signedPath(key, origin);
  const bytes = readWhole(files, path);
  if (bytes === null) return null;
  return otherwiseDamaged(path, 'what this key last signed', () =>
    parseCheckpoint(Buffer.from(bytes).toString()),
  );
}

/** Remembers, before the signature leaves, the text about to be signed. */
export async function rememberSigned(files: Files, key: LogKey, origin: string, text: string): Promise<void> {
  const path = signedPath(key, origin);
  await files.mkdir(dirname(path));
  const temporary = `${path}.${sha256Hex(Buffer.from(text)).slice(0, 16)}.new`;
  await files.remove(temporary);
  await writeDurably(files, path, Buffer.from(text), temporary, 0o600);
}
