/** What a study's registered tests can find, from its records: what the `study` verb prints and the freeze is gated by. */
import type { Design } from '../../rules/contracts/summary.ts';
import { clusterLabels } from '../../rules/power/clusters.ts';
import { type DesignTask, designOf } from '../../rules/power/design.ts';
import type { View } from '../../rules/rule.ts';
import { viewAs } from '../../rules/runs.ts';
import type { Cid } from '../../store/format/cid.ts';
import { fail } from '../../store/format/errors.ts';

export interface DesignPair {
  readonly challenge: Cid;
  readonly fixture: Cid;
  readonly arms: readonly string[];
}

/** The planned tasks of a study's pairs with what they hang on. Throws E_NOT_FOUND, E_KIND, E_GATE. */
export async function designTasks(pairs: readonly DesignPair[], view: View): Promise<DesignTask[]> {
  const read = [];
  for (const { challenge: at, fixture, arms } of pairs) {
    const challenge = await viewAs('challenge', at, view);
    read.push({ challenge, arms, repository: await repositoryOf(fixture, view) });
  }
  const labels = clusterLabels(
    read.map(({ challenge, repository }) => ({
      challenge: challenge.id,
      lessons: challenge.lessons,
      repository,
    })),
  );
  return read.map(({ challenge: { id, taskFamily }, arms }) => {
    const { lesson = id, repository = id } = labels.get(id) ?? {};
    return { challenge: id, taskFamily, arms, lesson, repository };
  });
}

async function repositoryOf(fixture: Cid, view: View): Promise<string | undefined> {
  const { corpus: at } = await viewAs('fixture', fixture, view);
  const corpus = await viewAs('corpus', at['/'], view);
  if (!('source' in corpus))
    fail('E_GATE', { where: at['/'], wanted: 'a readable corpus', found: 'a refused one' });
  return (await viewAs('source', corpus.source['/'], view)).repository;
}

/** The design of a registered study. */
export async function designOfStudy(study: Cid, view: View): Promise<Design> {
  const value = await viewAs('study', study, view);
  const pairs: DesignPair[] = [];
  for (const { challenge, fixture, conditions } of value.pairs) {
    const arms = [];
    for (const each of conditions) arms.push((await viewAs('condition', each['/'], view)).name);
    pairs.push({ challenge: challenge['/'], fixture: fixture['/'], arms });
  }
  return designOf(value, await designTasks(pairs, view));
}
