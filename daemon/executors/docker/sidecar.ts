/**
 * The container that owns a run's network: an empty one in which one loopback port leads to the meter's socket.
 * Promises: the program's container joins it and sees no socket. Does not promise: that it outlives the engine; whether
 * it still ran at the end is asked.
 */
import { fail } from '../../../store/format/errors.ts';
import { RELAY_PROGRAM } from '../relay.ts';
import type { Engine } from './engine.ts';
import { frameReader } from './frames.ts';

const SOCKET = '/run/meter.sock';
const READY_MS = 120_000;

export interface Sidecar {
  readonly id: string;
  /** Throws E_EXECUTOR where the relay ended before the program did: then its failure is ours. */
  check(): Promise<void>;
  remove(): Promise<void>;
}

/** Throws E_EXECUTOR where the relay does not listen. */
export async function openSidecar(
  engine: Engine,
  options: { image: string; socket: string; hostname: string; labels: Readonly<Record<string, string>> },
): Promise<Sidecar> {
  const id = await engine.create({
    image: options.image,
    argv: ['node', '-e', RELAY_PROGRAM, SOCKET],
    env: ['PATH=/usr/local/bin:/usr/bin:/bin'],
    unset: [],
    // The socket is the daemon's: whoever may connect to it here may connect to it there.
    user: `${process.getuid?.() ?? 0}:${process.getgid?.() ?? 0}`,
    cwd: '/',
    hostname: options.hostname,
    network: 'none',
    mounts: [{ type: 'bind', source: options.socket, target: SOCKET, readOnly: false }],
    tmpfs: {},
    capabilities: [],
    labels: options.labels,
    stdin: false,
    readOnlyRoot: true,
  });
  const remove = () => engine.remove(id);
  try {
    const ready = readyLine(await engine.attach(id, false));
    await engine.start(id);
    await ready;
  } catch (fault) {
    await remove();
    throw fault;
  }
  return {
    id,
    async check() {
      const state = await engine.inspect(id);
      if (state?.running !== true)
        fail('E_EXECUTOR', { where: 'relay', wanted: 'a running relay', found: 'none' });
    },
    remove,
  };
}

function readyLine(stream: NodeJS.ReadWriteStream): Promise<void> {
  let said = '';
  const ready = new Promise<void>((resolve, reject) => {
    const failed = () => {
      clearTimeout(timer);
      reject(notReady(said));
    };
    const timer = setTimeout(failed, READY_MS);
    const add = (bytes: Uint8Array) => {
      said += Buffer.from(bytes).toString('utf8');
      if (!said.includes('ready\n')) return;
      clearTimeout(timer);
      resolve();
    };
    stream.on('data', frameReader({ stdout: add, stderr: add }));
    stream.on('error', failed);
    stream.on('end', failed);
  });
  ready.catch(() => undefined);
  return ready;
}

function notReady(said: string): unknown {
  try {
    return fail('E_EXECUTOR', { where: 'relay', wanted: 'a listening relay', found: said.slice(0, 500) });
  } catch (fault) {
    return fault;
  }
}
