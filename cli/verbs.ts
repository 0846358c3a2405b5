/** Every verb that works, in the order of use. A verb that is not here does not exist. */
import type { Verb } from './verb.ts';

export interface Entry {
  readonly brief: string;
  readonly load: () => Promise<{ readonly command: Verb }>;
}

const entry = (brief: string, load: Entry['load']): Entry => ({ brief, load });

export const VERBS: Readonly<Record<string, Entry>> = {
  init: entry('Make an empty store', () => import('./verbs/init.ts')),
  put: entry('Store a file, a folder or standard input; print its CID', () => import('./verbs/put.ts')),
  get: entry('Write an object to standard output, a file or a folder', () => import('./verbs/get.ts')),
  show: entry('Show an object and what it is connected to', () => import('./verbs/show.ts')),
  ls: entry('List kinds, the records of a kind, or the entries of a tree', () => import('./verbs/ls.ts')),
  log: entry('List the logs, or the leaves of one', () => import('./verbs/log.ts')),
  name: entry('List names, read one, or point one at an object', () => import('./verbs/name.ts')),
  check: entry('Look at a whole store and name what is wrong', () => import('./verbs/check.ts')),
  corpus: entry(
    'Package a Git commit, redacted, so that its tree id can be had back',
    () => import('./verbs/corpus.ts'),
  ),
  redact: entry('Say what redaction takes out of a folder', () => import('./verbs/redact.ts')),
  certify: entry(
    'Say what gives a benchmark away, in a folder or a fixture',
    () => import('./verbs/certify.ts'),
  ),
  freeze: entry('Freeze a challenge, fixture, condition or agent', () => import('./verbs/freeze.ts')),
  accept: entry('Let one content finding stand', () => import('./verbs/accept.ts')),
  validate: entry(
    'Run every solution of a challenge through its verifier',
    () => import('./verbs/validate.ts'),
  ),
  study: entry('Register a study', () => import('./verbs/study.ts')),
  pending: entry('List the plans that wait for a run', () => import('./verbs/pending.ts')),
  why: entry('Say why something runs, or does not', () => import('./verbs/why.ts')),
  run: entry('Run what is pending, once', () => import('./verbs/run.ts')),
  daemon: entry('Own the store, serve it, and run what becomes pending', () => import('./verbs/daemon.ts')),
  audit: entry(
    'List every difference between two folders, or those of a run',
    () => import('./verbs/audit.ts'),
  ),
  admit: entry('Decide which runs count', () => import('./verbs/admit.ts')),
  override: entry('Decide against the mechanical decision about a run', () => import('./verbs/override.ts')),
  amend: entry('Amend a registered study, or say what went otherwise', () => import('./verbs/amend.ts')),
  close: entry('Close a study at what its log holds now', () => import('./verbs/close.ts')),
  report: entry('Print the report of a close', () => import('./verbs/report.ts')),
  release: entry('Publish a close as a folder', () => import('./verbs/release.ts')),
  verify: entry('Re-derive a release from its own bytes', () => import('./verbs/verify.ts')),
  provisioner: entry(
    'Say whether a memory product can be measured here',
    () => import('./verbs/provisioner.ts'),
  ),
  mirror: entry('Serve a store to strangers, or take what another serves', () => import('./verbs/mirror.ts')),
  stats: entry('Compute an exact statistic, or one a line', () => import('./verbs/stats.ts')),
  demo: entry('Run the whole path on built-in examples', () => import('./verbs/demo.ts')),
};
