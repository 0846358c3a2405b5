/** Vectors of the formats: value -> bytes -> cid, text -> signed note, leaves -> roots and proofs. */
import { printCheckpoint, printLogProof, signCheckpoint } from '../../../store/format/checkpoint.ts';
import { type Cid, cidBytes, cidOf, digestOf, link } from '../../../store/format/cid.ts';
import { encodeBlock, toBytes, type Value } from '../../../store/format/codec.ts';
import type { Json } from '../../../store/format/json.ts';
import {
  consistencyProof,
  type Hash,
  type HashReader,
  inclusionProof,
  leafHash,
  openFrontier,
} from '../../../store/format/merkle.ts';
import {
  addSignatures,
  cosigner,
  noteSigner,
  printVerifierKey,
  signNote,
} from '../../../store/format/note.ts';
import { entryBundle, tilePath, tilesOf } from '../../../store/format/tile.ts';
import { type Entry, snapshotBlock, treeBlock } from '../../../store/format/tree.ts';
import type { Vectors } from '../../tools/vectors.ts';

const hex = (bytes: Uint8Array) => Buffer.from(bytes).toString('hex');
const utf8 = (bytes: Uint8Array) => Buffer.from(bytes).toString('utf8');
const hello = cidOf('raw', Buffer.from('hello\n'));
const empty = cidOf('raw', new Uint8Array());

export async function vectors(): Promise<Vectors> {
  return {
    'cid.json': cids(),
    'codec.json': VALUES.map(codec),
    'tree.json': trees(),
    'note.json': notes(),
    'merkle.json': await merkle(),
  };
}

function cids(): Json {
  const contents = ['', 'hello\n', 'a'.repeat(1000)];
  return contents.map((content) => {
    const raw = cidOf('raw', Buffer.from(content));
    const dagJson = cidOf('dag-json', Buffer.from(content));
    return {
      content,
      digest: digestOf(raw),
      raw,
      rawBytes: hex(cidBytes(raw)),
      dagJson,
      dagJsonBytes: hex(cidBytes(dagJson)),
    };
  });
}

/** One of each kind of value, and each place where a spelling could differ. */
export const VALUES: readonly Value[] = [
  null,
  true,
  false,
  0,
  -1,
  Number.MAX_SAFE_INTEGER,
  Number.MIN_SAFE_INTEGER,
  '',
  'plain',
  'quote " backslash \\ slash / newline \n tab \t nul \0 delete \u007f',
  'é ü \u2028 \u2029 \ufeff 😀 e\u0301',
  [],
  {},
  [[], [[]], {}],
  { b: 1, a: 2, B: 3, A: 4 },
  { '10': 1, '9': 2, a: 3, ab: 4, 'a.b': 5, 'a-b': 6, a_b: 7, 'a:b': 8 },
  { constructor: 1, toString: 2, hasOwnProperty: 3 },
  link(hello),
  link(cidOf('dag-json', Buffer.from('{}'))),
  toBytes(new Uint8Array()),
  toBytes(Buffer.from([0])),
  toBytes(Buffer.from([0xfb, 0xff, 0xbf])),
  {
    links: [link(hello), link(empty)],
    bytes: toBytes(Buffer.from('hello\n')),
    decimal: '0.1',
    depth: [[[[1]]]],
  },
];

function codec(value: Value): Json {
  const { cid, bytes } = encodeBlock(value);
  return { value: value as Json, bytes: utf8(bytes), cid };
}

