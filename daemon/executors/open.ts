/**
 * The executor of a name; what only one of them needs is loaded only for it.
 * Promises: opening starts nothing and asks no engine. Does not promise: that the machine can run it; `describe` asks.
 */
import { join } from 'node:path';
import type { Reader } from '../../store/format/reader.ts';
import { openBwrap } from './bwrap.ts';
import type { Executor, ExecutorName, Image } from './executor.ts';
import { openNone } from './none.ts';

export interface ExecutorOptions {
  /** Where `none` and `bwrap` keep their sandboxes, one folder each; a neutral path, since it shows inside. */
  readonly folder: string;
  /** For `docker`: the engine, as DOCKER_HOST spells it; default: that variable, else the local socket. */
  readonly host?: string;
  /** For `docker`: an image that holds `node`, for the relay and the lister; default: the sandbox's own. */
  readonly tools?: { readonly image: Image; readonly reader: Reader };
}

export async function openExecutor(name: ExecutorName, options: ExecutorOptions): Promise<Executor> {
  const { folder, ...engine } = options;
  // Not the executor's name: `none` is also what every study calls its control, and the path shows inside.
  if (name === 'none') return openNone({ folder: join(folder, 'plain') });
  if (name === 'bwrap') return openBwrap({ folder: join(folder, name) });
  const { openDocker } = await import('./docker/docker.ts');
  return openDocker(engine);
}
