/** An authored fixture folder -> one `fixture` record: its corpus, the evidence as a corpus of its own, its graphs. */
import { cp, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { z } from 'zod';
import { graphArm } from '../../rules/contracts/fixture.ts';
import { epochs, id, map, portablePath } from '../../rules/contracts/kit.ts';
import { type Cid, link } from '../../store/format/cid.ts';
import type { Value } from '../../store/format/codec.ts';
import { fail } from '../../store/format/errors.ts';
import { canonicalJson } from '../../store/format/json.ts';
import { buildRepository } from '../../store/git/build.ts';
import type { Store } from '../../store/store.ts';
import type { Trigger } from '../trigger.ts';
import { placeBelow, readAuthored, readBelow } from './authored.ts';
import { importCorpus } from './corpus.ts';
import { authoredAgent, authoredCondition, conditionRecord, draftAgent, recordAgent } from './small.ts';

const authored = z.strictObject({
  v: z.literal(1),
  id: id(),
  serves: z.array(id()).min(1),
  /** A step of a catalogue repository, or the name or CID of a corpus that is in the store. */
  source: z.union([z.strictObject({ repository: id(), step: id() }), z.strictObject({ corpus: z.string() })]),
  /** A folder; it is frozen as a one-commit corpus. */
  evidence: portablePath(),
  /** For the author: where each lesson stands. */
  lessons: portablePath().optional(),
  /** Agent and conditions of an exploratory study that follows by itself once this fixture is certified. */
  explore: z
    .strictObject({
      agent: authoredAgent,
      conditions: z.array(authoredCondition).min(1),
      epochs: epochs(),
    })
    .optional(),
  graphs: map(
    graphArm.omit({ state: true, surface: true }).extend({
      state: portablePath(),
      surface: z.array(z.strictObject({ id: z.string().min(1), text: z.string() })),
    }),
  ),
});

export interface FixtureInputs {
  readonly store: Store;
  readonly trigger: Trigger;
  /** `<repositories>/<name>/repository.json` of the catalogue; only for a `source.repository`. */
  readonly repositories?: string;
  /** Resolves a name or CID to a corpus. */
  readonly corpus: (name: string) => Promise<Cid>;
}

/** Evidence has no history of its own: one commit with these fields. */
const EVIDENCE = {
  v: 1,
  name: 'evidence',
  author: { name: 'evidence', email: 'evidence@example.invalid' },
  stored: {},
  steps: [{ id: 's0', date: '2000-01-01T00:00:00Z', message: 'evidence', folder: 'base' }],
};

/** Freezes `<folder>/fixture.json`. Idempotent. Throws E_CONTRACT, E_NOT_FOUND, E_PATH, E_GATE. */
export async function freezeFixture(inputs: FixtureInputs, folder: string): Promise<Cid> {
  const { store } = inputs;
  const {
    source,
    evidence,
    lessons: _,
    graphs,
    explore,
    ...read
  } = await readAuthored(join(folder, 'fixture.json'), authored);
  const frozen: Record<string, unknown> = {};
  for (const [arm, graph] of Object.entries(graphs)) {
    const state = link(await store.put(await readBelow(folder, graph.state)));
    const surface = link(await store.put(Buffer.from(canonicalJson(graph.surface), 'utf8')));
    frozen[arm] = { ...graph, state, surface };
  }
  const record = {
    kind: 'fixture',
    ...read,
    corpus: link(await sourceCorpus(inputs, source)),
    evidence: link(await evidenceCorpus(inputs, await placeBelow(folder, evidence))),
    graphs: frozen,
    ...(explore === undefined ? {} : { explore: await frozenExplore(store, explore, folder) }),
  };
  return (await store.record(record as unknown as Value)).cid;
}

async function frozenExplore(
  store: Store,
  { agent, conditions, epochs }: NonNullable<z.infer<typeof authored>['explore']>,
  folder: string,
) {
  const frozen: Cid[] = [];
  for (const each of conditions) frozen.push((await store.record(conditionRecord(each))).cid);
  const made = await recordAgent(store, await draftAgent(agent, folder));
  return { agent: link(made), conditions: frozen.map(link), epochs };
}

type Source = z.infer<typeof authored>['source'];

async function sourceCorpus(inputs: FixtureInputs, source: Source): Promise<Cid> {
  if ('corpus' in source) return inputs.corpus(source.corpus);
  if (inputs.repositories === undefined) {
    fail('E_CONFIG', {
      where: 'source',
      wanted: 'a corpus',
      found: 'a catalogue repository outside a catalogue',
    });
  }
  const folder = join(inputs.repositories, source.repository);
  return inScratch(async (target) => {
    const steps = buildRepository(folder, target);
    const step = steps.find((each) => each.step === source.step);
    if (step === undefined)
      fail('E_NOT_FOUND', { where: folder, wanted: source.step, found: steps.map((s) => s.step).join() });
    return (await importCorpus(inputs.store, inputs.trigger, { repository: target, commit: step.commit }))
      .corpus;
  });
}

/** Evidence becomes a repository of one commit, so that it is redacted, certified and re-derived like any corpus. */
async function evidenceCorpus(inputs: FixtureInputs, folder: string): Promise<Cid> {
  return inScratch(async (target) => {
    const source = `${target}-source`;
    await cp(folder, join(source, 'base'), { recursive: true });
    await writeFile(join(source, 'repository.json'), JSON.stringify(EVIDENCE));
    const commit = buildRepository(source, target).at(-1)?.commit;
    if (commit === undefined) fail('E_INTERNAL', { where: folder, wanted: 'a commit' });
    return (await importCorpus(inputs.store, inputs.trigger, { repository: target, commit })).corpus;
  });
}

async function inScratch<T>(use: (target: string) => Promise<T>): Promise<T> {
  const scratch = await mkdtemp(join(tmpdir(), 'ashlar-'));
  try {
    return await use(join(scratch, 'repository'));
  } finally {
    await rm(scratch, { recursive: true, force: true });
  }
}
