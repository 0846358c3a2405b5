/** `corpus` on this project's own repository: the commit's tree id comes out of corpus and redaction, by either back end. */
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import t from 'tap';
import { importCorpus } from '../../../daemon/freeze/corpus.ts';
import { openTrigger } from '../../../daemon/trigger.ts';
import { viewOf } from '../../../daemon/view.ts';
import { KIND_TABLE } from '../../../rules/contracts/table.ts';
import { viewAs } from '../../../rules/runs.ts';
import { gitTreeOidWithRemoved } from '../../../store/format/git-tree.ts';
import { initStore, openStore } from '../../../store/open.ts';

const ROOT = fileURLToPath(new URL('../../../..', import.meta.url));
const git = (...args: string[]) => execFileSync('git', ['-C', ROOT, ...args], { encoding: 'utf8' }).trim();

t.test('the tree id of this repository is recomputed from corpus and redaction', async (t) => {
  const commit = git('rev-parse', 'HEAD');
  const folder = t.testdir();
  const logKey = join(folder, 'log.key');
  await initStore(join(folder, 'store'), { logKey });
  const store = await openStore(join(folder, 'store'), {
    kinds: KIND_TABLE,
    clock: () => new Date(0),
    logKey,
  });
  t.teardown(() => store.close());
  const trigger = openTrigger(store);
  const made = await importCorpus(store, trigger, { repository: ROOT, commit, backend: 'git' });
  const again = await importCorpus(store, trigger, { repository: ROOT, commit, backend: 'isomorphic' });
  t.same(again, made, 'both back ends give the same records');
  const view = viewOf(store);
  const corpus = await viewAs('corpus', made.corpus, view);
  const redaction = await viewAs('redaction', made.redaction, view);
  if (!('tree' in corpus) || !('removed' in redaction)) return t.fail('a corpus was refused');
  const oid = await gitTreeOidWithRemoved(store, corpus.tree['/'], redaction.removed, [], 'sha1');
  t.equal(oid, git('rev-parse', 'HEAD^{tree}'));
});
