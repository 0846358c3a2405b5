/** `daemon`: owns the store, serves it to other processes, and runs what becomes pending. */
import type { Engine } from '../../daemon/engine.ts';
import { pendingRuns } from '../../daemon/pending.ts';
import { reap } from '../../daemon/reap.ts';
import { runPending } from '../../daemon/run.ts';
import { openTrigger } from '../../daemon/trigger.ts';
import { why } from '../../daemon/why.ts';
import type { Value } from '../../store/format/codec.ts';
import type { Store } from '../../store/store.ts';
import { reapedLine, runOptions } from '../runs.ts';
import { HOST_FLAG, type HostFlag, stopSignal, withEngine } from '../studies.ts';
import { type Cli, NO_ARGS, storeVerb } from '../verb.ts';

export const command = storeVerb<HostFlag, []>({
  access: 'own',
  example: 'ashlar daemon --host host.json',
  about:
    'Other verbs reach the store through its socket meanwhile. SIGINT or SIGTERM stops between two steps, and the arm under\nway is recorded as aborted. Kill it anywhere: the next start writes off what was under way and goes on.',
  flags: { host: HOST_FLAG },
  args: NO_ARGS,
  run: (cli, store, flags) =>
    withEngine(cli, store, flags, async (engine) => {
      reapedLine(cli.out, await reap(store, [engine.executor], engine.owner));
      const close = await serve(cli, store);
      try {
        await loop(cli, store, engine);
      } finally {
        await close();
      }
    }),
});

/** The store's own socket, told to whoever finds the lock taken. */
async function serve({ out, env }: Cli, store: Store): Promise<() => Promise<void>> {
  const { openOwnApi } = await import('../../daemon/api/api.ts');
  const pending = async () => (await pendingRuns(store)) as unknown as readonly Value[];
  const api = await openOwnApi(store, env, { pending, why: (cid) => why(store, cid) });
  out.say({ event: 'listening', url: api.url }, `listening on ${api.url}`);
  return () => api.close();
}

/** Until a signal: run what is pending, then wait for a record. */
async function loop({ out }: Cli, store: Store, engine: Engine): Promise<void> {
  const stop = stopSignal();
  const trigger = openTrigger(store);
  let wake = () => {};
  let news = true;
  const unsubscribe = store.onRecords(() => {
    news = true;
    wake();
  });
  stop.onStop(() => wake());
  try {
    while (stop.aborted() === undefined) {
      if (!news) await new Promise<void>((resolve) => (wake = resolve));
      // What comes while we run is seen by the run itself, or makes one more round.
      news = false;
      if (stop.aborted() === undefined)
        await runPending(store, engine, trigger, runOptions(out, stop.aborted, {}));
    }
    out.say({ event: 'stopped', reason: stop.aborted() }, stop.aborted() ?? '');
  } finally {
    unsubscribe();
    stop.release();
  }
}
