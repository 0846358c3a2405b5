/** A redaction as lines for a person: what was taken out, and what a person should look at. */
import type { Full } from '../rules/contracts/kit.ts';
import type { Redaction } from '../rules/contracts/redaction.ts';
import { printPath, type TreePath } from '../store/format/tree.ts';
import { oneLine } from './printable.ts';

export type RedactionParts = Pick<Full<Redaction>, 'removed' | 'nearMisses' | 'danglingLinks'> &
  Partial<Pick<Full<Redaction>, 'named'>>;

export interface RedactionLine {
  readonly finding: 'removed' | 'near-miss' | 'dangling-link' | 'named';
  readonly path: string;
  readonly detail: string;
  readonly text: string;
}

export function redactionLines({
  removed,
  nearMisses,
  danglingLinks,
  named,
}: RedactionParts): RedactionLine[] {
  const line = (finding: RedactionLine['finding'], path: TreePath, detail: string): RedactionLine => {
    const printed = printPath(path);
    return { finding, path: printed, detail, text: oneLine(`${finding.padEnd(14)} ${printed}  (${detail})`) };
  };
  return [
    ...removed.map(({ path, pattern }) => line('removed', path, pattern)),
    ...nearMisses.map(({ path, pattern }) => line('near-miss', path, pattern)),
    ...danglingLinks.map(({ path, target }) => line('dangling-link', path, target)),
    ...(named ?? []).map(({ config, names }) => line('named', config, names.join(', '))),
  ];
}
