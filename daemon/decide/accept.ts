/**
 * Acceptance: a person lets one content finding of `patch-or-diff` of a certificate stand, by its exact content.
 * Promises: what is accepted is a finding that the certificate holds; every other kind is refused.
 */
import { isRefused } from '../../rules/contracts/kit.ts';
import { viewAs } from '../../rules/runs.ts';
import { type Cid, link } from '../../store/format/cid.ts';
import type { Value } from '../../store/format/codec.ts';
import { fail } from '../../store/format/errors.ts';
import type { Store } from '../../store/store.ts';
import { viewOf } from '../view.ts';

export interface Accepted {
  readonly surface: string;
  /** As the finding prints it. */
  readonly path: string;
  readonly who: string;
  readonly why: string;
}

/** Records one acceptance for each content of that place. Throws E_NOT_FOUND, E_GATE for a finding of another kind. */
export async function acceptFinding(store: Store, certificate: Cid, accepted: Accepted): Promise<Cid[]> {
  const value = await viewAs('certificate', certificate, viewOf(store));
  if (isRefused(value)) fail('E_GATE', { where: certificate, wanted: 'a readable certificate' });
  const { surface, path } = accepted;
  const at = value.findings.filter((each) => each.surface === surface && each.path === path);
  if (at.length === 0)
    fail('E_NOT_FOUND', { where: `${surface} ${path}`, wanted: 'a finding of the certificate' });
  const fit = at.filter(({ kind, by }) => kind === 'patch-or-diff' && by === 'content');
  const digests = new Set(fit.flatMap(({ digest }) => digest ?? []));
  if (digests.size === 0) {
    const found = at.map(({ kind, by }) => `${kind} by ${by}`).join(', ');
    fail('E_GATE', { where: `${surface} ${path}`, wanted: 'a patch-or-diff finding by content', found });
  }
  const made: Cid[] = [];
  for (const digest of [...digests].sort()) {
    const record = { kind: 'acceptance', v: 1, ...accepted, certificate: link(certificate), digest };
    made.push((await store.record(record as unknown as Value)).cid);
  }
  return made;
}
