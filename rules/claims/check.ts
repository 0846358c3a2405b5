/**
 * Claims against the page and the records that they name. The one check that the report rule and the verifier share.
 * Promises: every binding of the page has its claim and every claim its binding; each prints what its field holds; no
 * number of the page is unbound. All problems are found in one look.
 */
import type { Cid } from '../../store/format/cid.ts';
import type { Value } from '../../store/format/codec.ts';
import { isFault } from '../../store/format/errors.ts';
import type { Claim } from '../contracts/claim.ts';
import type { Input } from '../rule.ts';
import { inForm } from './form.ts';
import { type Binding, bindingsOf, unboundNumbers } from './page.ts';
import { pointed } from './pointer.ts';

export interface ClaimProblem {
  /** The claim's cid, or the page's name with a place. */
  readonly at: string;
  readonly detail: string;
}

export interface Page {
  readonly cid: Cid;
  readonly name: string;
  readonly text: string;
  readonly claims: readonly Input<Claim>[];
}

export type RecordAt = (cid: Cid) => Promise<Value | undefined>;

/** The pages that claims are about, by name; a name with two pages is a problem. */
export async function pagesOf(
  claims: readonly Input<Claim>[],
  read: (cid: Cid) => Promise<Uint8Array>,
): Promise<{ readonly pages: readonly Page[]; readonly problems: readonly ClaimProblem[] }> {
  const byName = new Map<string, Input<Claim>[]>();
  for (const claim of claims) byName.set(claim.value.name, [...(byName.get(claim.value.name) ?? []), claim]);
  const pages: Page[] = [];
  const problems: ClaimProblem[] = [];
  for (const [name, own] of [...byName].sort(([a], [b]) => (a < b ? -1 : 1))) {
    const cids = [...new Set(own.map(({ value }) => value.page['/']))];
    const [cid] = cids;
    if (cids.length > 1) problems.push({ at: name, detail: `claims name ${cids.length} pages of this name` });
    if (cid !== undefined)
      pages.push({ cid, name, text: Buffer.from(await read(cid)).toString('utf8'), claims: own });
  }
  return { pages, problems };
}

/** Every problem of one page. `summary` is the record that the word stands for. */
export async function pageProblems(page: Page, summary: Cid, record: RecordAt): Promise<ClaimProblem[]> {
  const bindings = bindingsIn(page);
  if ('detail' in bindings) return [bindings];
  const problems: ClaimProblem[] = unboundNumbers(page.text).map(({ line, text }) => ({
    at: `${page.name} line ${line}`,
    detail: `the number ${text} is bound to nothing`,
  }));
  for (const binding of bindings) {
    const own = page.claims.filter(({ value }) => value.place === binding.place);
    if (own.length !== 1)
      problems.push({ at: `${page.name} ${binding.place}`, detail: `${own.length} claims are about it` });
  }
  for (const claim of page.claims) {
    const detail = await claimProblem(claim.value, bindings, summary, record);
    if (detail !== undefined) problems.push({ at: claim.cid, detail });
  }
  return problems;
}

function bindingsIn(page: Page): readonly Binding[] | ClaimProblem {
  try {
    return bindingsOf(page.text);
  } catch (error) {
    if (isFault(error)) return { at: page.name, detail: error.message };
    throw error;
  }
}

async function claimProblem(
  claim: Claim,
  bindings: readonly Binding[],
  summary: Cid,
  record: RecordAt,
): Promise<string | undefined> {
  const binding = bindings.find(({ place }) => place === claim.place);
  if (binding === undefined) return `its page has no ${claim.place}`;
  const named = binding.record === 'summary' ? summary : binding.record;
  if (named !== claim.record['/'])
    return `its page binds ${binding.record}, the claim names ${claim.record['/']}`;
  if (binding.field !== claim.field) return `its page binds ${binding.field}, the claim names ${claim.field}`;
  if (binding.form !== claim.form) return `its page says ${binding.form}, the claim ${claim.form}`;
  if (binding.text !== claim.printed) return `prints ${claim.printed}, its page says ${binding.text}`;
  const value = await record(claim.record['/']);
  if (value === undefined) return `no record ${claim.record['/']}`;
  return wordsProblem(pointed(value, claim.field), claim);
}

function wordsProblem(value: Value | undefined, { form, printed }: Claim): string | undefined {
  try {
    const words = inForm(value, form);
    return words === printed ? undefined : `prints ${printed}, the field holds ${words}`;
  } catch (error) {
    if (isFault(error)) return error.message;
    throw error;
  }
}
