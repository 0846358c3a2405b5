/**
 * `trajectory`: the agent's native transcript, read by its adapter's reader and written as ATIF 1.7 with injection
 * steps. A run in which no agent started has a trajectory of no steps.
 */
import { type Cid, digestOf, evidence, link } from '../../store/format/cid.ts';
import { fail } from '../../store/format/errors.ts';
import { canonicalJson, type Json } from '../../store/format/json.ts';
import type { Reader } from '../../store/format/reader.ts';
import type { Agent } from '../contracts/agent.ts';
import type { Full } from '../contracts/kit.ts';
import type { Receipt } from '../contracts/receipt.ts';
import type { Scrub } from '../contracts/scrub.ts';
import type { Trajectory } from '../contracts/trajectory.ts';
import { defineRule, full, type Input, one, type RuleIo, readAs } from '../rule.ts';
import { runOfScrub } from '../runs.ts';
import { blockOf, isHeld, scrubbedCid } from '../scrub/published.ts';
import { type AtifStep, fromAtif, toAtif } from './atif.ts';
import { readBuiltin } from './builtin.ts';
import { readClaudeCode } from './claude-code.ts';
import { isUnseen, stepsOf } from './read.ts';
import type { Transcript } from './step.ts';

interface Native {
  /** Which of the receipt's natives is the session file. */
  readonly file: RegExp;
  readonly read: (bytes: Uint8Array) => Transcript;
}

/** Adapter -> its session file and reader. */
export const NATIVES: Readonly<Record<string, Native>> = {
  builtin: { file: /(?:^|\/)\.agent\/session\.jsonl$/, read: readBuiltin },
  'claude-code': { file: /(?:^|\/)projects\/[^/]+\/[0-9a-f-]{36}\.jsonl$/, read: readClaudeCode },
};

export const trajectoryV1 = defineRule({
  name: 'trajectory',
  v: 1,
  scope: 'subject',
  gives: 'trajectory',
  needs: { receipt: one('receipt'), scrub: one('scrub'), agent: one('agent') },
  on: ['scrub'],
  async bind(subject, view) {
    const run = await runOfScrub(subject, view);
    if (run === undefined) return [];
    return [{ inputs: { receipt: run.receiptCid, scrub: subject.cid, agent: run.plan.shared.agent['/'] } }];
  },
  apply: (inputs, io) => trajectory(inputs, io),
  /** Where the session file is held back, a published document is counted again; else the record is all there is. */
  async recheck(recorded, inputs, io) {
    const session = sessionOf(inputs.agent.value, inputs.receipt.value, full(inputs.scrub));
    if (session === undefined || !(await isHeldBack(session, full(inputs.scrub), io.reader)))
      return { body: await trajectory(inputs, io), withheld: 0 };
    return { body: await fromRecord(recorded, inputs.receipt.cid, inputs.scrub, io.reader), withheld: 1 };
  },
});

interface Given {
  readonly receipt: Input<Receipt>;
  readonly scrub: Input<Scrub>;
  readonly agent: Input<Agent>;
}

async function trajectory({ receipt, scrub, agent }: Given, io: RuleIo): Promise<Body> {
  const session = sessionOf(agent.value, receipt.value, full(scrub));
  const document = await documentOf(agent.value, session, io.reader);
  const atif = await io.emit(Buffer.from(canonicalJson(document), 'utf8'));
  return {
    receipt: link(receipt.cid),
    scrub: link(scrub.cid),
    atif: await placed(atif, full(scrub), io.reader),
    ...countsOf(fromAtif(document)),
  };
}

/** Held back and not here: a published file that is missing is a fault. */
async function isHeldBack(cid: Cid, scrub: Full<Scrub>, reader: Reader): Promise<boolean> {
  const held = scrub.files.some((file) => isHeld(file) && blockOf(file.scrubbed) === cid);
  return held && !(await reader.has(cid));
}

/** The scrubbed session file; undefined where no agent started. Throws E_RULE_INPUT for an adapter without a reader. */
function sessionOf(agent: Agent, receipt: Receipt, scrub: Full<Scrub>): Cid | undefined {
  const file = receipt.natives.find(({ name }) => nativeOf(agent).file.test(name));
  return file === undefined ? undefined : scrubbedCid(scrub, file.name);
}

function nativeOf({ adapter }: Agent): Native {
  const native = Object.hasOwn(NATIVES, adapter) ? NATIVES[adapter] : undefined;
  if (native !== undefined) return native;
  return fail('E_RULE_INPUT', { where: 'agent', wanted: Object.keys(NATIVES).join(' or '), found: adapter });
}

async function documentOf(agent: Agent, session: Cid | undefined, reader: Reader): Promise<Json> {
  const steps = session === undefined ? [] : nativeOf(agent).read(await reader.get(session)).steps;
  return toAtif({ name: agent.adapter, version: agent.version, model_name: agent.model }, steps);
}

type Body = Omit<Full<Trajectory>, 'kind' | 'v' | 'derivation'>;

async function fromRecord(recorded: Body, receipt: Cid, scrub: Input<Scrub>, reader: Reader): Promise<Body> {
  const { steps, injections } = recorded;
  const atif = await placed(blockOf(recorded.atif), full(scrub), reader);
  const numbers = (await isUnseen({ atif }, reader))
    ? { steps, injections }
    : countsOf(await stepsOf({ atif }, reader));
  return { receipt: link(receipt), scrub: link(scrub.cid), atif, ...numbers };
}

/** A link, or an evidence reference where the study withholds trajectories. */
async function placed(atif: Cid, scrub: Full<Scrub>, reader: Reader): Promise<Body['atif']> {
  const study = await readAs('study', scrub.study['/'], reader);
  return study.withheld.includes('trajectories') ? evidence(digestOf(atif)) : link(atif);
}

const countsOf = (steps: readonly AtifStep[]) => ({
  steps: steps.length,
  injections: steps.filter(({ kind }) => kind === 'injection').length,
});
