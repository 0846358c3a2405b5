/** `run`: what is pending, once. */
import { reap } from '../../daemon/reap.ts';
import { runPending } from '../../daemon/run.ts';
import { openTrigger } from '../../daemon/trigger.ts';
import { counted } from '../../store/format/words.ts';
import { reapedLine, runOptions } from '../runs.ts';
import { familyMeant, HOST_FLAG, type HostFlag, stopSignal, withEngine } from '../studies.ts';
import { amount, maybe, storeVerb } from '../verb.ts';

type Flags = HostFlag & { readonly limit?: number };

export const command = storeVerb<Flags, [study?: string]>({
  access: 'own',
  example: 'ashlar run --limit 1',
  about:
    'First what a dead process left behind is removed and written off. SIGINT or SIGTERM stops between two steps, and the\narm under way is recorded as aborted.',
  flags: { host: HOST_FLAG, limit: amount('Stop after so many arms') },
  args: { kind: 'tuple', parameters: [maybe('STUDY', 'Only this family, by CID or name')] },
  run: (cli, store, flags, study) =>
    withEngine(cli, store, flags, async (engine) => {
      const stop = stopSignal();
      try {
        const family = study === undefined ? undefined : await familyMeant(store, study);
        reapedLine(cli.out, await reap(store, [engine.executor], engine.owner));
        const options = runOptions(cli.out, stop.aborted, { family, limit: flags.limit });
        const ran = await runPending(store, engine, openTrigger(store), options);
        cli.out.say({ event: 'done', ran: ran.length }, `${counted(ran.length, 'arm')} ran`);
      } finally {
        stop.release();
      }
    }),
});
