/** Every kind by its contract, as the golden release holds it or as people decide it: valid as it stands, strict, whole, frozen, its links exact. */
import t from 'tap';
import { isRefused } from '../../rules/contracts/kit.ts';
import { type AnyRecord, CONTRACTS, isKind, parseRecord, referencesOf } from '../../rules/contracts/table.ts';
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

const LINK = { '/': 'bafkreihdwdcefgh4dqkjv67uzcmw7ojee6xedzdetojuzjevtenxquvyku' };
const OTHER = { '/': 'bafkreigh2akiscaildcqabsyg3dfr6chu3fgpregiymsck7e7aqa4s52zy' };
const DIGEST = `sha256:${'a'.repeat(64)}`;
const by = { v: 1, who: 'Ann', why: 'seen' };

/** Kinds that people decide, and names: no run makes them. */
const DECIDED: Readonly<Record<string, Plain>> = {
  acceptance: { kind: 'acceptance', ...by, certificate: LINK, surface: 'docs', path: 'm.md', digest: DIGEST },
  addendum: { kind: 'addendum', ...by, study: LINK, text: 'Two runs more.' },
  amendment: { kind: 'amendment', ...by, before: LINK, after: OTHER },
  deviation: {
    kind: 'deviation',
    ...by,
    study: LINK,
    start: OTHER,
    receipt: OTHER,
    what: 'The clock jumped.',
  },
  name: { kind: 'name', v: 1, name: 'team/study-1', target: LINK, previous: null },
  override: {
    ...{ kind: 'override', ...by, study: LINK, subject: OTHER, admission: LINK },
    ...{ decision: 'excluded', outcomesVisible: true, supersedes: OTHER },
  },
  task_exclusion: { kind: 'task_exclusion', ...by, study: LINK, challenge: OTHER },
};
for (const [kind, value] of Object.entries(DECIDED)) samples.set(kind, value);

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

t.test('a study that yields more plans than anybody could run is none', async (t) => {
  const study = samples.get('study') as Plain;
  t.notOk(refuses({ ...study, epochs: 1000 }));
  for (const epochs of [0, 1001, 10_000, 1e9, Number.MAX_SAFE_INTEGER]) t.ok(refuses({ ...study, epochs }));
  t.ok(refuses({ ...study, pairs: Array(1001).fill((study.pairs as Value[])[0]) }));
  t.ok(refuses({ ...study, agents: Array(101).fill((study.agents as Value[])[0]) }));
  const explore = { agent: LINK, conditions: [OTHER], epochs: 1000 };
  const fixture = samples.get('fixture') as Plain;
  t.notOk(refuses({ ...fixture, explore }));
  t.ok(refuses({ ...fixture, explore: { ...explore, epochs: 1001 } }));
});

t.test('there is a sample of every kind', (t) => {
  t.same([...samples.keys()].sort(), Object.keys(CONTRACTS).sort());
  t.end();
});

/** What may be left out of the kinds above. */
const OPTIONAL: Readonly<Record<string, readonly string[]>> = {
  deviation: ['start', 'receipt'],
  override: ['supersedes'],
};
/** Kind and field -> values that it may not have. */
const WRONG: readonly [string, string, readonly Value[]][] = [
  ['acceptance', 'certificate', [LINK['/'], DIGEST, { '/': 'x' }, [], {}]],
  ['acceptance', 'digest', ['a'.repeat(64), `sha256:${'A'.repeat(64)}`, `${DIGEST}0`, LINK]],
  ['acceptance', 'surface', ['', 1, 'x'.repeat(16_385)]],
  ['acceptance', 'path', [1, ['m.md']]],
  ['addendum', 'text', ['', 1, {}]],
  ['addendum', 'study', [DIGEST, null]],
  ['amendment', 'before', [null, DIGEST, LINK['/']]],
  ['amendment', 'after', [null, [LINK]]],
  ['deviation', 'what', ['', null]],
  ['deviation', 'start', [null, DIGEST]],
  ['deviation', 'receipt', [null, 'none']],
  ['override', 'decision', ['admit', '', true]],
  ['override', 'outcomesVisible', ['yes', 0, null]],
  ['override', 'subject', [{ receipt: LINK }, DIGEST]],
  ['override', 'supersedes', [null, []]],
  ['task_exclusion', 'challenge', [DIGEST, 'late-departure']],
  [
    'name',
    'name',
    ['', '/a', 'a/', 'a//b', '.a', 'a/../b', 'a b', 'a'.repeat(65), 'a/'.repeat(8).concat('b')],
  ],
  ['name', 'target', [DIGEST, 'none']],
  ['name', 'previous', [DIGEST, LINK['/']]],
];

t.test('kinds that people decide: each field is needed, and none takes another form', (t) => {
  for (const [kind, value] of Object.entries(DECIDED)) {
    for (const field of Object.keys(value)) {
      const { [field]: _, ...rest } = copy(value);
      t.equal(refuses(rest), OPTIONAL[kind]?.includes(field) !== true, `${kind} without ${field}`);
    }
    if (kind !== 'name')
      for (const field of ['who', 'why']) t.ok(refuses({ ...copy(value), [field]: '' }), `${kind} ${field}`);
  }
  for (const [kind, field, values] of WRONG)
    for (const wrong of values)
      t.ok(
        refuses({ ...copy(DECIDED[kind] as Plain), [field]: wrong }),
        `${kind} ${field} ${JSON.stringify(wrong)}`.slice(0, 80),
      );
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
      for (const field of Object.keys(value)) {
        // A name may point at nothing, and the first one follows none.
        const nullable = kind === 'name' && ['target', 'previous'].includes(field);
        t.equal(refuses({ ...copy(value), [field]: null }), !nullable, `${kind} ${field}`);
      }
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
