/** A Git commit -> source, redaction and corpus records. */

import { CERTIFICATION_POLICY } from '../../rules/certify/policy-v1.ts';
import { corpusV1 } from '../../rules/corpus/v1.ts';
import { REDACTION_POLICY } from '../../rules/redact/patterns-v1.ts';
import { redactV1 } from '../../rules/redact/v1.ts';
import { derivedBy, viewAs } from '../../rules/runs.ts';
import { type Cid, digestOf, evidence, link } from '../../store/format/cid.ts';
import type { Value } from '../../store/format/codec.ts';
import { fail } from '../../store/format/errors.ts';
import { importCommit } from '../../store/git/import.ts';
import { type GitOptions, openGit } from '../../store/git/open.ts';
import type { Store } from '../../store/store.ts';
import type { Trigger } from '../trigger.ts';
import { viewOf } from '../view.ts';

export interface CorpusAsked extends GitOptions {
  /** Folder of the repository. */
  readonly repository: string;
  /** Full commit id. */
  readonly commit: string;
  /** Public address to write into the record; never a path. */
  readonly url?: string;
}

export interface CorpusMade {
  readonly source: Cid;
  readonly redaction: Cid;
  readonly corpus: Cid;
}

/** The policies that rules bind: blocks that must be there before the records that lead to them. */
export async function putPolicies(store: Store): Promise<void> {
  for (const { bytes } of [REDACTION_POLICY, CERTIFICATION_POLICY]) await store.put(bytes);
}

/** Imports a commit and derives its corpus. Idempotent. Throws E_GIT*, E_GATE where the tree id does not come out. */
export async function importCorpus(store: Store, trigger: Trigger, asked: CorpusAsked): Promise<CorpusMade> {
  await putPolicies(store);
  const source = await recordSource(store, asked);
  await trigger.settle();
  const view = viewOf(store);
  const redaction = await derivedBy(redactV1, source, view);
  const corpus = await derivedBy(corpusV1, source, view);
  if (redaction === undefined || corpus === undefined) {
    fail('E_INTERNAL', { where: 'corpus', wanted: 'a derived corpus', found: 'none' });
  }
  const value = await viewAs('corpus', corpus.cid, view);
  if ('refused' in value)
    fail('E_GATE', { where: asked.commit, wanted: 'a corpus', found: value.refused.detail });
  return { source, redaction: redaction.cid, corpus: corpus.cid };
}

async function recordSource(
  store: Store,
  { repository, commit, url, ...options }: CorpusAsked,
): Promise<Cid> {
  const git = await openGit(repository, options);
  try {
    const imported = await importCommit(git, commit, store.put);
    const record = {
      kind: 'source',
      v: 1,
      ...(url === undefined ? {} : { repository: url }),
      algorithm: git.algorithm,
      commit: imported.commit,
      commitObject: link(imported.commitRaw),
      treeOid: imported.treeOid,
      oddTrees: imported.oddTrees.map(({ path, oid, cid }) => ({ path, oid, object: link(cid) })),
      tree: evidence(digestOf(imported.tree)),
    };
    return (await store.record(record as unknown as Value)).cid;
  } finally {
    await git.close();
  }
}
