import fc from 'fast-check';
import t from 'tap';
import {
  consistencyProof,
  emptyRoot,
  type Hash,
  type HashReader,
  inclusionProof,
  leafHash,
  nodeHash,
  openFrontier,
  rootAt,
  treeRoot,
  verifyConsistency,
  verifyInclusion,
} from '../../../store/format/merkle.ts';
import {
  bundleEntries,
  entryBundle,
  parseTilePath,
  type Tile,
  tileAt,
  tileHashes,
  tilePath,
  tileReader,
  tilesFor,
  tilesOf,
} from '../../../store/format/tile.ts';

const hex = (hash: Uint8Array) => Buffer.from(hash).toString('hex');
const bytes = (text: string) => Buffer.from(text, 'hex');
const E_PROOF = { code: 'E_PROOF' };

// The classic eight entries of Certificate Transparency and their roots, as published with the RFC 6962 reference
// implementations (certificate-transparency, transparency-dev/merkle).
const ENTRIES = [
  '',
  '00',
  '10',
  '2021',
  '3031',
  '40414243',
  '5051525354555657',
  '606162636465666768696a6b6c6d6e6f',
];
const ROOTS = [
  '6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d',
  'fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125',
  'aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77',
  'd37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7',
  '4e3bbb1f7b478dcfe71fb631631519a3bca12c9aefca1612bfce4c13a86264d4',
  '76e67dadbcdf1e10e1b74ddc608abd2f98dfb16fbce75277b5232a127f2087ef',
  'ddb89be403809e325750d3d263cd78929c2942b7942a34b77e122c9594a74c8c',
  '5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328',
];
const N = {
  a: '96a296d224f285c67bee93c30f8a309157f0daa35dc5b87e410b78630a09cfc7',
  b: '5f083f0a1a33ca076a95279832580db3e0ef4584bdff1f54c8a360f50de3031e',
  c: '6b47aaf29ee3c2af9af889bc1fb9254dabd31177f16232dd6aab035ca39bf6e4',
  d: 'bc1a0643b12e4d2d7c77918f44e0f4f79a838b6cf9ec5b5c283e1f4d88599e6b',
  e: 'ca854ea128ed050b41b35ffc1b87b8eb2bde461e9e3b5596ece6b9d5975a0ae0',
  f: '0ebc5d3437fbe2db158b9f126a1d118e308181031d0a949f8dededebc558ef6a',
  g: 'b08693ec2e721597130641e8211e7eedccb4c26413963eee6c1e2ed16ffb1a5f',
};
const INCLUSION = [
  { index: 0, size: 8, proof: [N.a, N.b, N.c] },
  { index: 5, size: 8, proof: [N.d, N.e, ROOTS[3]] },
  { index: 2, size: 3, proof: [ROOTS[1]] },
  { index: 1, size: 5, proof: [ROOTS[0], N.b, N.d] },
];
const CONSISTENCY = [
  { size1: 1, size2: 1, proof: [] },
  { size1: 1, size2: 8, proof: [N.a, N.b, N.c] },
  { size1: 6, size2: 8, proof: [N.f, N.e, ROOTS[3]] },
  { size1: 2, size2: 5, proof: [N.b, N.d] },
  { size1: 6, size2: 7, proof: [N.f, N.g, ROOTS[3]] },
];

// RFC 6962 section 2.1, word for word over D[from:to]: the other side of every comparison below. Roots are kept,
// because each is asked for often.
const split = (n: number) => {
  let k = 1;
  while (k * 2 < n) k *= 2;
  return k;
};
function naive(leaves: readonly Hash[]) {
  const known = new Map<string, Hash>();
  const root = (from: number, to: number): Hash => {
    if (to - from === 0) return emptyRoot();
    if (to - from === 1) return leaves[from] as Hash;
    const at = `${from}:${to}`;
    const k = from + split(to - from);
    const hash = known.get(at) ?? nodeHash(root(from, k), root(k, to));
    known.set(at, hash);
    return hash;
  };
  const path = (m: number, from: number, to: number): Hash[] => {
    if (to - from <= 1) return [];
    const k = from + split(to - from);
    return m < k ? [...path(m, from, k), root(k, to)] : [...path(m, k, to), root(from, k)];
  };
  const subproof = (m: number, from: number, to: number, whole: boolean): Hash[] => {
    if (m === to) return whole ? [] : [root(from, to)];
    const k = from + split(to - from);
    if (m <= k) return [...subproof(m, from, k, whole), root(k, to)];
    return [...subproof(m, k, to, false), root(from, k)];
  };
  return { root, path, subproof };
}

