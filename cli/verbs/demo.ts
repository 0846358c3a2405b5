/** `demo`: the whole path on embedded defaults, from a Git commit to a verified release. */
import { mkdtemp, readdir } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { execPath } from 'node:process';
import { parseHost } from '../../daemon/host.ts';
import { KIND_TABLE } from '../../rules/contracts/table.ts';
import { ensureFolder } from '../../store/files.ts';
import { fail } from '../../store/format/errors.ts';
import { canonicalJson } from '../../store/format/json.ts';
import { initStore, openStore } from '../../store/open.ts';
import { runDemo } from '../demo/run.ts';
import { type Cli, text, verb } from '../verb.ts';
import { verifiedText } from './verify.ts';

type Flags = { readonly out?: string };

export const command = verb<Flags, []>({
  example: 'ashlar demo',
  about:
    'No container engine, no key, no network. The model is scripted: the numbers show the machinery, not a model.',
  flags: {
    out: text('New or empty folder for store, key and release; else one in the temp folder', 'FOLDER'),
  },
  args: { kind: 'tuple', parameters: [] },
  async run(cli, flags) {
    const folder = await place(cli, flags.out);
    const path = join(folder, 'store');
    // A key of its own: a demo signs nothing with the key of real studies.
    const logKey = join(folder, 'log.key');
    await initStore(path, { logKey });
    const store = await openStore(path, { kinds: KIND_TABLE, clock: () => new Date(), logKey });
    try {
      await demo(cli, store, folder);
    } finally {
      await store.close();
    }
  },
});

async function place(cli: Cli, out: string | undefined): Promise<string> {
  if (out === undefined) return mkdtemp(join(tmpdir(), 'ashlar-demo-'));
  const folder = resolve(cli.cwd, out);
  ensureFolder(folder);
  const found = await readdir(folder);
  if (found.length > 0)
    fail('E_STORE_EXISTS', { where: folder, wanted: 'an empty folder', found: found.join(', ') });
  return folder;
}

async function demo(
  { out, root }: Cli,
  store: Awaited<ReturnType<typeof openStore>>,
  folder: string,
): Promise<void> {
  const catalogue = join(root, 'challenges');
  const target = join(folder, 'release');
  out.say({ event: 'begin', isolation: 'none', scripted: true }, 'isolation none; the model is scripted');
  const say = (phase: string, line: string) =>
    out.say({ event: 'step', phase, line }, `${phase.padEnd(10)}${line}`);
  const ran = await runDemo({ store, catalogue, target, host: hostOf(catalogue), say });
  const { study, release, report, verified } = ran;
  out.say({ event: 'report', text: report }, `\n${report}`);
  out.say({ event: 'verified', ...verified }, verifiedText(verified));
  const places = { store: store.path, release: target, study, releaseCid: release };
  out.say({ event: 'done', ...places }, `store   ${store.path}\nrelease ${target}\nstudy   ${study}`);
  if (verified.result === 'faults')
    fail('E_VERIFY', { where: target, found: String(verified.faults.length) });
}

function hostOf(catalogue: string) {
  const argv = [execPath, join(catalogue, 'provisioner', 'reference.mjs')];
  const host = {
    v: 1,
    executor: 'none',
    provisioners: { reference: { argv, recall: true } },
    model: { kind: 'scripted', behaviours: [join(catalogue, 'challenges')] },
  };
  return parseHost(Buffer.from(canonicalJson(host), 'utf8'), catalogue);
}
