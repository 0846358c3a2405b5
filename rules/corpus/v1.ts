/**
 * corpus v1: a redacted tree becomes a corpus when its commit can be had back from it.
 * Promises: the Git tree id recomputed from the clean tree, the removed entries and the odd raw trees is the one in
 * the commit object, whose own id is the source's commit. Otherwise E_GATE.
 * Does not promise: that the commit is the one its author meant; that is a matter of the full id.
 */
import { link } from '../../store/format/cid.ts';
import { fail } from '../../store/format/errors.ts';
import { commitTree, gitObjectId } from '../../store/format/git-object.ts';
import { gitTreeOidWithRemoved } from '../../store/format/git-tree.ts';
import type { Reader } from '../../store/format/reader.ts';
import type { Full } from '../contracts/kit.ts';
import type { Redaction } from '../contracts/redaction.ts';
import type { Source } from '../contracts/source.ts';
import { type Binding, defineRule, full, one } from '../rule.ts';
import { survey } from './notes.ts';

export const corpusV1 = defineRule({
  name: 'corpus',
  v: 1,
  scope: 'subject',
  gives: 'corpus',
  needs: { source: one('source'), redaction: one('redaction') },
  on: ['redaction'],
  async bind(subject): Promise<readonly Binding[]> {
    if (subject.value.kind !== 'redaction' || !('tree' in subject.value)) return [];
    return [{ inputs: { source: subject.value.source['/'], redaction: subject.cid } }];
  },
  async apply({ source, redaction }, { reader }) {
    const clean = full(redaction);
    if (clean.source['/'] !== source.cid)
      fail('E_RULE_INPUT', {
        where: redaction.cid,
        wanted: `a redaction of ${source.cid}`,
        found: clean.source['/'],
      });
    await checkIdentity(source.value, clean, reader);
    const { counts, notes } = await survey(reader, clean.tree['/']);
    return {
      source: link(source.cid),
      redaction: link(redaction.cid),
      tree: link(clean.tree['/']),
      counts: { ...counts, removed: clean.removed.length },
      notes,
    };
  },
});

/** Commit object -> commit id, commit object -> tree id, clean tree and removed entries -> tree id. Throws E_GATE, E_GIT. */
async function checkIdentity(source: Source, clean: Full<Redaction>, reader: Reader): Promise<void> {
  const commit = await reader.get(source.commitObject['/']);
  same('commit id', source.commit, gitObjectId(source.algorithm, 'commit', commit));
  same('tree of the commit', source.treeOid, commitTree(commit));
  const odd = source.oddTrees.map(({ path, oid, object }) => ({ path, oid, cid: object['/'] }));
  const { tree, removed } = clean;
  const found = await gitTreeOidWithRemoved(reader, tree['/'], removed, odd, source.algorithm);
  same('tree id recomputed from the redaction', source.treeOid, found);
}

function same(where: string, wanted: string, found: string): void {
  if (wanted !== found) fail('E_GATE', { where, wanted, found });
}
