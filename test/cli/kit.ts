/** Running the command line as its users do: a process of its own, in a folder and with a configuration of its own. */
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { execPath } from 'node:process';

export const root = join(import.meta.dirname, '../../..');
export const bin = join(root, 'dist/cli/main.js');

export interface Ran {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
}

export interface Options {
  readonly input?: string | Uint8Array;
  readonly cwd?: string;
  readonly env?: Record<string, string>;
}

export interface Desk {
  readonly folder: string;
  readonly env: NodeJS.ProcessEnv;
  /** Runs `ashlar` with these words. */
  ashlar(args: readonly string[], options?: Options): Promise<Ran>;
  /** The same, which must end with 0; gives stdout without its last newline. */
  ok(...args: string[]): Promise<string>;
  clear(): void;
}

export function openDesk(): Desk {
  const folder = mkdtempSync(join(tmpdir(), 'desk-'));
  const { ASHLAR_STORE: _store, ASHLAR_LOG_KEY: _key, NO_COLOR: _colour, ...rest } = process.env;
  const env = { ...rest, XDG_CONFIG_HOME: join(folder, 'config') };
  const ashlar = (args: readonly string[], options: Options = {}) =>
    ran(execPath, [bin, ...args], { cwd: folder, ...options, env: { ...env, ...options.env } });
  return {
    folder,
    env,
    ashlar,
    async ok(...args) {
      const { code, out, err } = await ashlar(args);
      if (code !== 0) throw new Error(`ashlar ${args.join(' ')} ended with ${code}: ${err}`);
      return out.trimEnd();
    },
    clear: () => rmSync(folder, { recursive: true, force: true }),
  };
}

/** Runs a program to its end. */
export function ran(
  program: string,
  args: readonly string[],
  { input, cwd, env }: { input?: string | Uint8Array; cwd?: string; env?: NodeJS.ProcessEnv },
): Promise<Ran> {
  const child = spawn(program, args, { cwd, env, stdio: ['pipe', 'pipe', 'pipe'] });
  const [out, err] = [[] as Buffer[], [] as Buffer[]];
  child.stdout.on('data', (chunk: Buffer) => out.push(chunk));
  child.stderr.on('data', (chunk: Buffer) => err.push(chunk));
  child.stdin.on('error', () => {});
  child.stdin.end(input ?? '');
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (code) =>
      resolve({ code, out: Buffer.concat(out).toString(), err: Buffer.concat(err).toString() }),
    );
  });
}

/** The values of `--json` output. */
export const lines = <T = Record<string, unknown>>(out: string): T[] =>
  out
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as T);
