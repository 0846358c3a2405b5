/**
 * Blocks in memory, and trees made of plain data, for suites and tests.
 * Promises: what comes out has the digest asked for. Does not promise: to hold more than memory does.
 */
import { type Cid, type Codec, cidOf, digestOf, link } from '../../store/format/cid.ts';
import { fail } from '../../store/format/errors.ts';
import type { Emit, Reader } from '../../store/format/reader.ts';
import { type Entry, nameFromBytes, parseTree, snapshotBlock, treeBlock } from '../../store/format/tree.ts';

export interface Blocks {
  readonly reader: Reader;
  readonly emit: Emit;
}

export function memoryBlocks(): Blocks {
  const blocks = new Map<string, Uint8Array>();
  const get = async (cid: Cid) => blocks.get(digestOf(cid)) ?? fail('E_NOT_FOUND', { where: cid });
  return {
    reader: {
      get,
      async *stream(cid, range) {
        yield (await get(cid)).subarray(range?.start ?? 0, range?.end);
      },
      has: async (cid) => blocks.has(digestOf(cid)),
    },
    async emit(source, codec: Codec = 'raw') {
      const bytes = source instanceof Uint8Array ? source : Buffer.concat(await collect(source));
      const cid = cidOf(codec, bytes);
      blocks.set(digestOf(cid), Uint8Array.from(bytes));
      return cid;
    },
  };
}

async function collect(source: AsyncIterable<Uint8Array>): Promise<Uint8Array[]> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of source) chunks.push(Uint8Array.from(chunk));
  return chunks;
}

/** A folder as plain data; a name is a string, or `hex:…` for raw bytes. */
export interface Plan {
  readonly [name: string]:
    | { readonly file: string | Uint8Array; readonly mode?: number }
    | { readonly link: string }
    | { readonly dir: Plan; readonly mode?: number };
}

/** The CID of a tree node of this plan. */
export async function putTree(plan: Plan, emit: Emit): Promise<Cid> {
  const entries: Entry[] = [];
  for (const [spelled, what] of Object.entries(plan)) {
    const name = spelled.startsWith('hex:') ? nameFromBytes(Buffer.from(spelled.slice(4), 'hex')) : spelled;
    if ('dir' in what) {
      const cid = link(await putTree(what.dir, emit));
      entries.push({ name, type: 'dir', mode: what.mode ?? 0o755, cid });
    } else {
      const bytes = Buffer.from('link' in what ? what.link : what.file);
      const held = { name, cid: link(await emit(bytes)), size: bytes.length };
      entries.push(
        'link' in what
          ? { ...held, type: 'link', mode: 0 }
          : { ...held, type: 'file', mode: what.mode ?? 0o644 },
      );
    }
  }
  return emit(treeBlock(entries).bytes, 'dag-json');
}

/** The CID of a snapshot of this plan. */
export async function putSnapshot(plan: Plan, emit: Emit, mode = 0o755): Promise<Cid> {
  return emit(snapshotBlock({ mode, tree: link(await putTree(plan, emit)) }).bytes, 'dag-json');
}

/** The entries of one folder, by name. */
export async function entriesOf(reader: Reader, tree: Cid): Promise<Map<string, Entry>> {
  const named = parseTree(await reader.get(tree)).entries.map(
    (entry) => [typeof entry.name === 'string' ? entry.name : JSON.stringify(entry.name), entry] as const,
  );
  return new Map(named);
}
