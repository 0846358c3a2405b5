/**
 * `parity`: whether the arms of one attempt differ in their condition and in nothing else. Every difference is a
 * finding that names its field; images, limits and verifier are equal by the shape of the plan.
 * Promises: arms without an outcome are left out, so that a missing arm removes only its own comparisons.
 * Does not promise: that later requests are equal; they depend on what the model answered.
 */
import { link } from '../../store/format/cid.ts';
import { fail } from '../../store/format/errors.ts';
import type { Reader } from '../../store/format/reader.ts';
import type { Condition } from '../contracts/condition.ts';
import type { Injection } from '../contracts/injection.ts';
import type { Full } from '../contracts/kit.ts';
import type { Parity } from '../contracts/parity.ts';
import type { Plan } from '../contracts/plan.ts';
import { OUTCOME_STATUSES, type Receipt } from '../contracts/receipt.ts';
import type { Scrub } from '../contracts/scrub.ts';
import type { Start } from '../contracts/start.ts';
import { type Binding, defineRule, full, type Input, many, one, type View } from '../rule.ts';
import { attemptOver, attemptsOf, type Begun, derivedBy, links, runOfScrub } from '../runs.ts';
import { scrubV1 } from '../scrub/v1.ts';
import { type Arm, armFields, belongs, type Fields, type Part } from './arm.ts';

type Finding = Full<Parity>['findings'][number];
interface Seen {
  readonly arm: string;
  readonly fields: Fields;
}

export const parityV1 = defineRule({
  name: 'parity',
  v: 1,
  scope: 'attempt',
  gives: 'parity',
  needs: {
    plan: one('plan'),
    starts: many('start'),
    receipts: many('receipt'),
    scrubs: many('scrub'),
    conditions: many('condition'),
    injections: many('injection'),
  },
  on: ['scrub'],
  async bind(subject, view) {
    const run = await runOfScrub(subject, view);
    if (run === undefined) return [];
    const begun = (await attemptsOf(run.planCid, view)).get(run.start.attempt) ?? [];
    if (!attemptOver(begun, Object.keys(run.plan.arms))) return [];
    return bindAttempt(run.planCid, run.plan.arms, begun, view);
  },
  async apply(inputs, { reader }) {
    return (await parity(inputs, reader, undefined)).body;
  },
  /** Findings about a part that is held back in some arm are taken from the record. */
  recheck: (recorded, inputs, { reader }) => parity(inputs, reader, recorded),
});

type Body = Omit<Full<Parity>, 'kind' | 'v' | 'derivation'>;

interface Given {
  readonly plan: Input<Plan>;
  readonly starts: readonly Input<Start>[];
  readonly receipts: readonly Input<Receipt>[];
  readonly scrubs: readonly Input<Scrub>[];
  readonly conditions: readonly Input<Condition>[];
  readonly injections: readonly Input<Injection>[];
}

async function parity(
  given: Given,
  reader: Reader,
  recorded: Body | undefined,
): Promise<{ body: Body; withheld: number }> {
  const { plan, starts, receipts } = given;
  const [first] = starts;
  if (first === undefined) fail('E_RULE_INPUT', { where: 'parity', wanted: 'a start', found: 'none' });
  const seen: Seen[] = [];
  const unseen = new Set<Part>();
  for (const start of starts) {
    const arm = armOf(start, given);
    if (!(OUTCOME_STATUSES as readonly string[]).includes(arm.receipt.status)) continue;
    const compared = await armFields(arm, reader, recorded !== undefined);
    seen.push({ arm: arm.name, fields: compared.fields });
    for (const part of compared.unseen) unseen.add(part);
  }
  const isUnseen = ({ field }: Finding) => [...unseen].some((part) => belongs(field, part));
  const found = differences(seen).filter((finding) => !isUnseen(finding));
  const body = {
    plan: link(plan.cid),
    attempt: first.value.attempt,
    receipts: links(receipts.map(({ cid }) => cid)),
    findings: [...found, ...(recorded?.findings.filter(isUnseen) ?? [])].sort((a, b) =>
      a.field < b.field ? -1 : 1,
    ),
  };
  return { body, withheld: unseen.size };
}

function armOf(start: Input<Start>, { plan, receipts, scrubs, conditions, injections }: Given): Arm {
  const receipt = receipts.find(({ value }) => value.start['/'] === start.cid);
  const scrub = scrubs.map(full).find((each) => each.receipt['/'] === receipt?.cid);
  const condition = conditions.find(({ cid }) => cid === full(plan).arms[start.value.arm]?.['/']);
  if (receipt === undefined || scrub === undefined || condition === undefined)
    fail('E_RULE_INPUT', { where: start.cid, wanted: 'a receipt, a scrub and a condition', found: 'less' });
  const own = injections
    .map(({ value }) => value)
    .filter((each) => each.start['/'] === start.cid && each.turn === 1);
  return {
    name: start.value.arm,
    receipt: receipt.value,
    scrub,
    condition: condition.value,
    injections: own,
  };
}

type Arms = Readonly<Record<string, ReturnType<typeof link>>>;

async function bindAttempt(plan: Input<unknown>['cid'], arms: Arms, begun: readonly Begun[], view: View) {
  const receipts = begun.flatMap(({ receipt }) => (receipt === undefined ? [] : [receipt]));
  const scrubs = await Promise.all(receipts.map(({ cid }) => derivedBy(scrubV1, cid, view)));
  const present = scrubs.flatMap((scrub) => (scrub === undefined ? [] : [scrub.cid]));
  if (present.length < scrubs.length) return [];
  const binding: Binding = {
    inputs: {
      plan,
      starts: begun.map(({ start }) => start.cid),
      receipts: receipts.map(({ cid }) => cid),
      scrubs: present,
      conditions: [...new Set(begun.flatMap(({ arm }) => arms[arm]?.['/'] ?? []))],
      injections: receipts.flatMap(({ value }) => value.injections.map((each) => each['/'])),
    },
  };
  return [binding];
}

/** Compares every arm with the first by name; one finding per field that is not equal everywhere. */
function differences(seen: readonly Seen[]): Finding[] {
  const sorted = [...seen].sort((a, b) => (a.arm < b.arm ? -1 : 1));
  const [reference, ...others] = sorted;
  if (reference === undefined) return [];
  const names = [...new Set(sorted.flatMap(({ fields }) => [...fields.keys()]))].sort();
  return names.flatMap((field) => {
    const arms = others.filter((other) => other.fields.get(field) !== reference.fields.get(field));
    if (arms.length === 0) return [];
    const detail = `differs from ${reference.arm}`;
    return [{ field, arms: arms.map(({ arm }) => arm), detail }];
  });
}
