/**
 * Whether the plans of a study could run, before it is registered: what is registered stays registered, and a plan that
 * cannot run is a hole in the results.
 * Promises: every problem is gathered; nothing is written. Does not promise: anything about a host that nobody named.
 */
import type { Agent } from '../../rules/contracts/agent.ts';
import type { Challenge } from '../../rules/contracts/challenge.ts';
import type { Condition } from '../../rules/contracts/condition.ts';
import { isRefused } from '../../rules/contracts/kit.ts';
import type { Study } from '../../rules/contracts/study.ts';
import { certificateGaps, type Gap, graphGaps, matrixGaps } from '../../rules/pair/v1.ts';
import { viewAs } from '../../rules/runs.ts';
import type { Cid } from '../../store/format/cid.ts';
import type { Store } from '../../store/store.ts';
import { checkAgent, checkCondition, checkDelivery, checkIsolation, checkModel } from '../gates.ts';
import type { Host } from '../host.ts';
import { boundImages } from '../images.ts';
import { viewOf } from '../view.ts';
import type { Gathered } from './faults.ts';

/** A pair whose names were found, with what it relies on. */
export interface ReadyPair {
  readonly challenge: Cid;
  readonly fixture: Cid;
  readonly certificate: Cid;
  readonly acceptances: readonly Cid[];
  readonly validations: readonly Cid[];
  /** Names of its conditions. */
  readonly arms: readonly string[];
}

type AskedCondition = Pick<Condition, 'name' | 'source' | 'channel' | 'graph' | 'tools'>;

export interface Asked extends Pick<Study, 'stage' | 'isolation' | 'images'> {
  readonly conditions: readonly AskedCondition[];
  readonly agent: Pick<Agent, 'adapter' | 'version' | 'modelKind' | 'tools'>;
  /** Where one is known. */
  readonly host?: Host;
}

/** Gathers what stands in the way of these pairs' plans. O(pairs x validations). */
export async function gatherProblems(
  store: Store,
  asked: Asked,
  pairs: readonly ReadyPair[],
  faults: Gathered,
): Promise<void> {
  for (const pair of pairs) await faults.of(() => gatherPair(store, asked, pair, faults));
  const used = new Set(pairs.flatMap(({ arms }) => arms));
  const conditions = asked.conditions.filter(({ name }) => used.has(name));
  const tools = [...new Set([asked.agent, ...conditions].flatMap((each) => each.tools))];
  await faults.of(() => checkAgent(asked.agent, tools));
  for (const condition of conditions)
    await faults.of(() =>
      asked.host === undefined ? checkDelivery(condition) : onHost(condition, asked.host),
    );
  if (asked.isolation === 'docker') await faults.of(() => boundImages(store, asked.images));
  if (asked.host !== undefined) await gatherHost(asked, asked.host, faults);
}

async function gatherPair(store: Store, asked: Asked, pair: ReadyPair, faults: Gathered): Promise<void> {
  const view = viewOf(store);
  const challenge = await viewAs('challenge', pair.challenge, view);
  const fixture = await viewAs('fixture', pair.fixture, view);
  if (!fixture.serves.includes(challenge.id))
    faults.add('E_GATE', {
      where: `fixture ${fixture.id}`,
      wanted: challenge.id,
      found: fixture.serves.join(', '),
    });
  const conditions = asked.conditions.filter(({ name }) => pair.arms.includes(name));
  for (const gap of conditions.flatMap((each) => graphGaps(each, fixture))) faults.add('E_GATE', gap);
  gatherImage(asked, challenge, faults);
  for (const gap of await gapsOf(store, asked, challenge, pair)) faults.add('E_GATE', gap);
}

function gatherImage({ isolation, images }: Asked, { id, environment }: Challenge, faults: Gathered): void {
  if (isolation !== 'docker' || Object.hasOwn(images, environment.image)) return;
  const found = Object.keys(images).join(', ') || 'no image';
  faults.add('E_GATE', {
    where: `image of ${id}`,
    wanted: `an image for the role ${environment.image}`,
    found,
  });
}

async function gapsOf(store: Store, asked: Asked, challenge: Challenge, pair: ReadyPair): Promise<Gap[]> {
  const view = viewOf(store);
  const certificate = await viewAs('certificate', pair.certificate, view);
  if (isRefused(certificate))
    return [
      {
        where: `certificate of ${challenge.id}`,
        wanted: 'a readable one',
        found: certificate.refused.detail,
      },
    ];
  const acceptances = await Promise.all(pair.acceptances.map((cid) => viewAs('acceptance', cid, view)));
  const validations = await Promise.all(pair.validations.map((cid) => viewAs('validation', cid, view)));
  const open = certificateGaps(certificate, acceptances).map((gap) => ({
    ...gap,
    where: `certificate of ${challenge.id}`,
  }));
  return asked.stage === 'exploratory' ? open : [...open, ...matrixGaps(asked, challenge, validations)];
}

async function gatherHost({ isolation, agent }: Asked, host: Host, faults: Gathered): Promise<void> {
  await faults.of(() => checkIsolation(host.executor, isolation, agent));
  await faults.of(() => checkModel(host.model.kind === 'scripted', agent));
}

/** The condition's product is configured here, and can do what the condition needs. */
function onHost(condition: AskedCondition, { provisioners }: Host): void {
  const { source } = condition;
  const product = source.type === 'provisioner' ? provisioners[source.provisioner] : undefined;
  checkCondition(condition, product?.recall === true ? { recall: true } : {});
}
