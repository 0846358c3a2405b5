/** `show`: an object, its links and linkers; of a summary also the runs behind one of its numbers. */
import { viewOf } from '../../daemon/view.ts';
import { pointed } from '../../rules/claims/pointer.ts';
import { parseRecord, referencesOf } from '../../rules/contracts/table.ts';
import { viewAs } from '../../rules/runs.ts';
import { behind, reasonWithoutRuns } from '../../rules/summary/behind.ts';
import { type Cid, codecOf, digestOf, evidence, parseCid } from '../../store/format/cid.ts';
import type { Value } from '../../store/format/codec.ts';
import { fail } from '../../store/format/errors.ts';
import { type Json, prettyJson } from '../../store/format/json.ts';
import { counted } from '../../store/format/words.ts';
import type { Store } from '../../store/store.ts';
import { collect, objectOf, recordOf } from '../objects.ts';
import { shapeOf } from '../shape.ts';
import { maybe, storeVerb, word } from '../verb.ts';

export const command = storeVerb<Record<never, never>, [object: string, field?: string]>({
  access: 'read',
  example: 'ashlar show challenge/late-departure-memory-only',
  about:
    'Every printed CID can be shown in its turn: links lead to what a record was made of, linkers to what came of it.\nWith a JSON pointer into a summary, the runs behind that number: ashlar show SUMMARY /comparisons/0/difference',
  flags: {},
  args: {
    kind: 'tuple',
    parameters: [word('OBJECT', 'CID, sha256:<hex> or name'), maybe('FIELD', 'JSON pointer into a summary')],
  },
  async run({ out }, store, _flags, object, field) {
    if (field !== undefined) {
      const found = await lookBehind(store, await recordOf(store, object, 'summary'), field);
      return out.print(found, printedBehind(found));
    }
    const shown = await look(store, await objectOf(store, object));
    await out.print(shown, printed(shown));
  },
});

/** A number of a summary with the receipts and grades that it rests on. Throws E_NOT_FOUND, E_GATE. */
async function lookBehind(store: Store, summary: Cid, field: string) {
  const value = await viewAs('summary', summary, viewOf(store));
  if (!('runs' in value))
    fail('E_GATE', { where: summary, wanted: 'a summary', found: value.refused.detail });
  const runs = behind(value, field);
  const reason = runs.length === 0 ? { reason: reasonWithoutRuns(field) } : {};
  return { summary, field, value: pointed(value as unknown as Value, field), runs, ...reason };
}

function printedBehind({ field, value, runs, reason }: Awaited<ReturnType<typeof lookBehind>>): string {
  const shown = prettyJson(value as Json).trimEnd();
  if (reason !== undefined) return `${field}: ${shown}\nNo run is behind it: ${reason}.`;
  const each = runs.map(
    ({ receipt, challenge, arm, epoch, attempt, standing }) =>
      `  ${receipt}  ${challenge}, ${arm}, epoch ${epoch}, attempt ${attempt}: ${standing}`,
  );
  return [`${field}: ${shown}`, `${counted(runs.length, 'run')} behind it:`, ...each].join('\n');
}

interface Neighbour {
  readonly cid: string;
  readonly kind: string;
}

type Shown = Awaited<ReturnType<typeof look>>;

async function look(store: Store, cid: Cid) {
  const { shape, value } = await shapeOf(store, cid);
  const leaf = shape === 'record' ? await store.leafOf(cid) : null;
  const references = shape === 'record' ? referencesOf(parseRecord(value as Value)) : undefined;
  const links: Neighbour[] = [];
  for (const { cid: to, kinds } of references?.links ?? [])
    links.push({ cid: to, kind: (await store.kindOf(to)) ?? blockKind(to, kinds) });
  const evident: { digest: string; here: boolean }[] = [];
  for (const digest of references?.evidence ?? [])
    evident.push({ digest, here: await store.has(parseCid(digest)) });
  const linkers: Neighbour[] = [];
  for (const from of await collect(store.linkers(cid)))
    linkers.push({ cid: from, kind: (await store.kindOf(from)) ?? 'record' });
  return {
    cid,
    kind: leaf?.kind ?? shape,
    size: await store.size(cid),
    digest: evidence(digestOf(cid)),
    ...(leaf === null ? {} : { log: leaf.log, index: leaf.index, at: leaf.at }),
    ...(value === undefined ? {} : { value }),
    links,
    evidence: evident,
    linkers,
  };
}

function printed(shown: Shown): string {
  const { cid, kind, size, value, links, evidence: evident, linkers } = shown;
  const where = 'log' in shown ? [`leaf ${shown.index} of ${shown.log} at ${shown.at}`] : [];
  const body = value === undefined ? [] : [prettyJson(value as Json).trimEnd()];
  return [
    `${kind} ${cid} (${counted(size, 'byte')})`,
    ...where,
    ...body,
    ...section('links', links.map(line)),
    ...section(
      'evidence',
      evident.map(({ digest, here }) => `  ${digest}${here ? '' : ' (not here)'}`),
    ),
    ...section('linked by', linkers.map(line)),
  ].join('\n');
}

/** What a link to a block that is no record leads to. */
function blockKind(cid: Cid, kinds: readonly string[]): string {
  if (!kinds.includes('*')) return kinds.join(' or ');
  return codecOf(cid) === 'raw' ? 'raw' : 'block';
}

const line = ({ cid, kind }: Neighbour) => `  ${kind.padEnd(16)} ${cid}`;

const section = (title: string, lines: readonly string[]) =>
  lines.length === 0 ? [] : [`${title}:`, ...lines];
