/** Golden vectors of summary and report: inputs and blocks in, the record's CID and the words of the report out. */
import { reportV1 } from '../../rules/report/v1.ts';
import { summaryV1 } from '../../rules/summary/v1.ts';
import type { Json } from '../../store/format/json.ts';
import type { Vectors } from '../tools/vectors.ts';
import { derive } from './kit.ts';
import { makeWorld, type Run, TEST } from './summary/kit.ts';

const run = (reward: 0 | 1, tokens: number): Run => ({
  reward,
  tokens,
  micros: tokens * 3,
  seconds: '1.5',
  build: '1',
});

/** Two families, three arms, something of everything that may happen to a run. */
function world() {
  return makeWorld({
    tasks: [
      {
        id: 'one',
        lessons: ['l1'],
        arms: {
          memory: [run(1, 10), { reward: 1, override: 'excluded' }],
          none: [run(0, 20), run(0, 7)],
          other: [0, { status: 'memory_absent' }],
        },
      },
      {
        id: 'two',
        lessons: ['l1', 'l2'],
        arms: { memory: [1, [{ status: 'lost' }, 1]], none: [0, [null, 0]] },
      },
      {
        id: 'three',
        family: 'control',
        arms: { memory: [1, 'open'], none: [1, { reward: 0, excluded: 'ineligible' }] },
      },
    ],
    tests: [
      { ...TEST, families: ['family'] },
      { ...TEST, id: 'by-lesson', families: ['family'], cluster: 'lesson', statistic: 'wilcoxonSignedRank' },
      {
        ...TEST,
        id: 'control-no-worse',
        families: ['control'],
        statistic: 'nonInferiority',
        margin: '0.2',
        sides: 'greater',
      },
      { ...TEST, id: 'tokens', measure: 'tokens', statistic: 'wilcoxonSignedRank', primary: false },
    ],
    study: { holmSize: 5, scopeLimits: ['Hand-made records.'], hypotheses: ['It helps.'] },
  });
}

export async function vectors(): Promise<Vectors> {
  const { blocks, binding, close, study, starts } = world();
  const given = Object.fromEntries([...blocks.map].sort().map(([digest, bytes]) => [digest, text(bytes)]));
  const summary = await derive(blocks, summaryV1, binding);
  const inputs = { close, summary: summary.cid, study, redactions: [], starts, claims: [] };
  const report = await derive(blocks, reportV1, { inputs });
  const outputs: Record<string, Json> = {};
  for (const { name, bytes } of report.value.outputs)
    outputs[name] = name === 'report.txt' ? text(await blocks.reader.get(bytes['/'])) : bytes['/'];
  const of = (rule: string) => ({ rule, v: 1 });
  return {
    'rules/summary-v1.json': {
      ...of('summary'),
      ...{
        inputs: binding.inputs as unknown as Json,
        cid: summary.cid,
        record: summary.value as unknown as Json,
      },
      blocks: given,
    },
    'rules/report-v1.json': { ...of('report'), inputs: inputs as unknown as Json, cid: report.cid, outputs },
  };
}

const text = (bytes: Uint8Array): string => Buffer.from(bytes).toString('utf8');
