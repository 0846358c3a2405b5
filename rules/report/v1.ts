/**
 * `report`: the summary in words, as plain text.
 * Promises: every number comes from the summary or a record below it; what a reader must know before believing it
 * (stage, scripted model, what was removed, isolation, spend, exclusions, the limit of a log) stands before results.
 */
import { link } from '../../store/format/cid.ts';
import { defineRule, many, one } from '../rule.ts';
import { links } from '../runs.ts';
import { textReport } from './text.ts';

export const reportV1 = defineRule({
  name: 'report',
  v: 1,
  scope: 'close',
  gives: 'report',
  needs: {
    close: one('close'),
    summary: one('summary'),
    study: one('study'),
    redactions: many('redaction'),
    starts: many('start'),
    receipts: many('receipt'),
    claims: many('claim'),
  },
  on: ['summary'],
  async bind(subject, view) {
    const summary = subject.value;
    if (summary.kind !== 'summary' || !('close' in summary)) return [];
    const { inputs } = summary.derivation;
    const list = (name: string) => {
      const bound = inputs[name];
      return Array.isArray(bound) ? bound.map((each) => each['/']) : [];
    };
    const redactions = new Set<ReturnType<typeof list>[number]>();
    for (const cid of list('corpora')) {
      const corpus = await view.record(cid);
      if (corpus.kind === 'corpus' && 'redaction' in corpus) redactions.add(corpus.redaction['/']);
    }
    const bound = { close: summary.close['/'], summary: subject.cid, study: summary.study['/'], claims: [] };
    return [
      {
        inputs: { ...bound, redactions: [...redactions], starts: list('starts'), receipts: list('receipts') },
      },
    ];
  },
  async apply(inputs, { emit }) {
    const text = textReport(inputs);
    return {
      close: link(inputs.close.cid),
      summary: link(inputs.summary.cid),
      claims: links(inputs.claims.map(({ cid }) => cid)),
      outputs: [
        {
          name: 'report.txt',
          media: 'text/plain; charset=utf-8',
          bytes: link(await emit(Buffer.from(text, 'utf8'))),
        },
      ],
    };
  },
});
