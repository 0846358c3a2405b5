/** What the bench of the store runs beside it: the same blocks put and got by others. */
import { execFileSync } from 'node:child_process';
import { hash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { Level } from 'level';

interface Cacache {
  put(folder: string, key: string, bytes: Uint8Array, options: { algorithms: string[] }): Promise<unknown>;
}

/** It has no types of its own. */
const cacache = createRequire(import.meta.url)('cacache') as Cacache;

const TOGETHER = 16;

/** Sixteen puts at once. It never syncs. */
export async function putCacache(folder: string, blocks: readonly Uint8Array[]): Promise<void> {
  for (let i = 0; i < blocks.length; i += TOGETHER)
    await Promise.all(
      blocks
        .slice(i, i + TOGETHER)
        .map((bytes, k) => cacache.put(folder, `${i + k}`, bytes, { algorithms: ['sha256'] })),
    );
}

/** A pack of all blocks in a repository of SHA-256, uncompressed. */
export function fastImport(folder: string, blocks: readonly Uint8Array[]): void {
  execFileSync('git', ['init', '-q', '--bare', '--object-format=sha256', folder]);
  const input = Buffer.concat(
    blocks.flatMap((bytes) => [Buffer.from(`blob\ndata ${bytes.length}\n`), bytes, Buffer.from('\n')]),
  );
  const command = ['-C', folder, '-c', 'core.compression=0', 'fast-import', '--quiet'];
  execFileSync('git', command, { input });
}

export interface LevelPeer {
  /** Awaits each block and hashes it. */
  getAll(order: readonly number[]): Promise<void>;
  close(): Promise<void>;
}

export async function openLevelPeer(folder: string, blocks: readonly Uint8Array[]): Promise<LevelPeer> {
  const db = new Level<string, Uint8Array>(folder, { valueEncoding: 'view' });
  const keys = blocks.map((bytes) => hash('sha256', bytes, 'hex'));
  await db.batch(blocks.map((value, i) => ({ type: 'put', key: keys[i] as string, value })));
  return {
    async getAll(order) {
      for (const i of order) {
        const bytes = await db.get(keys[i] as string);
        if (bytes === undefined || hash('sha256', bytes, 'hex') !== keys[i]) throw new Error('another block');
      }
    },
    close: () => db.close(),
  };
}

/** CPU of the children that have ended, in ms (proc(5), fields 16 and 17, 10 ms a tick); 0 where there is no /proc. */
export function childrenCpu(): number {
  try {
    const fields = readFileSync('/proc/self/stat', 'latin1').split(') ')[1]?.split(' ') ?? [];
    return 10 * (Number(fields[13]) + Number(fields[14]));
  } catch {
    return 0;
  }
}
