/**
 * Claims: a results page becomes a page blob and one claim for each of its bound numbers, before the release.
 * Promises: a binding left empty is filled from its record; one that says something must say what the record says; a
 * number that is bound to nothing is refused. All is checked before anything is written.
 * If we die between two claims, making the same claims again adds those that are missing.
 */
import { pageProblems } from '../../rules/claims/check.ts';
import { inForm } from '../../rules/claims/form.ts';
import { type Binding, bindingsOf, filled } from '../../rules/claims/page.ts';
import { pointed } from '../../rules/claims/pointer.ts';
import type { Claim } from '../../rules/contracts/claim.ts';
import { parseAs } from '../../rules/contracts/table.ts';
import { viewAs } from '../../rules/runs.ts';
import { type Cid, cidOf, link, parseCid } from '../../store/format/cid.ts';
import type { Value } from '../../store/format/codec.ts';
import { encodeBlock } from '../../store/format/codec.ts';
import { fail } from '../../store/format/errors.ts';
import { counted } from '../../store/format/words.ts';
import type { Store } from '../../store/store.ts';
import { viewOf } from '../view.ts';

export interface ClaimedPage {
  /** File name of the page in a publication. */
  readonly name: string;
  /** Markdown with bindings. */
  readonly text: string;
  readonly who: string;
  readonly why: string;
}

export interface Claimed {
  readonly page: Cid;
  readonly claims: readonly Cid[];
  /** The page as it is published. */
  readonly text: string;
}

/** Makes the claims of a page about a close. Throws E_CLAIM, E_NOT_FOUND. */
export async function claimPage(store: Store, close: Cid, summary: Cid, page: ClaimedPage): Promise<Claimed> {
  const { name, who, why } = page;
  const said = new Map<string, string>();
  for (const binding of bindingsOf(page.text))
    said.set(binding.place, await wordsFor(store, summary, binding));
  const text = filled(page.text, ({ place }) => said.get(place) ?? '');
  const bytes = Buffer.from(text, 'utf8');
  const cid = cidOf('raw', bytes);
  const values = bindingsOf(text).map(({ place, record, field, form, text: printed }) => ({
    ...{
      kind: 'claim',
      v: 1,
      who,
      why,
      close: link(close),
      field,
      form,
      printed,
      page: link(cid),
      name,
      place,
    },
    record: link(recordOf(record, summary)),
  }));
  const claims = values.map((value) => parseAs('claim', value as unknown as Value));
  await refuseProblems(store, { cid, name, text }, claims, summary);
  await refuseOtherPage(store, close, name, cid);
  await store.put(bytes);
  const made: Cid[] = [];
  for (const claim of claims) made.push((await store.record(claim as unknown as Value)).cid);
  return { page: cid, claims: made, text };
}

const recordOf = (record: string, summary: Cid): Cid => (record === 'summary' ? summary : parseCid(record));

async function wordsFor(
  store: Store,
  summary: Cid,
  { place, record, field, form, text }: Binding,
): Promise<string> {
  const words = inForm(pointed(await store.value(recordOf(record, summary)), field), form);
  if (text.trim() !== '' && text !== words)
    fail('E_CLAIM', { where: `${place} ${field}`, wanted: words, found: text });
  return words;
}

async function refuseProblems(
  store: Store,
  page: { readonly cid: Cid; readonly name: string; readonly text: string },
  claims: readonly Claim[],
  summary: Cid,
): Promise<void> {
  const inputs = claims.map((value) => ({ cid: encodeBlock(value as unknown as Value).cid, value }));
  const [first, ...more] = await pageProblems({ ...page, claims: inputs }, summary, (cid) =>
    store.value(cid),
  );
  if (first === undefined) return;
  const hint = more.length === 0 ? {} : { hint: counted(more.length, 'more problem') };
  fail('E_CLAIM', { where: first.at, found: first.detail, ...hint });
}

/** A page once claimed stands: another text of that name needs another close. */
async function refuseOtherPage(store: Store, close: Cid, name: string, page: Cid): Promise<void> {
  const view = viewOf(store);
  for (const cid of await view.linkers(close, 'claim')) {
    const claim = await viewAs('claim', cid, view);
    if (claim.name === name && claim.page['/'] !== page)
      fail('E_CLAIM', {
        where: name,
        wanted: claim.page['/'],
        found: page,
        hint: 'Close the study again to say something else',
      });
  }
}
