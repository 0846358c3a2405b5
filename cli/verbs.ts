/** Every verb that works, in the order of use. A verb that is not here does not exist. */
import type { Verb } from './verb.ts';

export interface Entry {
  readonly brief: string;
  readonly load: () => Promise<{ readonly command: Verb }>;
}

export const VERBS: Readonly<Record<string, Entry>> = {
  init: { brief: 'Make an empty store', load: () => import('./verbs/init.ts') },
  put: {
    brief: 'Store a file, a folder or standard input; print its CID',
    load: () => import('./verbs/put.ts'),
  },
  get: {
    brief: 'Write an object to standard output, a file or a folder',
    load: () => import('./verbs/get.ts'),
  },
  show: { brief: 'Show an object and what it is connected to', load: () => import('./verbs/show.ts') },
  ls: {
    brief: 'List kinds, the records of a kind, or the entries of a tree',
    load: () => import('./verbs/ls.ts'),
  },
  log: { brief: 'List the logs, or the leaves of one', load: () => import('./verbs/log.ts') },
  name: { brief: 'List names, read one, or point one at an object', load: () => import('./verbs/name.ts') },
  stats: { brief: 'Compute an exact statistic, or one a line', load: () => import('./verbs/stats.ts') },
};
