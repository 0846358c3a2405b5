/**
 * `report`: the summary in words, as text, Markdown and one HTML page, with its figures as files.
 * Promises: every number comes from the summary or a record below it; what a reader must know before believing it
 * (stage, scripted model, what was removed, isolation, spend, exclusions) stands before results. Every claim of the
 * close stands in its page as bound and no number of a page is unbound, or there is no report (E_CLAIM).
 */
import { type Cid, link } from '../../store/format/cid.ts';
import { decode, type Value } from '../../store/format/codec.ts';
import { fail } from '../../store/format/errors.ts';
import type { Emit, Reader } from '../../store/format/reader.ts';
import { pageProblems, pagesOf } from '../claims/check.ts';
import type { Claim } from '../contracts/claim.ts';
import { defineRule, type Input, many, one } from '../rule.ts';
import { links } from '../runs.ts';
import { documentOf } from './content.ts';
import type { Document } from './document.ts';
import { svgOf } from './figures/svg.ts';
import { htmlReport } from './html.ts';
import { markdownReport } from './markdown.ts';
import { FIGURE_STYLE } from './style.ts';
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
    claims: many('claim'),
  },
  // Claims follow the summary: a report made before them says less, and publishing binds them all.
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
    const bound = { close: summary.close['/'], summary: subject.cid, study: summary.study['/'] };
    const claims = await view.linkers(summary.close['/'], 'claim');
    return [{ inputs: { ...bound, claims, redactions: [...redactions], starts: list('starts') } }];
  },
  async apply(inputs, { reader, emit }) {
    await checkClaims(inputs.claims, inputs.summary.cid, reader);
    const document = documentOf(inputs);
    const footer = `From summary ${inputs.summary.cid} of close ${inputs.close.cid}, by rule report, version 1.`;
    return {
      close: link(inputs.close.cid),
      summary: link(inputs.summary.cid),
      claims: links(inputs.claims.map(({ cid }) => cid)),
      outputs: [
        await output('report.txt', 'text/plain; charset=utf-8', textReport(document), emit),
        await output('report.md', 'text/markdown; charset=utf-8', markdownReport(document), emit),
        await output('report.html', 'text/html; charset=utf-8', htmlReport(document, footer), emit),
        ...(await figures(document, emit)),
      ],
    };
  },
});

async function output(name: string, media: string, text: string, emit: Emit) {
  return { name, media, bytes: link(await emit(Buffer.from(text, 'utf8'))) };
}

async function figures({ sections }: Document, emit: Emit) {
  const outputs: Awaited<ReturnType<typeof output>>[] = [];
  for (const block of sections.flatMap(({ blocks }) => blocks)) {
    if (block.type !== 'figure') continue;
    const text = `${svgOf(block.figure, FIGURE_STYLE)}\n`;
    outputs.push(await output(`${block.figure.name}.svg`, 'image/svg+xml', text, emit));
  }
  return outputs;
}

async function checkClaims(claims: readonly Input<Claim>[], summary: Cid, reader: Reader): Promise<void> {
  const { pages, problems } = await pagesOf(claims, (cid) => reader.get(cid));
  const found = [...problems];
  const record = async (cid: Cid) =>
    (await reader.has(cid)) ? (decode(await reader.get(cid)) as Value) : undefined;
  for (const page of pages) found.push(...(await pageProblems(page, summary, record)));
  const [first] = found;
  if (first === undefined) return;
  fail('E_CLAIM', { where: first.at, found: first.detail, hint: `${found.length} problems in all` });
}
