/**
 * `trajectory`: the agent's native transcript, read by its adapter's reader and written as ATIF 1.7 with injection
 * steps. A run in which no agent started has a trajectory of no steps.
 */
import { link } from '../../store/format/cid.ts';
import { fail } from '../../store/format/errors.ts';
import { canonicalJson } from '../../store/format/json.ts';
import { defineRule, full, one } from '../rule.ts';
import { published, runOfScrub } from '../runs.ts';
import { toAtif } from './atif.ts';
import { readBuiltin } from './builtin.ts';
import { readClaudeCode } from './claude-code.ts';
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
  async apply({ receipt, scrub, agent }, { reader, emit }) {
    const { adapter, version, model } = agent.value;
    const native = Object.hasOwn(NATIVES, adapter) ? NATIVES[adapter] : undefined;
    if (native === undefined) {
      fail('E_RULE_INPUT', { where: 'agent', wanted: Object.keys(NATIVES).join(' or '), found: adapter });
    }
    const file = receipt.value.natives.find(({ name }) => native.file.test(name));
    const bytes = file === undefined ? undefined : published(full(scrub), file.name);
    const steps = bytes === undefined ? [] : native.read(await reader.get(bytes)).steps;
    const document = canonicalJson(toAtif({ name: adapter, version, model_name: model }, steps));
    return {
      receipt: link(receipt.cid),
      scrub: link(scrub.cid),
      atif: link(await emit(Buffer.from(document, 'utf8'))),
      steps: steps.length,
      injections: steps.filter(({ source }) => source === 'injection').length,
    };
  },
});
