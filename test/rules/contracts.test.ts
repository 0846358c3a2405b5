/** Every kind that the golden release holds, by its contract: valid as it stands, strict, whole, frozen, its links exact. */
import t from 'tap';
import { isRefused } from '../../rules/contracts/kit.ts';
import { type AnyRecord, isKind, parseRecord, referencesOf } from '../../rules/contracts/table.ts';
import { cidOfPath } from '../../rules/release/files.ts';
import { isEvidence } from '../../store/format/cid.ts';
import { decode, isLink, type Value } from '../../store/format/codec.ts';
import { isFault } from '../../store/format/errors.ts';
import { GOLDEN, readFiles } from '../tamper/publication.ts';

type Plain = Record<string, Value>;

/** One record of each kind, with the most links. */
const samples = new Map<string, Plain>();
for (const [path, bytes] of readFiles(GOLDEN)) {
  if (path !== 'release.json' && (cidOfPath(path) === undefined || !path.endsWith('.json'))) continue;
  const value = decode(bytes) as Plain;
  const kind = value.kind as string;
  if (!isKind(kind)) continue;
  const before = samples.get(kind);
  if (before === undefined || JSON.stringify(value).length > JSON.stringify(before).length)
    samples.set(kind, value);
}

const copy = (value: Plain): Plain => JSON.parse(JSON.stringify(value)) as Plain;
const refuses = (value: Value): boolean => {
  try {
    parseRecord(value);
    return false;
  } catch (error) {
    return isFault(error, 'E_CONTRACT') || isFault(error, 'E_KIND');
  }
};

/** Every map inside a value, links apart. */
function mapsIn(value: Value): Plain[] {
  if (typeof value !== 'object' || value === null || isLink(value)) return [];
  const below = Object.values(value).flatMap((part) => mapsIn(part as Value));
  return Array.isArray(value) ? below : [value as Plain, ...below];
}

function scalars(value: Value): Value[] {
  if (typeof value !== 'object' || value === null || isLink(value)) return [value];
  return Object.values(value).flatMap((part) => scalars(part as Value));
}

t.test('the golden release holds most kinds', (t) => {
  t.ok(samples.size >= 30, [...samples.keys()].sort().join(' '));
  t.end();
});

t.test('an unknown field of a record, and a record without its kind or version, is refused', (t) => {
  for (const [kind, value] of samples) {
    t.notOk(refuses(copy(value)), `${kind} as it stands`);
    t.ok(refuses({ ...copy(value), extra: 1 }), `${kind} with a field more`);
    for (const field of ['kind', 'v']) {
      const { [field]: _, ...rest } = copy(value);
      t.ok(refuses(rest), `${kind} without ${field}`);
    }
    t.ok(refuses({ ...copy(value), v: 2 }), `${kind} of another version`);
  }
  t.end();
});

t.test(
  'a list where a map is wanted, or nothing where something is, is refused at the top of every kind',
  (t) => {
    for (const [kind, value] of samples) {
      for (const field of Object.keys(value))
        t.ok(refuses({ ...copy(value), [field]: null }), `${kind} ${field}`);
    }
    t.end();
  },
);

t.test('links and evidence are found exactly', (t) => {
  for (const [kind, value] of samples) {
    const { links, evidence } = referencesOf(parseRecord(copy(value)));
    const wanted = scalars(value)
      .filter(isLink)
      .map((each) => each['/']);
    t.same(links.map(({ cid }) => cid).sort(), wanted.sort(), `links of ${kind}`);
    const texts = new Set(scalars(value).filter(isEvidence));
    t.ok(
      evidence.every((each) => texts.has(each)),
      `evidence of ${kind} stands in it`,
    );
    t.notOk(
      evidence.some((each) => wanted.includes(each as never)),
      'and is no link',
    );
  }
  t.end();
});

t.test('a parsed record is frozen at every level', (t) => {
  for (const [kind, value] of samples) {
    const record = parseRecord(copy(value)) as AnyRecord;
    t.ok(mapsIn(record as unknown as Value).every(Object.isFrozen), kind);
    t.notOk(isRefused(record), 'and the golden release refused nothing');
  }
  t.end();
});
