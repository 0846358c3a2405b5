/**
 * Everything of this machine that runs need, opened from the host configuration and closed together.
 * Promises: the scripted model is a server of this process behind the same meter as a real one; the label of the
 * store's sandboxes comes from its real path.
 */
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { env } from 'node:process';
import { sha256Hex } from '../store/format/crypto.ts';
import { fail } from '../store/format/errors.ts';
import type { Store } from '../store/store.ts';
import type { Executor, Image } from './executors/executor.ts';
import { openExecutor } from './executors/open.ts';
import type { Host } from './host.ts';
import { readKey } from './meter/key.ts';
import type { UpstreamConfig } from './meter/upstream.ts';
import { loadBehaviours } from './model/behaviour.ts';
import { openModel } from './model/model.ts';
import { openProvisioner, type Provisioner } from './provisioner/provisioner.ts';

/** Longest reply of a provisioner, in bytes. */
const REPLY_BYTES = 64 << 20;

export interface Engine {
  readonly executor: Executor;
  readonly images: Readonly<Record<string, Image>>;
  readonly upstream: UpstreamConfig;
  readonly scripted: boolean;
  readonly owner: string;
  /** Empty folder of this process, removed on close. */
  readonly scratch: string;
  readonly fixtureRoot: string;
  /** Throws E_CONFIG for a name that this host does not offer. */
  provisioner(name: string): Provisioner;
  close(): Promise<void>;
}

/** The label of a store's sandboxes: short, and telling nothing. */
export const ownerOf = (store: Store): string => sha256Hex(Buffer.from(store.path, 'utf8')).slice(0, 16);

/** Opens executor, model and provisioners. Throws E_CONFIG, E_EXECUTOR. */
export async function openEngine(
  store: Store,
  host: Host,
  options: { executor?: 'none' | 'bwrap'; images?: Readonly<Record<string, Image>> } = {},
): Promise<Engine> {
  const owner = ownerOf(store);
  const scratch = await mkdtemp(join(tmpdir(), 'w-'));
  const fixtureRoot = join(scratch, 'artifacts');
  await mkdir(fixtureRoot);
  // The same folder at every start-up: what a dead process left there is found and removed.
  const executor = await openExecutor(options.executor ?? host.executor, {
    folder: join(tmpdir(), `b-${owner}`),
  });
  const model = await openUpstreamModel(host, scratch);
  return {
    executor,
    images: options.images ?? {},
    upstream: model.upstream,
    scripted: host.model.kind === 'scripted',
    owner,
    scratch,
    fixtureRoot,
    provisioner(name) {
      const found = host.provisioners[name];
      const wanted = Object.keys(host.provisioners).join(', ') || 'a provisioner in the host configuration';
      if (found === undefined) fail('E_CONFIG', { where: 'provisioners', wanted, found: name });
      const work = join(scratch, `product-${name}`);
      return openProvisioner({ ...found, root: fixtureRoot, work, maxBytes: REPLY_BYTES });
    },
    async close() {
      await model.close();
      await executor.close();
      await rm(scratch, { recursive: true, force: true });
    },
  };
}

async function openUpstreamModel({ model }: Host, scratch: string) {
  if (model.kind === 'scripted') {
    const behaviours = model.behaviours.flatMap((root) => loadBehaviours(root));
    const server = await openModel({ behaviours, listen: { socket: join(scratch, 'model.sock') } });
    const upstream: UpstreamConfig = { url: server.url, paths: ['/v1/messages'], timeoutSeconds: 60 };
    return { upstream, close: server.close };
  }
  const key = readKey(model.envFile === undefined ? { env } : { env, file: model.envFile });
  const { url, paths, keyHeader, timeoutSeconds } = model;
  const upstream = { url, paths, keyHeader, timeoutSeconds, ...(key === undefined ? {} : { key }) };
  return { upstream, close: async () => {} };
}
