/**
 * Where the model key comes from: an environment variable, or a git-ignored .env file. Nowhere else.
 * Promises: the key is handed to the meter only; no fault, log line or record of ours holds it.
 * Does not promise: that the file is unreadable to root, or that the key is valid.
 */
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { fail } from '../../store/format/errors.ts';

/** The variable's name, in the environment and in the file. */
export const KEY_VARIABLE = 'ASHLAR_MODEL_KEY';
/** Printable, no white space; long enough that finding it in a body is no accident. */
const KEY = /^[\x21-\x7e]{16,512}$/;

export interface KeySource {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Path of a .env file, if one is configured. The environment wins. */
  readonly file?: string;
}

/** The key, or nothing where none is configured. Throws E_CONFIG for an unfit key or a file that Git would take. */
export function readKey({ env, file }: KeySource): string | undefined {
  const found = env[KEY_VARIABLE] ?? (file === undefined ? undefined : keyOfFile(resolve(file)));
  if (found === undefined || found === '') return undefined;
  if (!KEY.test(found)) {
    fail('E_CONFIG', {
      where: KEY_VARIABLE,
      wanted: '16 to 512 printable characters',
      found: 'another value',
    });
  }
  return found;
}

function keyOfFile(file: string): string | undefined {
  if (!existsSync(file)) return undefined;
  if (!isIgnored(file)) {
    fail('E_CONFIG', {
      where: file,
      wanted: 'a key file that Git ignores',
      found: 'a file that could be committed',
      hint: 'Add it to .gitignore, or give the key in the environment',
    });
  }
  for (const line of readFileSync(file, 'utf8').split('\n')) {
    const match = /^(?:export )?ASHLAR_MODEL_KEY=(?:"([^"]*)"|'([^']*)'|(.*?))\s*$/.exec(line);
    if (match !== null) return match[1] ?? match[2] ?? match[3];
  }
  return undefined;
}

/** Outside any work tree nothing can be committed; inside one, only Git's own answer counts. */
function isIgnored(file: string): boolean {
  if (!inWorkTree(dirname(file))) return true;
  const asked = spawnSync('git', ['check-ignore', '-q', '--', file], { cwd: dirname(file), stdio: 'ignore' });
  return asked.status === 0;
}

function inWorkTree(folder: string): boolean {
  if (existsSync(join(folder, '.git'))) return true;
  const parent = dirname(folder);
  return parent !== folder && inWorkTree(parent);
}
