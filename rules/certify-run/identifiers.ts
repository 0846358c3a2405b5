/**
 * What would tell an agent which arm it is in.
 * Promises: a cid, digest or token of condition, arm, study or plan is found in every accepted spelling and by its
 * first twelve characters, anywhere; a name of one only as a whole value or path segment outside bodies.
 * Does not promise: to find a name that was changed.
 */
import { type Cid, cidFromDigest, digestOf } from '../../store/format/cid.ts';
import type { Reader } from '../../store/format/reader.ts';
import type { Detector } from '../certify/detect.ts';
import type { Condition } from '../contracts/condition.ts';
import type { Full } from '../contracts/kit.ts';
import type { Plan } from '../contracts/plan.ts';
import type { Start } from '../contracts/start.ts';
import type { Study } from '../contracts/study.ts';
import { type Input, readAs } from '../rule.ts';

/** Characters of an identifier that already give it away. */
const PREFIX = 12;

export interface Identifiers {
  readonly anywhere: readonly Detector[];
  readonly names: readonly { readonly pattern: string; readonly name: string }[];
  /** The condition of the arm that ran. */
  readonly condition: Condition | undefined;
}

/** Throws what the reader throws. */
export async function identifiersOf(
  start: Input<Start>,
  plan: Input<Full<Plan>>,
  study: Input<Study>,
  reader: Reader,
): Promise<Identifiers> {
  const arms = await Promise.all(
    Object.entries(plan.value.arms).map(async ([arm, { '/': cid }]) => ({
      arm,
      cid,
      condition: await readAs('condition', cid, reader),
    })),
  );
  const family = plan.value.shared.family['/'];
  const cids: [string, Cid][] = [
    ['plan', plan.cid],
    ['study', study.cid],
    ...(family === study.cid ? [] : ([['study', family]] as [string, Cid][])),
    ['start', start.cid],
    ...arms.map(({ cid }): [string, Cid] => ['condition', cid]),
  ];
  return {
    anywhere: [
      ...cids.flatMap(([what, cid]) => spellings(cid).map((text) => prefixDetector(`${what}-cid`, text))),
      prefixDetector('start-token', start.value.token),
    ],
    names: [
      ...arms.map(({ arm }) => ({ pattern: 'arm-name', name: arm })),
      ...arms.map(({ condition }) => ({ pattern: 'condition-name', name: condition.name })),
      { pattern: 'study-id', name: study.value.id },
    ],
    condition: arms.find(({ arm }) => arm === start.value.arm)?.condition,
  };
}

/** The accepted spellings of an identity: its CID under either codec, its digest with and without `sha256:`. */
function spellings(cid: Cid): string[] {
  const digest = digestOf(cid);
  return [cidFromDigest('dag-json', digest), cidFromDigest('raw', digest), `sha256:${digest}`, digest];
}

function prefixDetector(pattern: string, text: string): Detector {
  const search = new RegExp(text.slice(0, PREFIX), 'gi');
  return {
    kind: 'identifier',
    pattern,
    find(within, from, own) {
      search.lastIndex = from;
      const index = search.exec(within)?.index;
      return index !== undefined && index < own ? index : undefined;
    },
  };
}

/** The patterns of the names that `text` is, or that a path in it has as a segment. */
export function namedBy(text: string, names: Identifiers['names']): string[] {
  const parts = new Set([text, ...text.split(/[/:]/)]);
  return [...new Set(names.filter(({ name }) => parts.has(name)).map(({ pattern }) => pattern))];
}
