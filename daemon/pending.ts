/** What is pending in a store: derived from its records each time it is asked. */
import { viewAs } from '../rules/runs.ts';
import type { Cid } from '../store/format/cid.ts';
import type { Store } from '../store/store.ts';
import { families, progressOfFamily, standingOf } from './family.ts';
import { viewOf } from './view.ts';

export interface PendingRun {
  readonly family: Cid;
  readonly plan: Cid;
  readonly challenge: string;
  readonly fixture: string;
  readonly epoch: number;
  readonly attempt: number;
  /** Arms still to start, in order. */
  readonly arms: readonly string[];
}

/** Plans with arms to start, in the order in which they will, of one family or of all. */
export async function pendingRuns(store: Store, family?: Cid): Promise<readonly PendingRun[]> {
  const view = viewOf(store);
  const pending: PendingRun[] = [];
  for (const first of family === undefined ? await families(store) : [family]) {
    for (const { plan, progress } of await progressOfFamily(store, await standingOf(store, first))) {
      if (progress.state !== 'pending') continue;
      const { shared } = plan.value;
      const challenge = await viewAs('challenge', shared.challenge['/'], view);
      const fixture = await viewAs('fixture', shared.fixture['/'], view);
      const { attempt, arms } = progress;
      const named = { challenge: challenge.id, fixture: fixture.id, epoch: shared.epoch };
      pending.push({ family: first, plan: plan.cid, ...named, attempt, arms });
    }
  }
  return pending;
}