/** A log in memory: the hash of every complete subtree, as a frontier reports them. */
function grow(count: number) {
  const frontier = openFrontier();
  const nodes = new Map<string, Hash>();
  const leaves: Hash[] = [];
  for (let i = 0; i < count; i++) {
    const leaf = leafHash(Buffer.from(`entry ${i}`));
    leaves.push(leaf);
    frontier.append(leaf, (level, index, hash) => nodes.set(`${level}/${index}`, hash));
  }
  const read: HashReader = (level, index) => {
    const hash = nodes.get(`${level}/${index}`);
    if (hash === undefined) throw new Error(`subtree ${level}/${index} was never complete`);
    return hash;
  };
  return { frontier, nodes, leaves, read };
}

/** Roots by size, from an empty tree on. */
function rootsOf(leaves: readonly Hash[]): readonly Hash[] {
  const frontier = openFrontier();
  const later = leaves.map((leaf) => {
    frontier.append(leaf);
    return frontier.root();
  });
  return [emptyRoot(), ...later];
}

t.test('the published RFC 6962 roots and proofs come out, and verify', async (t) => {
  t.equal(hex(emptyRoot()), 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855');
  const leaves = ENTRIES.map((entry) => leafHash(bytes(entry)));
  for (let n = 1; n <= 8; n++) t.equal(hex(treeRoot(leaves.slice(0, n))), ROOTS[n - 1], `root of ${n}`);
  const nodes = new Map<string, Hash>();
  const frontier = openFrontier();
  for (const leaf of leaves)
    frontier.append(leaf, (level, index, hash) => nodes.set(`${level}/${index}`, hash));
  const read: HashReader = (level, index) => nodes.get(`${level}/${index}`) as Hash;
  for (const { index, size, proof } of INCLUSION) {
    t.same((await inclusionProof(index, size, read)).map(hex), proof, `path of ${index} in ${size}`);
    const leaf = leaves[index] as Hash;
    const hashes = proof.map((hash) => bytes(hash as string));
    t.doesNotThrow(() =>
      verifyInclusion({ index, size, leaf, root: bytes(ROOTS[size - 1] as string), proof: hashes }),
    );
  }
  for (const { size1, size2, proof } of CONSISTENCY) {
    t.same((await consistencyProof(size1, size2, read)).map(hex), proof, `${size1} -> ${size2}`);
    const [root1, root2] = [bytes(ROOTS[size1 - 1] as string), bytes(ROOTS[size2 - 1] as string)];
    const hashes = proof.map((hash) => bytes(hash as string));
    t.doesNotThrow(() => verifyConsistency({ size1, root1, size2, root2, proof: hashes }));
  }
});

t.test('frontier, roots and every proof equal the recursive definition, all pairs to 130', async (t) => {
  const MAX = 130;
  const { leaves, read, frontier } = grow(MAX);
  const roots = rootsOf(leaves);
  const { root, path, subproof } = naive(leaves);
  let wrong = 0;
  const compare = (a: readonly Hash[], b: readonly Hash[]) => {
    if (Buffer.compare(Buffer.concat(a), Buffer.concat(b)) !== 0) wrong++;
  };
  for (let size = 0; size <= MAX; size++) {
    const now = roots[size] as Hash;
    compare([root(0, size)], [now]);
    compare([await rootAt(size, read)], [now]);
    for (let index = 0; index < size; index++) {
      const proof = await inclusionProof(index, size, read);
      compare(proof, path(index, 0, size));
      verifyInclusion({ index, size, leaf: leaves[index] as Hash, root: now, proof });
    }
    for (let size1 = 1; size1 <= size; size1++) {
      const proof = await consistencyProof(size1, size, read);
      compare(proof, subproof(size1, 0, size, true));
      verifyConsistency({ size1, root1: roots[size1] as Hash, size2: size, root2: now, proof });
    }
  }
  t.equal(wrong, 0);
  t.equal(frontier.size(), MAX);
});

t.test('a frontier goes on from its state as if it had never stopped', async (t) => {
  const whole = grow(70);
  let frontier = openFrontier();
  for (const leaf of whole.leaves) {
    frontier.append(leaf);
    frontier = openFrontier(JSON.parse(JSON.stringify(frontier.state())));
  }
  t.same(frontier.state(), whole.frontier.state());
  t.equal(hex(frontier.root()), hex(whole.frontier.root()));
  t.throws(() => openFrontier({ size: 3, peaks: [ROOTS[0] as string] }), E_PROOF);
  t.throws(() => openFrontier({ size: 1, peaks: ['00'] }), E_PROOF);
  t.throws(() => openFrontier({ size: 1, peaks: [(ROOTS[0] as string).toUpperCase()] }), E_PROOF);
  t.throws(() => openFrontier({ size: -1, peaks: [] }), E_PROOF);
  t.throws(() => openFrontier().append(Buffer.alloc(31)), E_PROOF);
});

t.test('every altered inclusion proof is refused', async (t) => {
  const { leaves, read } = grow(40);
  const roots = rootsOf(leaves);
  for (const [index, size] of [
    [0, 1],
    [0, 8],
    [5, 8],
    [2, 3],
    [1, 5],
    [39, 40],
    [32, 40],
    [17, 33],
  ] as const) {
    const proof = await inclusionProof(index, size, read);
    const good = { index, size, leaf: leaves[index] as Hash, root: roots[size] as Hash, proof };
    t.doesNotThrow(() => verifyInclusion(good));
    const flipped = proof.map((_, i) => proof.map((hash, j) => (i === j ? flip(hash) : hash)));
    const bad = [
      { ...good, index: index - 1 },
      { ...good, index: index + 1 },
      { ...good, index: size },
      { ...good, index: 0.5 },
      { ...good, size: size * 2 },
      { ...good, size: Math.floor(size / 2) },
      { ...good, leaf: flip(good.leaf) },
      { ...good, leaf: good.leaf.subarray(1) },
      { ...good, root: flip(good.root) },
      { ...good, root: emptyRoot() },
      { ...good, root: new Uint8Array() },
      { ...good, proof: [...proof, good.root] },
      { ...good, proof: [...proof, new Uint8Array()] },
      { ...good, proof: [good.root, ...proof] },
      ...(proof.length > 0
        ? [
            { ...good, proof: proof.slice(1) },
            { ...good, proof: proof.slice(0, -1) },
          ]
        : []),
      ...flipped.map((other) => ({ ...good, proof: other })),
    ];
    for (const claim of bad) t.throws(() => verifyInclusion(claim), E_PROOF);
  }
  const hash = emptyRoot();
  t.throws(() => verifyInclusion({ index: 0, size: 0, leaf: hash, root: hash, proof: [] }), E_PROOF);
  await t.rejects(inclusionProof(40, 40, read), E_PROOF);
  await t.rejects(inclusionProof(-1, 40, read), E_PROOF);
});

t.test('every altered consistency proof is refused, and so is an empty or shrinking tree', async (t) => {
  const { leaves, read } = grow(40);
  const roots = rootsOf(leaves);
  for (const [size1, size2] of [
    [1, 2],
    [1, 8],
    [6, 8],
    [2, 5],
    [6, 7],
    [8, 40],
    [39, 40],
    [33, 37],
  ] as const) {
    const proof = await consistencyProof(size1, size2, read);
    const good = { size1, root1: roots[size1] as Hash, size2, root2: roots[size2] as Hash, proof };
    t.doesNotThrow(() => verifyConsistency(good));
    const bad = [
      { ...good, size1: size1 - 1 },
      { ...good, size1: size1 + 1 },
      { ...good, size2: size2 * 2 },
      { ...good, size2: size1 - 1 },
      { ...good, root1: good.root2, root2: good.root1 },
      { ...good, root1: flip(good.root1) },
      { ...good, root2: flip(good.root2) },
      { ...good, root1: Buffer.from('twelve bytes') },
      { ...good, proof: [] },
      { ...good, proof: [...proof, good.root1] },
      { ...good, proof: [...proof, good.root2] },
      { ...good, proof: [good.root1, ...proof] },
      { ...good, proof: proof.slice(0, -1) },
      { ...good, proof: [new Uint8Array(), ...proof] },
      ...proof.map((_, i) => ({ ...good, proof: proof.map((hash, j) => (i === j ? flip(hash) : hash)) })),
    ];
    for (const claim of bad) t.throws(() => verifyConsistency(claim), E_PROOF);
  }
  const root = roots[5] as Hash;
  t.throws(
    () => verifyConsistency({ size1: 0, root1: emptyRoot(), size2: 5, root2: root, proof: [] }),
    E_PROOF,
  );
  t.throws(() => verifyConsistency({ size1: 5, root1: root, size2: 5, root2: root, proof: [root] }), E_PROOF);
  t.throws(
    () => verifyConsistency({ size1: 5, root1: root, size2: 5, root2: emptyRoot(), proof: [] }),
    E_PROOF,
  );
  const odd = Buffer.from('twelve bytes');
  t.throws(() => verifyConsistency({ size1: 1, root1: odd, size2: 1, root2: odd, proof: [] }), E_PROOF);
  await t.rejects(consistencyProof(0, 5, read), E_PROOF);
  await t.rejects(consistencyProof(6, 5, read), E_PROOF);
});

t.test('tile paths have one spelling', async (t) => {
  // The first two are the examples of C2SP tlog-tiles.
  const known: [Tile, string][] = [
    [{ level: 0, index: 1_234_067, width: 256 }, 'tile/0/x001/x234/067'],
    [{ level: 2, index: 0, width: 1 }, 'tile/2/000.p/1'],
    [{ level: 63, index: 999, width: 255 }, 'tile/63/999.p/255'],
    [{ level: 'entries', index: 1000, width: 112 }, 'tile/entries/x001/000.p/112'],
  ];
  for (const [tile, path] of known) {
    t.equal(tilePath(tile), path);
    t.same(parseTilePath(path), tile);
  }
  const odd = [
    'tile/64/000',
    'tile/00/000',
    'tile/0/00',
    'tile/0/x000/000',
    'tile/0/001/000',
    'tile/0/x001',
    'tile/0/000.p/0',
  ];
  const more = [
    'tile/0/000.p/256',
    'tile/0/000.p/01',
    '/tile/0/000',
    'tile/0/000/',
    'tile/-1/000',
    'tile/0/000\n',
    '',
  ];
  const huge = `tile/0/${'x999/'.repeat(6)}999`;
  for (const path of [...odd, ...more, huge]) t.throws(() => parseTilePath(path), { code: 'E_PATH' }, path);
  // 70,000 leaves, as the specification counts them: 273 full and one of 112, one full and one of 17, one of 1.
  const paths = [...tilesOf(70_000)].map(tilePath);
  t.equal(paths.length, 277);
  t.same(paths.slice(-4), ['tile/0/273.p/112', 'tile/1/000', 'tile/1/001.p/17', 'tile/2/000.p/1']);
  t.same([...tilesOf(256)].map(tilePath), ['tile/0/000', 'tile/1/000.p/1']);
  t.same([...tilesOf(0)], []);
});

t.test('proofs read from tiles are the proofs of the tree, and touch few tiles', async (t) => {
  const SIZE = 70_123;
  const { nodes, leaves, read, frontier } = grow(SIZE);
  const root = frontier.root();
  const touched = new Set<string>();
  const fromTiles = tileReader(SIZE, (tile) => {
    touched.add(tilePath(tile));
    const level = (tile.level as number) * 8;
    const hashes = Array.from(
      { length: tile.width },
      (_, i) => nodes.get(`${level}/${tile.index * 256 + i}`) as Hash,
    );
    return Buffer.concat(hashes);
  });
  t.equal(hex(await rootAt(SIZE, fromTiles)), hex(root));
  t.same([...touched].sort(), tilesFor(0, SIZE, SIZE).map(tilePath).sort());
  for (const index of [0, 255, 256, 65_535, 65_536, 70_000, SIZE - 1]) {
    touched.clear();
    const proof = await inclusionProof(index, SIZE, fromTiles);
    t.same(proof.map(hex), (await inclusionProof(index, SIZE, read)).map(hex), `leaf ${index}`);
    verifyInclusion({ index, size: SIZE, leaf: leaves[index] as Hash, root, proof });
    t.ok(touched.size <= 6, `${touched.size} tiles`);
  }
  for (const size1 of [1, 256, 300, 65_536, 70_000]) {
    const proof = await consistencyProof(size1, SIZE, fromTiles);
    const root1 = await rootAt(size1, read);
    t.doesNotThrow(() => verifyConsistency({ size1, root1, size2: SIZE, root2: root, proof }));
  }
  const short = tileReader(SIZE, () => new Uint8Array(31));
  await t.rejects(inclusionProof(3, SIZE, short), E_PROOF);
  t.throws(() => tileAt(0, 1, 256), E_PROOF);
  t.throws(() => tileHashes(new Uint8Array(33), { level: 0, index: 0, width: 1 }), E_PROOF);
  await t.rejects(Promise.resolve(tileReader(300, () => new Uint8Array(44 * 32))(8, 1)), E_PROOF);
});

t.test('an entry bundle gives back its entries and nothing else', async (t) => {
  const run = fc.assert(
    fc.property(fc.array(fc.uint8Array({ maxLength: 300 }), { maxLength: 256 }), (entries) => {
      const bundle = entryBundle(entries);
      const back = bundleEntries(bundle, entries.length);
      return back.length === entries.length && Buffer.compare(entryBundle(back), bundle) === 0;
    }),
    { numRuns: 50 },
  );
  t.equal(run, undefined);
  t.equal(hex(entryBundle([bytes('aa'), bytes(''), bytes('bbcc')])), '0001aa00000002bbcc');
  const full = entryBundle([new Uint8Array(65_535)]);
  t.equal(bundleEntries(full, 1)[0]?.length, 65_535);
  t.throws(() => entryBundle([new Uint8Array(65_536)]), { code: 'E_TOO_LARGE' });
  for (const cut of ['00', '0002aa', '0001aa00']) t.throws(() => bundleEntries(bytes(cut), 1), E_PROOF, cut);
  t.throws(() => bundleEntries(bytes('0001aa'), 2), E_PROOF);
  t.throws(() => bundleEntries(bytes('0001aa0001bb'), 1), E_PROOF);
});

function flip(hash: Hash): Hash {
  const other = Uint8Array.from(hash);
  other[0] = (other[0] as number) ^ 8;
  return other;
}