const ENTRIES: readonly Entry[] = [
  { name: 'file', type: 'file', mode: 0o644, cid: link(hello), size: 6 },
  { name: 'run.sh', type: 'file', mode: 0o4755, cid: link(empty), size: 0 },
  { name: 'link', type: 'link', mode: 0, cid: link(cidOf('raw', Buffer.from('file'))), size: 4 },
  { name: 'dir', type: 'dir', mode: 0o755, cid: link(treeBlock([]).cid) },
  { name: 'module', type: 'submodule', mode: 0, oid: '4b825dc642cb6eb9a060e54bf8d69288fbee4904' },
  { name: 'null', type: 'device', mode: 0, rdev: 'c:1:3' },
  { name: 'pipe', type: 'fifo', mode: 0 },
  { name: 'sock', type: 'socket', mode: 0 },
  { name: toBytes(Buffer.from([0x66, 0xff])), type: 'file', mode: 0o600, cid: link(empty), size: 0 },
  // Byte order differs from UTF-16 order in these two.
  { name: '\ufb33', type: 'fifo', mode: 0 },
  { name: '😀', type: 'fifo', mode: 0 },
];

function trees(): Json {
  const listed = [[], ENTRIES.slice(0, 1), ENTRIES];
  const nodes = listed.map((entries) => {
    const { cid, bytes } = treeBlock(entries);
    return { entries: entries as unknown as Json, bytes: utf8(bytes), cid };
  });
  const snapshots = [0o755, 0o1777].map((mode) => {
    const snapshot = { mode, tree: link(nodes[2]?.cid as Cid) };
    const { cid, bytes } = snapshotBlock(snapshot);
    return { snapshot: snapshot as unknown as Json, bytes: utf8(bytes), cid };
  });
  return { nodes, snapshots };
}

function notes(): Json {
  const [logSeed, witnessSeed] = [Buffer.alloc(32, 1), Buffer.alloc(32, 2)];
  const log = noteSigner('ashlar.example/study', logSeed);
  const witness = cosigner('witness.example', witnessSeed, 1_700_000_000);
  const [a, b] = [leafHash(Buffer.from('a')), leafHash(Buffer.from('b'))];
  const frontier = openFrontier();
  for (const leaf of [a, b]) frontier.append(leaf);
  const checkpoint = { origin: 'ashlar.example/study', size: 2, root: frontier.root() };
  const signed = signCheckpoint(checkpoint, log);
  return {
    log: { seed: hex(logSeed), key: printVerifierKey(log.key) },
    witness: { seed: hex(witnessSeed), key: printVerifierKey(witness.key), time: 1_700_000_000 },
    note: { text: 'é\n\nb\n', note: utf8(signNote('é\n\nb\n', [log])) },
    checkpoint: {
      text: printCheckpoint(checkpoint),
      note: utf8(signed),
      cosigned: utf8(addSignatures(signed, [witness])),
    },
    logProof: {
      leaf: hex(b),
      text: utf8(printLogProof({ index: 1, proof: [a], checkpoint: signed, extra: Buffer.from('x') })),
    },
  };
}

async function merkle(): Promise<Json> {
  const nodes = new Map<string, Hash>();
  const frontier = openFrontier();
  const roots = [hex(frontier.root())];
  const entries = Array.from({ length: 11 }, (_, i) => `entry ${i}`);
  for (const entry of entries) {
    frontier.append(leafHash(Buffer.from(entry)), (level, index, hash) =>
      nodes.set(`${level}/${index}`, hash),
    );
    roots.push(hex(frontier.root()));
  }
  const read: HashReader = (level, index) => nodes.get(`${level}/${index}`) as Hash;
  const inclusion: Json[] = [];
  for (let index = 0; index < 11; index++) {
    inclusion.push({ index, size: 11, proof: (await inclusionProof(index, 11, read)).map(hex) });
  }
  const consistency: Json[] = [];
  for (let size1 = 1; size1 <= 11; size1++) {
    consistency.push({ size1, size2: 11, proof: (await consistencyProof(size1, 11, read)).map(hex) });
  }
  const bundle = hex(entryBundle(entries.map((entry) => Buffer.from(entry))));
  return {
    entries,
    roots,
    frontier: frontier.state() as unknown as Json,
    inclusion,
    consistency,
    bundle,
    tiles: [...tilesOf(70_000)].slice(-4).map(tilePath),
  };
}
