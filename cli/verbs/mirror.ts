/** `mirror`: serving a store to strangers, taking what another serves, writing a pulled release as a folder. */
import { resolve } from 'node:path';
import type { Api } from '../../daemon/api/api.ts';
import type { Limits } from '../../daemon/api/parts.ts';
import { pullMirror } from '../../daemon/mirror/pull.ts';
import { openSource } from '../../daemon/mirror/source.ts';
import { writeRelease } from '../../daemon/release/write.ts';
import { KIND_TABLE } from '../../rules/contracts/table.ts';
import { parseCid } from '../../store/format/cid.ts';
import { fail, isFault } from '../../store/format/errors.ts';
import { counted } from '../../store/format/words.ts';
import type { Store } from '../../store/store.ts';
import { recordOf } from '../objects.ts';
import { type StoreFlag, withStore } from '../open.ts';
import { stopSignal } from '../studies.ts';
import { amount, type Cli, maybe, STORE_FLAG, several, text, toggle, verb, word } from '../verb.ts';

type Flags = StoreFlag & {
  readonly host?: string;
  readonly port?: number;
  readonly rate?: number;
  readonly everything?: boolean;
  readonly as?: string;
  readonly family?: readonly string[];
  readonly key?: readonly string[];
  readonly out?: string;
};

export const command = verb<Flags, [what: string, subject?: string]>({
  example:
    'ashlar mirror serve --port 8080\nashlar mirror pull http://127.0.0.1:8080 --as lab\nashlar mirror write RELEASE --out release && ashlar verify release',
  about:
    'serve shows family logs, what they and releases link, and names; evidence that a study withholds is not served.\npull checks every signature and every byte, and goes on where an earlier pull ended. write puts a release of any\nfamily, pulled or own, into a folder that `verify` takes.',
  flags: {
    store: STORE_FLAG,
    host: text('serve: address to listen on (127.0.0.1)', 'ADDRESS'),
    port: amount('serve: port to listen on (any)', 'PORT'),
    rate: amount('serve: requests a minute from one address (1200)'),
    everything: toggle('serve: every block and record, also what a study withholds'),
    as: text('pull: names get this in front (the host of the URL)', 'NAME'),
    family: several('pull: only this family, by its first study', 'CID'),
    key: several('pull: verifier key that a new log may have', 'VKEY'),
    out: text('write: folder to write; new or empty', 'FOLDER'),
  },
  args: {
    kind: 'tuple',
    parameters: [word('serve|pull|write', 'What to do'), maybe('URL|RELEASE', 'Where from, or which')],
  },
  run(cli, flags, what, subject) {
    if (what === 'serve' && subject === undefined)
      // Not 'read': a snapshot beside an owner would never see what comes later.
      return withStore(cli, flags, 'write', (store) => serve(cli, store, flags));
    if (what === 'pull' && subject !== undefined)
      return withStore(cli, flags, 'write', (store) => pull(cli, store, subject, flags));
    if (what === 'write' && subject !== undefined)
      return withStore(cli, flags, 'read', (store) => write(cli, store, subject, flags));
    return fail('E_USAGE', {
      where: 'mirror',
      wanted: 'serve, pull URL or write RELEASE',
      found: [what, subject].filter((part) => part !== undefined).join(' '),
    });
  },
});

async function serve(cli: Cli, store: Store, flags: Flags): Promise<void> {
  // Other commands work beside us.
  const own = store.writable ? await ownApi(cli, store) : null;
  try {
    await serveStrangers(cli, store, flags);
  } finally {
    await own?.close();
  }
}

async function serveStrangers(
  { out }: Cli,
  store: Store,
  { host, port, rate, everything }: Flags,
): Promise<void> {
  // Not at the top: it takes a second, and the other two do not need it.
  const { serveMirror } = await import('../../daemon/mirror/serve.ts');
  const limits: Partial<Limits> = rate === undefined ? {} : { requestsPerMinute: rate };
  const stop = stopSignal();
  try {
    const api = await serveMirror(store, {
      port: port ?? 0,
      limits,
      ...(host === undefined ? {} : { host }),
      ...(everything === undefined ? {} : { everything }),
      onInternal: (error) => {
        const said = error instanceof Error ? (error.stack ?? error.message) : String(error);
        for (const line of said.split('\n')) out.note(line);
      },
    });
    out.say({ event: 'listening', url: api.url }, `listening on ${api.url}`);
    await new Promise<void>((resolve) => {
      stop.onStop(resolve);
      if (stop.aborted() !== undefined) resolve();
    });
    await api.close();
  } finally {
    stop.release();
  }
}

/** Where this process took the lock, other commands work through it; null where it works through another itself. */
async function ownApi({ env }: Cli, store: Store): Promise<Api | null> {
  const { openOwnApi } = await import('../../daemon/api/api.ts');
  try {
    return await openOwnApi(store, env);
  } catch (error) {
    if (isFault(error, 'E_STORE_BUSY')) return null;
    throw error;
  }
}

async function pull({ out }: Cli, store: Store, url: string, { as, family, key }: Flags): Promise<void> {
  const source = openSource(url);
  try {
    const pulled = await pullMirror(store, source, {
      mirror: as ?? hostOf(url),
      kinds: KIND_TABLE,
      ...(family === undefined ? {} : { families: family.map(parseCid) }),
      ...(key === undefined ? {} : { keys: key }),
      onBlocks: ({ blocks, bytes }) => out.progress(`${counted(blocks, 'block')}, ${counted(bytes, 'byte')}`),
    });
    for (const one of pulled.families)
      await out.print(
        one,
        `${one.family}  ${String(one.size).padStart(6)} ${one.size === 1 ? 'leaf  ' : 'leaves'}  ${one.vkey}`,
      );
    for (const { name, why } of pulled.skipped) out.note(`not taken: name ${name} (${why})`);
    const { blocks, bytes, records, names } = pulled;
    const line = `${counted(blocks, 'block')} (${counted(bytes, 'byte')}), ${counted(records, 'record')}, ${counted(names, 'name')}`;
    await out.print({ blocks, bytes, records, names }, line);
  } finally {
    source.close();
  }
}

/** A name segment for the mirror of a URL. */
function hostOf(url: string): string {
  const { hostname } = URL.canParse(url) ? new URL(url) : { hostname: '' };
  return hostname.replace(/[^A-Za-z0-9._-]/g, '-').replace(/^[^A-Za-z0-9]+/, '') || 'mirror';
}

async function write(
  { out, cwd }: Cli,
  store: Store,
  subject: string,
  { out: folder }: Flags,
): Promise<void> {
  if (folder === undefined) fail('E_USAGE', { where: 'mirror write', wanted: '--out FOLDER' });
  const release = await recordOf(store, subject, 'release');
  const target = resolve(cwd, folder);
  await writeRelease(store, release, target);
  await out.print({ release, folder: target }, target);
}
