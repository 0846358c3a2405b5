/** What verbs about studies share: which family is meant, who decides, and the machine that runs it. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { type Engine, openEngine } from '../daemon/engine.ts';
import { families, familyOf } from '../daemon/family.ts';
import type { StudyInputs } from '../daemon/freeze/study.ts';
import { type Host, readHost } from '../daemon/host.ts';
import type { Cid } from '../store/format/cid.ts';
import { fail, isFault } from '../store/format/errors.ts';
import type { Store } from '../store/store.ts';
import { recordOf } from './objects.ts';
import { type Cli, needed, text, toggle } from './verb.ts';

/** The first study of the family that is meant: the only one where none is named. Throws E_USAGE, E_NOT_FOUND. */
export async function familyMeant(store: Store, named: string | undefined): Promise<Cid> {
  if (named !== undefined) return familyOf(store, await recordOf(store, named, 'study'));
  const all = await families(store);
  const [only] = all;
  if (only === undefined)
    fail('E_NOT_FOUND', { wanted: 'a study', hint: '`ashlar study FILE` registers one' });
  if (all.length > 1) fail('E_USAGE', { wanted: 'STUDY', found: `${all.length} studies: ${all.join(', ')}` });
  return only;
}

/** A record of the catalogue by CID, by name, or by its id alone. */
export async function catalogued(store: Store, kind: 'challenge' | 'fixture', text: string): Promise<Cid> {
  const named = `${kind}/${text}`;
  const head = /^[a-z0-9][a-z0-9-]{0,63}$/.test(text) ? await store.name(named) : null;
  return recordOf(store, head?.target ?? text, kind);
}

export type DecisionFlags = { readonly who: string; readonly why: string };
export const DECISION_FLAGS = {
  who: needed('Who decides', 'NAME'),
  why: needed('Why', 'SENTENCE'),
};

export type RunDecisionFlags = DecisionFlags & { readonly outcomesVisible?: boolean };
export const RUN_DECISION_FLAGS = {
  ...DECISION_FLAGS,
  outcomesVisible: toggle('Whoever decides has seen outcomes of this study'),
};

export const byWhom = ({ who, why, outcomesVisible }: RunDecisionFlags) => ({
  who,
  why,
  outcomesVisible: outcomesVisible === true,
});

export type HostFlag = { readonly host?: string };
export const HOST_FLAG = text('Host configuration; else host.json in the store', 'FILE');

/** What this machine offers. Throws E_CONFIG, E_NOT_FOUND. */
export async function hostMeant(store: Store, { host }: HostFlag): Promise<Host> {
  const path = host ?? join(store.path, 'host.json');
  try {
    return await readHost(path);
  } catch (error) {
    if (host !== undefined || !isFault(error, 'E_NOT_FOUND')) throw error;
    const hint = '--host FILE names one; it says which executor, provisioners and model this machine offers';
    return fail('E_CONFIG', { where: path, wanted: 'a host configuration', found: 'none', hint });
  }
}

/** The same where there is one, for verbs that run nothing. Throws E_CONFIG; E_NOT_FOUND for a file that was named. */
async function hostKnown(store: Store, flags: HostFlag): Promise<Host | undefined> {
  const known = flags.host !== undefined || existsSync(join(store.path, 'host.json'));
  return known ? hostMeant(store, flags) : undefined;
}

/** What a study file is registered from: this store, and the machine where one is known. */
export async function studyInputs(store: Store, flags: HostFlag): Promise<StudyInputs> {
  const host = await hostKnown(store, flags);
  const named = (name: string) =>
    recordOf(store, name, name.startsWith('challenge/') ? 'challenge' : 'fixture');
  return { store, named, ...(host === undefined ? {} : { host }) };
}

/** Opens the machine's engine, says what it is, hands it out and closes it. */
export async function withEngine<T>(
  { out }: Pick<Cli, 'out'>,
  store: Store,
  flags: HostFlag,
  use: (engine: Engine) => Promise<T>,
): Promise<T> {
  const engine = await openEngine(store, await hostMeant(store, flags));
  try {
    const { executor, scripted } = engine;
    const model = scripted ? 'the model is scripted' : 'the model is real';
    out.say({ event: 'engine', isolation: executor.name, scripted }, `isolation ${executor.name}; ${model}`);
    return await use(engine);
  } finally {
    await engine.close();
  }
}

/** A reason to stop after SIGINT or SIGTERM; the second one ends the process as it would without us. */
export function stopSignal() {
  let reason: string | undefined;
  const heard: (() => void)[] = [];
  const on = (signal: NodeJS.Signals) => {
    reason = `stopped by ${signal}`;
    for (const tell of heard) tell();
  };
  process.once('SIGINT', on).once('SIGTERM', on);
  return {
    aborted: () => reason,
    onStop: (tell: () => void) => void heard.push(tell),
    release: () => void process.off('SIGINT', on).off('SIGTERM', on),
  };
}
