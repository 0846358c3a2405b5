/**
 * The executor of a name; what only one of them needs is loaded only for it.
 * Promises: opening starts nothing and asks no engine. Does not promise: that the machine can run it; `describe` asks.
 */
import { join } from 'node:path';
import { openBwrap } from './bwrap.ts';
import type { Executor } from './executor.ts';
import { openNone } from './none.ts';

export interface ExecutorOptions {
  /** Where `none` and `bwrap` keep their sandboxes, one folder each: with a neutral path, since it shows inside. */
  readonly folder: string;
}

export async function openExecutor(name: 'none' | 'bwrap', options: ExecutorOptions): Promise<Executor> {
  const folder = join(options.folder, name);
  return name === 'none' ? openNone({ folder }) : openBwrap({ folder });
}
