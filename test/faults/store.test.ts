import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import t from 'tap';
import { type Files, realFiles } from '../../store/files.ts';
import { fail } from '../../store/format/errors.ts';
import type { Store } from '../../store/store.ts';
import { newPlace, placeAt, quickFolder, type TestPlace } from '../store/place.ts';
import { ALL_LEAVES, broken, leafCount, led, runSteps, type Step, type WriteCall } from './store-scenario.ts';

t.setTimeout(280_000);

/** Nothing here needs a real fsync: the processes end, the machine does not. */
const quick: Files = { ...realFiles, sync: async () => undefined, syncFolder: async () => undefined };

/** How the n-th changing call goes wrong: it never happened, it happened and was reported as failed, it wrote half. */
type Wrong = 'lost' | 'done' | 'half';

interface Plan {
  readonly at: number;
  readonly how: Wrong;
  /** Every later call is lost too, as when the disk is gone or full for good. */
  readonly onwards: boolean;
}

interface Counted {
  readonly files: Files;
  calls(): readonly WriteCall[];
}

function failing(plan: Plan | null): Counted {
  const calls: WriteCall[] = [];
  const files = led(quick, async (call, args, run) => {
    calls.push(call);
    const now = calls.length;
    if (plan === null || now < plan.at || (now > plan.at && !plan.onwards)) return run();
    if (now === plan.at && plan.how === 'done') await run();
    if (now === plan.at && plan.how === 'half' && call === 'write') await writeHalf(args);
    return fail('E_IO', { where: call, found: 'ENOSPC' });
  });
  return { files, calls: () => calls };
}

async function writeHalf(args: readonly unknown[]): Promise<void> {
  const [fd, chunks, position] = args as [number, Uint8Array[], number];
  const bytes = Buffer.concat(chunks);
  await quick.write(fd, [bytes.subarray(0, Math.floor(bytes.length / 2))], position);
}

async function live(place: TestPlace, files: Files): Promise<Step[]> {
  const done: Step[] = [];
  let store: Store;
  try {
    store = await place.open({ files });
  } catch {
    return done;
  }
  await runSteps(store, (step) => done.push(step));
  await store.close().catch(() => undefined);
  return done;
}

/** Opens what is left, demands every promise, and finishes the life. */
async function after(place: TestPlace, acknowledged: readonly Step[]): Promise<string[]> {
  const store = await place.open({ files: quick });
  try {
    const wrong = await broken(store, acknowledged);
    const again: Step[] = [];
    await runSteps(store, (step) => again.push(step));
    if (again.length !== 9) wrong.push(`the second life failed: ${again.join()}`);
    wrong.push(...(await broken(store, again)));
    const leaves = await leafCount(store);
    if (leaves !== ALL_LEAVES) wrong.push(`${leaves} leaves`);
    return wrong;
  } catch (error) {
    return [String(error)];
  } finally {
    await store.close();
  }
}

t.test('each changing call fails, persisted or not, once or for good: no promise is broken', async (t) => {
  const base = quickFolder(t);
  const seed = await newPlace(base);
  const copy = (name: string): TestPlace => {
    cpSync(seed.path, join(base, name), { recursive: true });
    mkdirSync(join(base, `key-${name}`));
    cpSync(seed.logKey, join(base, `key-${name}`, 'log.key'));
    return placeAt(join(base, name), join(base, `key-${name}`, 'log.key'));
  };
  const clean = failing(null);
  const all = await live(copy('clean'), clean.files);
  t.equal(all.length, 9, 'without faults every step is acknowledged');
  const calls = clean.calls();
  t.ok(calls.length > 40, `${calls.length} changing calls`);
  for (const plan of calls.flatMap(plansFor)) {
    const { at, how, onwards } = plan;
    const place = copy(`${at}-${how}-${onwards}`);
    const acknowledged = await live(place, failing(plan).files);
    const what = `call ${at} (${calls[at - 1]}) ${how}${onwards ? ' onwards' : ''}`;
    t.same(await after(place, acknowledged), [], what);
    rmSync(place.path, { recursive: true });
  }
});

/** What can go wrong with the call at this index; a disk that stays full, at every fourth. */
function plansFor(call: WriteCall, index: number): Plan[] {
  const at = index + 1;
  const plans: Plan[] = [{ at, how: 'lost', onwards: false }];
  if (call !== 'openWrite' && call !== 'mkdir') plans.push({ at, how: 'done', onwards: false });
  if (call === 'write') plans.push({ at, how: 'half', onwards: false });
  if (index % 4 === 0) plans.push({ at, how: 'lost', onwards: true });
  return plans;
}

t.test('the folder as it is after each changing call: nothing acknowledged is lost', async (t) => {
  // What SIGKILL leaves: the files as they are. Copying them costs less than a process for each call.
  const base = quickFolder(t);
  const place = await newPlace(join(base, 'live'));
  const moments: { readonly path: string; readonly acknowledged: readonly Step[] }[] = [];
  const done: Step[] = [];
  const files = led(quick, async (_call, _args, run) => {
    const result = await run();
    const path = join(base, String(moments.length));
    cpSync(place.path, join(path, 'store'), { recursive: true });
    cpSync(dirname(place.logKey), join(path, 'key'), { recursive: true });
    moments.push({ path, acknowledged: [...done] });
    return result;
  });
  const store = await place.open({ files });
  await runSteps(store, (step) => done.push(step));
  await store.close();
  t.ok(moments.length > 40, `${moments.length} moments`);
  for (const { path, acknowledged } of moments) {
    const left = placeAt(join(path, 'store'), join(path, 'key', 'log.key'));
    t.same(await after(left, acknowledged), [], `${acknowledged.length} acknowledged`);
    rmSync(path, { recursive: true });
  }
});

t.test('SIGKILL: nothing acknowledged is lost', async (t) => {
  const base = quickFolder(t);
  const child = fileURLToPath(new URL('./store-child.js', import.meta.url));
  const run = (place: TestPlace, last: number) =>
    spawnSync(process.execPath, [child, place.path, place.logKey, String(last)], { encoding: 'utf8' });
  const whole = run(await newPlace(join(base, 'whole')), 0)
    .stdout.trim()
    .split('\n');
  const calls = Number(/calls (\d+)/.exec(whole.at(-1) ?? '')?.[1]);
  t.ok(calls > 40, `${calls} changing calls`);
  for (let last = 7; last <= calls; last += 23) {
    const place = await newPlace(join(base, String(last)));
    const { stdout, signal } = run(place, last);
    t.equal(signal, 'SIGKILL', `killed after call ${last}`);
    const acknowledged = stdout.split('\n').filter((line) => line !== '') as Step[];
    t.same(await after(place, acknowledged), [], `after call ${last}, ${acknowledged.length} acknowledged`);
  }
});
