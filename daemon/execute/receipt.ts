/** The receipt: everything the steps found, in one record. It is the last thing that an execution writes. */
import { link } from '../../store/format/cid.ts';
import { fail } from '../../store/format/errors.ts';
import { put, type State, type Step } from './task.ts';

export const receipt: Step = {
  name: 'receipt',
  when: 'always',
  async run(task, state) {
    const { start, ending } = state;
    if (start === undefined || ending === undefined)
      fail('E_INTERNAL', { where: 'receipt', wanted: 'a start and an end' });
    const identity = await task.adapter.identify();
    const cid = await put(task, {
      kind: 'receipt',
      v: 1,
      start: link(start),
      ...ending,
      ...found(state),
      injections: state.injections.map(link),
      exchanges: state.exchanges.map(link),
      natives: state.natives,
      replies: state.replies,
      spend: state.spend,
      timings: state.timings,
      builds: task.study.value.builds,
      agentVersion: identity.version,
      agentBinary: `sha256:${identity.sha256}`,
    });
    return { receipt: cid };
  },
};

/** The optional fields that are there. A void run keeps what it has; none of it is an outcome. */
function found(state: State): Record<string, unknown> {
  const { prebuild, before, after, audit, verdict, report, surface, hostFacts } = state;
  const links = { prebuild, before, after, audit: audit?.cid };
  const present = Object.entries(links).flatMap(([name, cid]) =>
    cid === undefined ? [] : [[name, link(cid)]],
  );
  const values = Object.entries({ verdict, report, surface, hostFacts }).filter(
    ([, value]) => value !== undefined,
  );
  return Object.fromEntries([...present, ...values]);
}
