/**
 * Everything of this machine that runs need, opened from the host configuration and closed together.
 * Promises: the scripted model is a server of this process behind the same meter as a real one; the label of the
 * store's sandboxes comes from its real path.
 */
import { mkdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { env } from 'node:process';
import { z } from 'zod';
import { sha256Hex } from '../store/format/crypto.ts';
import { fail } from '../store/format/errors.ts';
import type { Store } from '../store/store.ts';
import { PROJECT_FILE } from './execute/memory.ts';
import type { Executor, ExecutorName } from './executors/executor.ts';
import { openExecutor } from './executors/open.ts';
import type { Host } from './host.ts';
import { type Images, storeImages } from './images.ts';
import { readKey } from './meter/key.ts';
import type { UpstreamConfig } from './meter/upstream.ts';
import { loadBehaviours } from './model/behaviour.ts';
import { openModel } from './model/model.ts';
import { names, openScratch, placeOf, removeFolder, staleScratch } from './places.ts';
import { openProvisioner, type Provisioner } from './provisioner/provisioner.ts';

/** Longest reply of a provisioner, in bytes. */
const REPLY_BYTES = 64 << 20;

export interface Engine {
  readonly executor: Executor;
  /** What validations run under: role -> image. Runs take theirs from the study. */
  readonly images: Images;
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
  options: { executor?: ExecutorName; images?: Images } = {},
): Promise<Engine> {
  const owner = ownerOf(store);
  const name = options.executor ?? host.executor;
  const images = options.images ?? (name === 'docker' ? await storeImages(store) : {});
  const scratch = await openScratch(owner);
  const fixtureRoot = join(scratch, 'artifacts');
  await mkdir(fixtureRoot);
  const executor = await openExecutor(name, { folder: placeOf(owner) });
  const model = await openUpstreamModel(host, scratch);
  await destroyLeft(host, owner);
  return {
    executor,
    images,
    upstream: model.upstream,
    scripted: host.model.kind === 'scripted',
    owner,
    scratch,
    fixtureRoot,
    provisioner: (product) => productOf(host, scratch, product),
    async close() {
      await model.close();
      await executor.close();
      await rm(scratch, { recursive: true, force: true });
    },
  };
}

/** A product of this host, at work in a process's scratch folder. */
function productOf(host: Host, scratch: string, name: string): Provisioner {
  const found = host.provisioners[name];
  const wanted = Object.keys(host.provisioners).join(', ') || 'a provisioner in the host configuration';
  if (found === undefined) fail('E_CONFIG', { where: 'provisioners', wanted, found: name });
  const root = join(scratch, 'artifacts');
  return openProvisioner({ ...found, root, work: join(scratch, `product-${name}`), maxBytes: REPLY_BYTES });
}

const noted = z.object({ product: z.string(), project: z.string() });

/**
 * Destroys the projects that dead processes left in products, then their folders. A product that cannot, or is no
 * longer configured, keeps what it has: no run of ours will ask for that project again.
 */
async function destroyLeft(host: Host, owner: string): Promise<void> {
  for (const scratch of staleScratch(owner)) {
    for (const run of names(scratch)) {
      const note = await readFile(join(scratch, run, PROJECT_FILE), 'utf8').catch(() => undefined);
      const read = note === undefined ? undefined : noted.safeParse(asJson(note));
      if (read?.success !== true) continue;
      const { product, project } = read.data;
      const asked = async () => productOf(host, scratch, product).destroy({ project });
      await asked().catch(() => undefined);
    }
    removeFolder(scratch);
  }
}

/** The note may be half-written: the process died there. */
function asJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
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
