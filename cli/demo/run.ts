/**
 * The main job on embedded defaults, from a catalogue folder to a release folder: freeze, certify, validate, register,
 * run, admit, close, publish. Every step is the same function that a verb calls.
 */
import { join } from 'node:path';
import { admitEligible } from '../../daemon/decide/admit.ts';
import { closeFamily, publish } from '../../daemon/decide/close.ts';
import { keepC0 } from '../../daemon/decide/register.ts';
import { openEngine } from '../../daemon/engine.ts';
import { readAuthored } from '../../daemon/freeze/authored.ts';
import { freezeChallenge } from '../../daemon/freeze/challenge.ts';
import { putPolicies } from '../../daemon/freeze/corpus.ts';
import { freezeFixture } from '../../daemon/freeze/fixture.ts';
import { authoredStudy, recordStudy } from '../../daemon/freeze/study.ts';
import type { Host } from '../../daemon/host.ts';
import { writeRelease } from '../../daemon/release/write.ts';
import { type Ran, runPending } from '../../daemon/run.ts';
import { openTrigger } from '../../daemon/trigger.ts';
import { validate } from '../../daemon/validate.ts';
import { viewOf } from '../../daemon/view.ts';
import { viewAs } from '../../rules/runs.ts';
import type { Cid } from '../../store/format/cid.ts';
import { fail } from '../../store/format/errors.ts';
import type { Store } from '../../store/store.ts';

export interface DemoOptions {
  readonly store: Store;
  /** Folder of the catalogue. */
  readonly catalogue: string;
  /** Folder for the release; must not exist. */
  readonly target: string;
  readonly host: Host;
  readonly say: (line: string) => void;
}

export interface DemoResult {
  readonly study: Cid;
  readonly release: Cid;
  readonly ran: readonly Ran[];
}

/** Runs the demo study. Throws what its steps throw. */
export async function runDemo({ store, catalogue, target, host, say }: DemoOptions): Promise<DemoResult> {
  const trigger = openTrigger(store);
  const file = join(catalogue, 'studies', 'demo.json');
  const study = await readAuthored(file, authoredStudy);
  const frozen = new Map<string, Cid>();
  await putPolicies(store);
  for (const { challenge, fixture } of study.pairs) {
    say(`freeze     ${challenge} on ${fixture}`);
    frozen.set(
      `challenge/${challenge}`,
      await freezeChallenge(store, join(catalogue, 'challenges', challenge)),
    );
    const repositories = join(catalogue, 'repositories');
    const corpus = (name: string) =>
      fail('E_NOT_FOUND', { where: name, wanted: 'a corpus of the catalogue' });
    frozen.set(
      `fixture/${fixture}`,
      await freezeFixture({ store, trigger, repositories, corpus }, join(catalogue, 'fixtures', fixture)),
    );
  }
  await trigger.settle();
  const engine = await openEngine(store, host);
  try {
    for (const { challenge, fixture } of study.pairs) {
      const named = (name: string) => frozen.get(name) as Cid;
      const view = viewOf(store);
      const matrix = {
        store,
        executor: engine.executor,
        images: engine.images,
        owner: engine.owner,
        challenge: {
          cid: named(`challenge/${challenge}`),
          value: await viewAs('challenge', named(`challenge/${challenge}`), view),
        },
        fixture: {
          cid: named(`fixture/${fixture}`),
          value: await viewAs('fixture', named(`fixture/${fixture}`), view),
        },
        repeats: 1,
      };
      for await (const { solution, verdict, asExpected } of validate(matrix)) {
        say(
          `validate   ${challenge} ${solution}: reward ${verdict.reward} (${verdict.reason})${asExpected ? '' : ' NOT AS EXPECTED'}`,
        );
      }
    }
    const cid = await recordStudy(
      { store, named: async (name) => frozen.get(name) as Cid },
      study,
      join(catalogue, 'studies'),
    );
    await keepC0(store, cid);
    say(`register   study ${cid}`);
    const ran = await runPending(store, engine, trigger, {
      family: cid,
      ran: ({ challenge, arm, epoch, attempt, status }) =>
        say(`run        ${challenge} epoch ${epoch} ${arm} attempt ${attempt}: ${status}`),
    });
    const by = { who: 'the demo', why: 'mechanical eligibility', outcomesVisible: false };
    for (const { receipt, decision, reason } of await admitEligible(store, cid, by))
      say(`admit      ${receipt} ${decision} ${reason ?? ''}`);
    const close = await closeFamily(store, cid, { who: 'the demo', why: 'every plan is done' });
    const release = await publish(store, trigger, close);
    await writeRelease(store, release, target);
    return { study: cid, release, ran };
  } finally {
    await engine.close();
  }
}
