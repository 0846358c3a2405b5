/** Claims: each printed number equals its field and stands in its page as bound; a page has no other number. */
import type { Value } from '../../store/format/codec.ts';
import { pageProblems, pagesOf } from '../claims/check.ts';
import type { Claim } from '../contracts/claim.ts';
import type { Full } from '../contracts/kit.ts';
import type { Release } from '../contracts/release.ts';
import type { Input } from '../rule.ts';
import { type Faults, guarded } from './fault.ts';
import type { Library } from './library.ts';

/** Checks every claim of a release, and that its pages are those that the claims are about. */
export async function checkClaims(release: Full<Release>, library: Library, faults: Faults): Promise<void> {
  const claims: Input<Claim>[] = [];
  for (const { '/': cid } of release.claims) {
    const value = library.records.get(cid);
    if (value?.kind === 'claim') claims.push({ cid, value });
    else faults.add('claim', cid, 'no such claim');
    if (value?.kind === 'claim' && value.close['/'] !== release.close['/'])
      faults.add('claim', cid, 'a claim about another close');
  }
  await guarded(faults, 'claim', 'pages', async () => {
    const { pages, problems } = await pagesOf(claims, library.reader.get);
    for (const { at, detail } of problems) faults.add('claim', at, detail);
    for (const { name } of release.pages)
      if (!pages.some((page) => page.name === name))
        faults.add('claim', name, 'a page that no claim is about');
    for (const page of pages) {
      const record = async (cid: Input<Claim>['cid']) =>
        library.records.get(cid) as unknown as Value | undefined;
      for (const { at, detail } of await pageProblems(page, release.summary['/'], record))
        faults.add('claim', at, detail);
      const published = release.pages.some(
        ({ name, bytes }) => name === page.name && bytes['/'] === page.cid,
      );
      if (!published) faults.add('claim', page.name, 'claims are about a page that is not published');
    }
  });
}
