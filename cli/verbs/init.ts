/** `init`: an empty store, and a log key where there is none. */
import { realpathSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { logKeyPath } from '../../store/log/key.ts';
import { initStore } from '../../store/open.ts';
import { FOLDER, type StoreFlag } from '../open.ts';
import { maybe, STORE_FLAG, verb } from '../verb.ts';

export const command = verb<StoreFlag, [folder?: string]>({
  example: 'ashlar init',
  about:
    'Without FOLDER: --store, else ASHLAR_STORE, else .ashlar here. Running it again changes nothing. The key that signs\nits logs lies outside the store, at ASHLAR_LOG_KEY or ashlar/log.key in the configuration folder.',
  flags: { store: STORE_FLAG },
  args: { kind: 'tuple', parameters: [maybe('FOLDER', 'Where the store will be')] },
  async run({ out, env, cwd }, { store }, folder) {
    const path = resolve(cwd, folder ?? store ?? (env.ASHLAR_STORE || join(cwd, FOLDER)));
    await initStore(path);
    const made = { store: realpathSync(path), logKey: logKeyPath(env) };
    await out.print(made, made.store);
  },
});
