/**
 * The client of a memory product: the executable that restores, snapshots and destroys its state for one run.
 * Promises: one JSON object in, exactly one out, checked by every rule of refusal.ts; raw replies come back beside the
 * parsed ones; nothing here names a condition.
 * Does not promise: that the product's state is what it says; see rules/provision/judge.ts.
 *
 * `<argv...> <verb>` runs with the folder `work` as its working directory and in ASHLAR_PROVISIONER_ROOT; a `path` in
 * the input is relative to it. The folder is the same for all calls of one provisioner, and what is in it is kept.
 */
import { realpathSync } from 'node:fs';
import { z } from 'zod';
import { ensureFolder } from '../../store/files.ts';
import { fail } from '../../store/format/errors.ts';
import { canonicalJson, type Json } from '../../store/format/json.ts';
import { type Artifact, handOver } from './artifact.ts';
import { callProvisioner } from './call.ts';
import { type Reply, readReply, type Verb } from './protocol.ts';

export interface ProvisionerConfig {
  /** Program and first arguments; no shell reads them. */
  readonly argv: readonly string[];
  /** Folder that artifacts are taken from. */
  readonly root: string;
  /** Folder of the provisioner itself: verified copies of artifacts, and whatever it keeps there. */
  readonly work: string;
  readonly timeoutSeconds: number;
  /** Most bytes of one reply. */
  readonly maxBytes: number;
  /** Added to PATH and LANG, which is all that is inherited. */
  readonly env?: Readonly<Record<string, string>>;
  /** The product has the optional verb. */
  readonly recall?: boolean;
}

/** A reply: what it says, and its bytes. */
export interface Answer<T> {
  readonly value: T;
  readonly raw: Uint8Array;
  /** Bounded, for the operator. */
  readonly stderr: string;
}

export interface RestoreInput {
  readonly fixture: string;
  /** Null: the empty memory of a control. */
  readonly graphArm: string | null;
  /** Different for every run; tells nothing else. */
  readonly runIdentity: string;
  readonly artifacts: { readonly evidenceCorpus: Artifact | null; readonly graph: Artifact | null };
}
export interface RecallInput {
  readonly project: string;
  readonly query: string;
  readonly channel: string;
  readonly limit: number;
}

/** All throw E_PROVISION with `data.rule`. */
export interface Provisioner {
  restore(input: RestoreInput): Promise<Answer<Reply<'restore'>>>;
  snapshot(input: { project: string }): Promise<Answer<Reply<'snapshot'>>>;
  destroy(input: { project: string }): Promise<Answer<Reply<'destroy'>>>;
  /** Only where the configuration says that the product has it. */
  recall?(input: RecallInput): Promise<Answer<Reply<'recall'>>>;
}

const text = () => z.string().min(1).max(4096);
const artifact = () =>
  z.strictObject({ path: text(), sha256: z.string().regex(/^[0-9a-f]{64}$/) }).nullable();
const inputs = {
  restore: z.strictObject({
    fixture: text(),
    graph_arm: text().nullable(),
    run_identity: text(),
    artifacts: z.strictObject({ evidence_corpus: artifact(), graph: artifact() }),
  }),
  snapshot: z.strictObject({ project: text() }),
  destroy: z.strictObject({ project: text() }),
  recall: z.strictObject({
    project: text(),
    query: z.string(),
    channel: text(),
    limit: z.int().min(1).max(1000),
  }),
};

/** Makes `work` if it is not there. Throws E_CONFIG for a root that is no folder, or no program. */
export function openProvisioner(config: ProvisionerConfig): Provisioner {
  if (config.argv.length === 0)
    fail('E_CONFIG', { where: 'provisioner argv', wanted: 'a program', found: 'nothing' });
  const root = folder(config.root, 'provisioner root');
  ensureFolder(config.work, 0o700);
  const work = folder(config.work, 'provisioner work');
  const ask = async <V extends Verb>(verb: V, input: Json): Promise<Answer<Reply<V>>> => {
    const read = inputs[verb].safeParse(input);
    if (!read.success) fail('E_CONFIG', { where: `provisioner ${verb}`, found: z.prettifyError(read.error) });
    const said = await callProvisioner({
      argv: config.argv,
      verb,
      input: `${canonicalJson(input)}\n`,
      cwd: work,
      env: environment(config.env, work),
      timeoutSeconds: config.timeoutSeconds,
      maxBytes: config.maxBytes,
    });
    return { value: readReply(verb, said), raw: said.stdout, stderr: said.stderr };
  };
  const handed = (wanted: Artifact | null): Json =>
    wanted === null ? null : { ...handOver(wanted, { root, work }) };
  return {
    restore: async ({ fixture, graphArm, runIdentity, artifacts }) =>
      ask('restore', {
        fixture,
        graph_arm: graphArm,
        run_identity: runIdentity,
        artifacts: { evidence_corpus: handed(artifacts.evidenceCorpus), graph: handed(artifacts.graph) },
      }),
    snapshot: ({ project }) => ask('snapshot', { project }),
    destroy: ({ project }) => ask('destroy', { project }),
    ...(config.recall === true ? { recall: ({ ...input }: RecallInput) => ask('recall', input) } : {}),
  };
}

function environment(more: ProvisionerConfig['env'] = {}, work: string): Record<string, string> {
  const { PATH = '/usr/local/bin:/usr/bin:/bin' } = process.env;
  return { PATH, LANG: 'C.UTF-8', ...more, ASHLAR_PROVISIONER_ROOT: work };
}

function folder(path: string, where: string): string {
  try {
    return realpathSync(path);
  } catch (cause) {
    return fail('E_CONFIG', { where, wanted: 'a folder', found: path, cause });
  }
}
