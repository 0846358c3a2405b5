/**
 * Close and publish: the family log up to here becomes what results are computed from, and the release its manifest.
 * Order (DESIGN section 6): close leaf -> checkpoint C1 -> summary, report -> release leaf -> checkpoint C2.
 */

import { isRefused } from '../../rules/contracts/kit.ts';
import { releaseV1 } from '../../rules/release/v1.ts';
import { reportV1 } from '../../rules/report/v1.ts';
import { keyFor, type Rule, type View } from '../../rules/rule.ts';
import { inputOf, viewAs } from '../../rules/runs.ts';
import { summaryV1 } from '../../rules/summary/v1.ts';
import { type Cid, link } from '../../store/format/cid.ts';
import type { Value } from '../../store/format/codec.ts';
import { fail } from '../../store/format/errors.ts';
import type { Store } from '../../store/store.ts';
import { familyOf, standingOf } from '../family.ts';
import { deriveOne, type Trigger } from '../trigger.ts';
import { viewOf } from '../view.ts';
import { c0Of } from './register.ts';
import { c1Of, keepC1, keepC2, leafOf } from './sealed.ts';

async function logOf(store: Store, family: Cid) {
  return (
    (await store.logs.ofFamily(family)) ?? fail('E_NOT_FOUND', { where: family, wanted: 'a family log' })
  );
}

async function joined(chunks: AsyncIterable<Uint8Array>): Promise<Uint8Array> {
  const all: Uint8Array[] = [];
  for await (const chunk of chunks) all.push(chunk);
  return Buffer.concat(all);
}

/** The close that is the log's last leaf, where the same person closed for the same reason. */
async function sameClose(
  store: Store,
  origin: string,
  size: number,
  { who, why }: { who: string; why: string },
) {
  for await (const { cid, kind } of store.logs.leaves(origin, { start: Math.max(0, size - 1), end: size })) {
    if (kind !== 'close') return undefined;
    const close = await viewAs('close', cid, viewOf(store));
    return close.who === who && close.why === why ? cid : undefined;
  }
  return undefined;
}

/** Closes a family at its log's present size. Said again while nothing was logged since, it is the same close. */
export async function closeFamily(store: Store, family: Cid, by: { who: string; why: string }): Promise<Cid> {
  const { origin, size } = await logOf(store, family);
  const same = await sameClose(store, origin, size, by);
  if (same !== undefined) {
    await keepC1(store, same);
    return same;
  }
  const entries = await store.put(await joined(store.logs.leafBytes(origin, { start: 0, end: size })));
  const root = Buffer.from(await store.logs.root(origin, size)).toString('hex');
  const { study } = await standingOf(store, family);
  const record = { kind: 'close', v: 1, ...by, study: link(study.cid), size, root, entries: link(entries) };
  const close = (await store.record(record as unknown as Value)).cid;
  // If we die before it, releasing takes it, as long as nothing was logged after the close.
  await keepC1(store, close);
  return close;
}

export interface Reported {
  readonly summary: Cid;
  readonly report: Cid;
}

/** The summary and report of a close. Throws E_GATE where a rule refused. */
export async function reportClose(store: Store, trigger: Trigger, close: Cid): Promise<Reported> {
  await trigger.settle();
  const view = viewOf(store);
  const summary = await summaryOf(close, view);
  if (summary === undefined || isRefused(summary.value)) {
    const found = summary === undefined ? 'none' : refusalOf(summary.value);
    fail('E_GATE', { where: close, wanted: 'a summary', found });
  }
  return { summary: summary.cid, report: await reportOf(store, summary.cid) };
}

/** The summary of this close: one of a later close names it too, among the decisions before it. */
async function summaryOf(close: Cid, view: View) {
  for (const cid of await view.linkers(close, 'summary')) {
    const value = await viewAs('summary', cid, view);
    const { rule, v } = value.derivation;
    if (rule === summaryV1.name && v === summaryV1.v && inputOf(value, 'close') === close)
      return { cid, value };
  }
  return undefined;
}

/** The report that binds every claim made so far; one made before them stays where it is, and is not published. */
async function reportOf(store: Store, summary: Cid): Promise<Cid> {
  const view = viewOf(store);
  const [binding] = await reportV1.bind({ cid: summary, value: await view.record(summary) }, view);
  if (binding === undefined) fail('E_INTERNAL', { where: summary, wanted: 'a report of this summary' });
  await deriveOne(reportV1 as unknown as Rule, binding, store);
  const report = await view.derived(keyFor(reportV1, binding));
  if (report === undefined) fail('E_INTERNAL', { where: summary, wanted: 'a report' });
  const value = await viewAs('report', report, view);
  if (isRefused(value)) fail('E_GATE', { where: report, wanted: 'a report', found: refusalOf(value) });
  return report;
}

const refusalOf = (value: object): string =>
  'refused' in value ? (value.refused as { detail: string }).detail : 'unreadable';

/**
 * Derives and logs the release of a close, covered by a checkpoint that is kept with it. Gives its cid.
 * A close that has a release with the claims made so far keeps it: nothing is logged.
 */
export async function publish(store: Store, trigger: Trigger, close: Cid): Promise<Cid> {
  const view = viewOf(store);
  const claims = await view.linkers(close, 'claim');
  const release =
    (await standingRelease(close, claims, view)) ?? (await derive(store, trigger, close, claims));
  // If we die before it, releasing the close again keeps a later checkpoint; no folder was written under another.
  await keepC2(store, release);
  return release;
}

async function standingRelease(close: Cid, claims: readonly Cid[], view: View): Promise<Cid | undefined> {
  const wanted = [...claims].sort().join();
  for (const cid of await view.linkers(close, 'release')) {
    const value = await viewAs('release', cid, view);
    const bound = 'files' in value ? value.claims.map((claim) => claim['/']).sort() : undefined;
    if (bound?.join() === wanted) return cid;
  }
  return undefined;
}

async function derive(store: Store, trigger: Trigger, close: Cid, claims: readonly Cid[]): Promise<Cid> {
  const { summary, report } = await reportClose(store, trigger, close);
  const view = viewOf(store);
  const { study, size } = await viewAs('close', close, view);
  const log = await logOf(store, await familyOf(store, study['/']));
  const covered = (await leafOf(store, close)).index;
  const binding = {
    inputs: {
      close,
      summary,
      reports: [report],
      claims: [...claims],
      vkey: await store.put(Buffer.from(`${log.vkey}\n`, 'utf8')),
      c0: await store.put(await c0Of(store, await familyOf(store, study['/']))),
      c1: await c1Of(store, close),
      entries: await store.put(
        await joined(store.logs.leafBytes(log.origin, { start: 0, end: covered + 1 })),
      ),
    },
  };
  // Somebody else's record came between the two.
  if (covered !== size)
    fail('E_GATE', {
      where: close,
      wanted: `leaf ${size}`,
      found: `leaf ${covered}`,
      hint: 'Close the study again',
    });
  await deriveOne(releaseV1 as unknown as Rule, binding, store);
  const release = await view.derived(keyFor(releaseV1, binding));
  return release ?? fail('E_INTERNAL', { where: close, wanted: 'a release' });
}
