/**
 * Hands an artifact over: the bytes that are hashed are the bytes that the provisioner can read.
 * Promises: the way to the file holds no link (each part is opened below its held parent where the system can do
 * that); the copy has the digest asked for, lies in a folder of ours, and is complete under its name or absent.
 * Does not promise: that a provisioner leaves its own copy alone; the next call makes a new one.
 */
import {
  chmodSync,
  closeSync,
  constants,
  existsSync,
  fstatSync,
  mkdirSync,
  openSync,
  readSync,
  renameSync,
  rmSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import { hasher } from '../../store/format/crypto.ts';
import { isFault } from '../../store/format/errors.ts';
import { parsePortable } from '../../store/format/path.ts';
import { refuseProvision } from './refusal.ts';

/** A file below the fixture root, by its portable path, and the SHA-256 (64 hex digits) it must have. */
export interface Artifact {
  readonly path: string;
  readonly sha256: string;
}

const DIRECTORY = constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW;
const FILE = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;
const HELD = existsSync('/proc/self/fd');
const CHUNK = 1 << 20;

/** Copies `artifact` from `root` to `work` and gives the copy, its path relative to `work`. Throws E_PROVISION. */
export function handOver(artifact: Artifact, { root, work }: { root: string; work: string }): Artifact {
  const { sha256 } = artifact;
  if (!/^[0-9a-f]{64}$/.test(sha256)) refuseProvision('restore', 'digest-mismatch', `${sha256}: no SHA-256`);
  const fd = openBelow(root, artifact.path);
  try {
    if (!fstatSync(fd).isFile())
      refuseProvision('restore', 'path-escape', `${artifact.path}: no regular file`);
    const folder = join('artifacts', sha256);
    mkdirSync(join(work, folder), { recursive: true, mode: 0o700 });
    const path = `${folder}/${artifact.path.split('/').at(-1)}`;
    const temporary = join(work, `${path}.new`);
    rmSync(temporary, { force: true });
    const found = copyHashed(fd, temporary);
    // Dead here: a file under a name that is handed to nobody.
    if (found !== sha256) {
      rmSync(temporary);
      refuseProvision('restore', 'digest-mismatch', `${artifact.path}: ${found} instead of ${sha256}`);
    }
    chmodSync(temporary, 0o400);
    renameSync(temporary, join(work, path));
    return { path, sha256 };
  } finally {
    closeSync(fd);
  }
}

function copyHashed(from: number, to: string): string {
  const out = openSync(to, 'wx', 0o600);
  try {
    const hash = hasher();
    const chunk = Buffer.alloc(CHUNK);
    for (let size = readSync(from, chunk); size > 0; size = readSync(from, chunk)) {
      const part = chunk.subarray(0, size);
      hash.update(part);
      for (let done = 0; done < size; ) done += writeSync(out, part, done);
    }
    return hash.hex();
  } finally {
    closeSync(out);
  }
}

/** A descriptor of the file at `path`. Throws E_PROVISION for anything but a plain way down. */
function openBelow(root: string, path: string): number {
  const names = namesOf(path);
  const name = names.pop() ?? '';
  let [fd, at] = [openSync(root, DIRECTORY), root];
  const child = (next: string) => (HELD ? `/proc/self/fd/${fd}/${next}` : `${at}/${next}`);
  try {
    for (const next of names) {
      const inner = openSync(child(next), DIRECTORY);
      closeSync(fd);
      [fd, at] = [inner, `${at}/${next}`];
    }
    return openSync(child(name), FILE);
  } catch (cause) {
    const code = String((cause as { code?: unknown }).code);
    refuseProvision(
      'restore',
      code === 'ENOENT' ? 'missing-artifact' : 'path-escape',
      `${path}: ${code}`,
      cause,
    );
  } finally {
    closeSync(fd);
  }
}

function namesOf(path: string): string[] {
  try {
    return parsePortable(path).split('/');
  } catch (cause) {
    if (!isFault(cause, 'E_PATH')) throw cause;
    return refuseProvision('restore', 'path-escape', cause.data.found ?? path, cause);
  }
}
