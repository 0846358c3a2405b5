/**
 * A small kind table for tests of the store: `note` (store log), `study` (opens a family), `entry` (family log, unique
 * key), `made` (derived), each linking what it says.
 */
import { type Cid, type Digest, digestOfEvidence, type Evidence, type Link } from '../../store/format/cid.ts';
import type { Value } from '../../store/format/codec.ts';
import { fail } from '../../store/format/errors.ts';
import type { KindTable, RecordFacts, WantedLink } from '../../store/store.ts';

interface Shape {
  readonly kind: string;
  readonly text?: string;
  readonly links?: readonly Link[];
  readonly want?: readonly string[];
  readonly evidence?: readonly Evidence[];
  readonly study?: Link;
  readonly unique?: string;
  readonly derivation?: Digest;
}

const KINDS = new Set(['note', 'study', 'entry', 'made']);

export const testKinds: KindTable = {
  facts(value: Value): RecordFacts {
    const shape = value as unknown as Shape;
    if (typeof shape !== 'object' || shape === null || !KINDS.has(shape.kind))
      fail('E_KIND', { wanted: [...KINDS].join(), found: JSON.stringify(value).slice(0, 40) });
    const kinds = shape.want ?? ['*'];
    const links: WantedLink[] = (shape.links ?? []).map((link) => ({ cid: link['/'], kinds }));
    if (shape.study !== undefined) links.push({ cid: shape.study['/'], kinds: ['study'] });
    return {
      kind: shape.kind,
      links,
      evidence: (shape.evidence ?? []).map(digestOfEvidence),
      ...(shape.unique === undefined ? {} : { unique: shape.unique }),
      ...(shape.derivation === undefined ? {} : { derivation: shape.derivation }),
    };
  },
  async family(value: Value, cid: Cid): Promise<Cid | null> {
    const shape = value as unknown as Shape;
    if (shape.kind === 'study') return cid;
    return shape.kind === 'entry' ? (shape.study?.['/'] ?? null) : null;
  },
};
