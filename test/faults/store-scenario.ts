/**
 * One life of a store, small and whole: blocks, a big block, a batch, records in two logs, a name, a checkpoint.
 * `run` tells of each step as it is acknowledged; `survives` demands of an opened store that none of them is lost.
 */

import type { Files } from '../../store/files.ts';
import { openCheckpoint } from '../../store/format/checkpoint.ts';
import { type Cid, cidOf, link } from '../../store/format/cid.ts';
import { encodeBlock, type Value } from '../../store/format/codec.ts';
import { leafHash, treeRoot } from '../../store/format/merkle.ts';
import { parseVerifierKey } from '../../store/format/note.ts';
import type { Store } from '../../store/store.ts';
import { collect, filled } from '../suite/blocks.ts';

export const SMALL = filled(3000, 1);
export const BIG = filled((1 << 20) + 100, 2);
const BATCH = [filled(10, 3), filled(70_000, 4), filled(0, 0)];
const STUDY: Value = { kind: 'study', text: 's' };
const STUDY_CID = encodeBlock(STUDY).cid;
const RECORDS: readonly Value[] = [
  { kind: 'note', text: 'first' },
  STUDY,
  { kind: 'entry', study: link(STUDY_CID), unique: 'one' },
  { kind: 'made', derivation: '0'.repeat(64) },
];

export type Step =
  | 'small'
  | 'big'
  | 'batch'
  | 'record-0'
  | 'record-1'
  | 'record-2'
  | 'record-3'
  | 'name'
  | 'checkpoint';

export const STEPS: readonly { readonly step: Step; run(store: Store): Promise<unknown> }[] = [
  { step: 'small', run: (store) => store.put(SMALL) },
  { step: 'big', run: (store) => store.put(BIG) },
  { step: 'batch', run: (store) => store.putMany(BATCH.map((bytes) => ({ bytes }))) },
  ...RECORDS.map((value, i) => ({ step: `record-${i}` as Step, run: (store: Store) => store.record(value) })),
  { step: 'name', run: (store) => store.setName('here', STUDY_CID, null) },
  { step: 'checkpoint', run: async (store) => store.logs.checkpoint(await logOfStudy(store)) },
];

async function logOfStudy(store: Store): Promise<string> {
  return (await store.leafOf(STUDY_CID))?.log ?? 'nowhere';
}

/** Runs every step, going on after failures; tells which were acknowledged. */
export async function runSteps(store: Store, acknowledged: (step: Step) => void): Promise<void> {
  for (const { step, run } of STEPS) {
    try {
      await run(store);
      acknowledged(step);
    } catch {
      // A step may fail; it must not take back what others promised.
    }
  }
}

/** What is wrong with the store, given what was acknowledged: nothing, if it keeps its promises. */
export async function broken(store: Store, acknowledged: readonly Step[]): Promise<string[]> {
  const wrong: string[] = [];
  const wanted: Record<string, readonly Uint8Array[]> = { small: [SMALL], big: [BIG], batch: BATCH };
  for (const step of acknowledged) {
    for (const bytes of wanted[step] ?? []) {
      const found = await collect(store.stream(cidOf('raw', bytes))).catch((error: Error) => error.message);
      if (typeof found === 'string' || !found.equals(bytes)) wrong.push(`${step}: ${found}`);
    }
    const value = step.startsWith('record-') ? RECORDS[Number(step.slice(7))] : undefined;
    if (value !== undefined && (await store.leafOf(encodeBlock(value).cid)) === null)
      wrong.push(`${step}: no leaf`);
    if (step === 'name' && (await store.name('here'))?.target !== STUDY_CID) wrong.push('name: lost');
  }
  wrong.push(...(await badLogs(store)));
  return wrong;
}

/** Every leaf once, every leaf's record there and in the catalog, every checkpoint over these leaves. */
async function badLogs(store: Store): Promise<string[]> {
  const wrong: string[] = [];
  const seen = new Set<Cid>();
  for (const { origin, size, vkey } of await store.logs.list()) {
    const lines = (await collect(store.logs.leafBytes(origin))).toString().split('\n').slice(0, -1);
    if (lines.length !== size) wrong.push(`${origin}: ${lines.length} lines, size ${size}`);
    const root = treeRoot(lines.map((line) => leafHash(Buffer.from(line))));
    if (Buffer.compare(root, await store.logs.root(origin, size)) !== 0) wrong.push(`${origin}: root`);
    for await (const { cid, kind } of store.logs.leaves(origin)) {
      if (seen.has(cid)) wrong.push(`${cid}: two leaves`);
      seen.add(cid);
      if ((await store.kindOf(cid)) !== kind) wrong.push(`${cid}: catalog says ${await store.kindOf(cid)}`);
      await store.value(cid).catch((error: Error) => wrong.push(`${cid}: ${error.message}`));
    }
    const signed = openCheckpoint(await store.logs.checkpoint(origin), parseVerifierKey(vkey)).checkpoint;
    if (signed.size !== size || Buffer.compare(signed.root, root) !== 0) wrong.push(`${origin}: checkpoint`);
  }
  return wrong;
}

/** After the same life a second time nothing may be new but what was missing: 1 leaf a record. */
export async function leafCount(store: Store): Promise<number> {
  let leaves = 0;
  for (const { size } of await store.logs.list()) leaves += size;
  return leaves;
}
/** Leaves of a whole life: four records and a name. */
export const ALL_LEAVES = RECORDS.length + 1;

/** Calls that change the disk. */
export const WRITES = [
  'mkdir',
  'create',
  'openWrite',
  'write',
  'sync',
  'truncate',
  'rename',
  'remove',
  'syncFolder',
] as const;
export type WriteCall = (typeof WRITES)[number];

/** `files` with every changing call led through `around`. */
export function led(
  files: Files,
  around: (call: WriteCall, args: readonly unknown[], run: () => Promise<unknown>) => Promise<unknown>,
): Files {
  const out: Record<string, unknown> = { ...files };
  for (const call of WRITES) {
    const real = files[call] as (...args: unknown[]) => Promise<unknown>;
    out[call] = (...args: unknown[]) => around(call, args, () => real(...args));
  }
  return out as unknown as Files;
}
