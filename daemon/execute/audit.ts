/** The audit rule over the two snapshots, applied here so that it stands before the verifier runs. */

import { auditV1 } from '../../rules/audit/v1.ts';
import { keyFor, type Rule } from '../../rules/rule.ts';
import { viewAs } from '../../rules/runs.ts';
import { fail } from '../../store/format/errors.ts';
import { deriveOne } from '../trigger.ts';
import type { Step } from './task.ts';

export const audit: Step = {
  name: 'audit',
  when: 'outcome',
  voids: 'aborted',
  async run(task, { before, after }) {
    if (before === undefined || after === undefined)
      fail('E_INTERNAL', { where: 'audit', wanted: 'two snapshots' });
    const binding = { inputs: { before, after, challenge: task.challenge.cid } };
    await deriveOne(auditV1 as unknown as Rule, binding, task.store);
    const cid = await task.view.derived(keyFor(auditV1, binding));
    const value = cid === undefined ? undefined : await viewAs('audit', cid, task.view);
    if (cid === undefined || value === undefined || !('outside' in value)) {
      fail('E_INTERNAL', { where: 'audit', wanted: 'a readable audit' });
    }
    return { audit: { cid, outside: value.outside } };
  },
};
