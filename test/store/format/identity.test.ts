import { isDeepStrictEqual } from 'node:util';
import * as dagJson from '@ipld/dag-json';
import fc from 'fast-check';
import { base58btc } from 'multiformats/bases/base58';
import { CID } from 'multiformats/cid';
import { create } from 'multiformats/hashes/digest';
import type { MultihashDigest } from 'multiformats/hashes/interface';
import { sha256 } from 'multiformats/hashes/sha2';
import t from 'tap';
import {
  type Cid,
  cidBytes,
  cidFromBytes,
  cidFromDigest,
  cidOf,
  codecOf,
  type Digest,
  digestOf,
  isCid,
  link,
  parseCid,
} from '../../../store/format/cid.ts';
import {
  decode,
  encode,
  encodeBlock,
  fromBytes,
  isBytes,
  isLink,
  toBytes,
  type Value,
} from '../../../store/format/codec.ts';
import { VALUES } from './format.vectors.ts';

const E_CID = { code: 'E_CID' };
const E_CODEC = { code: 'E_CODEC' };
const EMPTY = 'bafkreihdwdcefgh4dqkjv67uzcmw7ojee6xedzdetojuzjevtenxquvyku';
const text = (bytes: Uint8Array) => Buffer.from(bytes).toString();

/** The value as the IPLD libraries hold it: CIDs and byte arrays instead of their dag-json shapes. */
function toIpld(value: Value): unknown {
  if (isLink(value)) return CID.parse(value['/']);
  if (isBytes(value)) return Uint8Array.from(fromBytes(value));
  if (Array.isArray(value)) return value.map(toIpld);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, part]) => [key, toIpld(part as Value)]));
}

const key = fc.stringMatching(/^[A-Za-z0-9_.:-]{1,64}$/).filter((name) => name !== '__proto__');
const bytes = fc.uint8Array({ maxLength: 40 });
const scalar: fc.Arbitrary<Value> = fc.oneof(
  fc.constant(null),
  fc.boolean(),
  fc.maxSafeInteger(),
  fc.string({ unit: 'grapheme' }),
  fc.string({ unit: 'binary' }),
  bytes.map(toBytes),
  bytes.map((content) => link(cidOf('raw', content))),
  bytes.map((content) => link(cidOf('dag-json', content))),
);
const value = fc.letrec<{ value: Value }>((tie) => ({
  value: fc.oneof({ maxDepth: 4 }, scalar, fc.array(tie('value')), fc.dictionary(key, tie('value'))),
})).value;

t.test('a CID is SHA-256 of the bytes, as the published constants and multiformats have it', async (t) => {
  t.equal(cidOf('raw', new Uint8Array()), EMPTY);
  const hex = `sha256:${'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855'}`;
  t.equal(parseCid(hex), EMPTY);
  for (const content of ['', 'hello\n', 'x'.repeat(3 << 20)]) {
    const data = Buffer.from(content);
    const raw = CID.createV1(0x55, await sha256.digest(data));
    t.equal(cidOf('raw', data), raw.toString());
    t.equal(cidOf('dag-json', data), CID.createV1(0x0129, raw.multihash).toString());
    t.same(cidBytes(cidOf('raw', data)), raw.bytes);
    t.equal(cidFromBytes(raw.bytes), raw.toString());
    t.equal(codecOf(cidOf('dag-json', data)), 'dag-json');
    t.equal(digestOf(cidOf('raw', data)), Buffer.from(raw.multihash.digest).toString('hex'));
  }
});

t.test('every other spelling of a CID is refused', async (t) => {
  const { multihash } = CID.parse(EMPTY);
  const digest = digestOf(EMPTY as Cid);
  const others: Record<string, string> = {
    'upper case': EMPTY.toUpperCase(),
    'one upper-case letter': `B${EMPTY.slice(1)}`,
    base58btc: CID.createV1(0x55, multihash).toString(base58btc),
    'version 0': CID.createV0(multihash as MultihashDigest<0x12>).toString(),
    'dag-cbor': CID.createV1(0x71, multihash).toString(),
    'dag-pb': CID.createV1(0x70, multihash).toString(),
    'one short': EMPTY.slice(0, -1),
    'one long': `${EMPTY}a`,
    'trailing bits': `${EMPTY.slice(0, -1)}v`,
    'a space before': ` ${EMPTY}`,
    'a newline after': `${EMPTY}\n`,
    'a path': `/ipfs/${EMPTY}`,
    'bare hex': digest,
    'upper-case hex': `sha256:${digest.toUpperCase()}`,
    'upper-case scheme': `SHA256:${digest}`,
    'short hex': `sha256:${digest.slice(1)}`,
    'a prefix': 'bafkrei',
    empty: '',
  };
  for (const [name, cid] of Object.entries(others)) {
    t.throws(() => parseCid(cid), E_CID, name);
    t.notOk(isCid(cid), name);
  }
  for (const data of [[], [1], [1, 0x55, 0x12, 0x20], [...CID.createV1(0x71, multihash).bytes]]) {
    t.throws(() => cidFromBytes(Uint8Array.from(data)), E_CID);
  }
  t.throws(() => cidFromBytes(Uint8Array.from([...cidBytes(EMPTY as Cid), 0])), E_CID, 'one byte more');
});

t.test('every vector value encodes as @ipld/dag-json does, and decodes to itself, frozen', async (t) => {
  for (const each of VALUES) {
    const { cid, bytes } = encodeBlock(each);
    t.equal(text(bytes), text(dagJson.encode(toIpld(each))));
    t.same(dagJson.decode(bytes), toIpld(each));
    t.same(decode(bytes), each);
    t.equal(cid, CID.createV1(dagJson.code, await sha256.digest(bytes)).toString());
  }
  const deep = decode(Buffer.from('{"a":[{"b":[1]}]}')) as { a: [{ b: number[] }] };
  t.throws(() => deep.a[0].b.push(2), TypeError);
  t.ok(Object.isFrozen(deep) && Object.isFrozen(deep.a) && Object.isFrozen(deep.a[0]));
});

t.test('property: any value round-trips, and no other spelling of it is accepted', async (t) => {
  const seed = fc.sample(fc.integer(), 1)[0] as number;
  t.comment(`seed ${seed}`);
  const same = (each: Value) => {
    const encoded = encode(each);
    const equal = isDeepStrictEqual(toIpld(decode(encoded)), toIpld(each));
    return equal && text(encoded) === text(dagJson.encode(toIpld(each)));
  };
  fc.assert(fc.property(value, same), { seed, numRuns: 200 });
  // One byte put in, taken out or changed: refused, or the canonical bytes of another value.
  const change = fc.tuple(
    value,
    fc.nat(),
    fc.nat({ max: 2 }),
    fc.constantFrom(...' \n\t"\\0,:[]{}/-.eE+=aAu'),
  );
  const strict = ([each, at, width, put]: [Value, number, number, string]) => {
    const whole = text(encode(each));
    const cut = at % (whole.length + 1);
    const other = Buffer.from(
      whole.slice(0, cut) + (width === 2 ? '' : put) + whole.slice(cut + Math.min(width, 1)),
    );
    try {
      return Buffer.compare(encode(decode(other)), other) === 0;
    } catch (error) {
      return (error as { code?: string }).code === 'E_CODEC';
    }
  };
  fc.assert(fc.property(change, strict), { seed, numRuns: 1500 });
  t.pass('200 values, 1500 changes');
});

const RESPELLED = [
  ' {}',
  '{}\n',
  '\ufeff{}',
  '{ }',
  '[1, 2]',
  '{"b":1,"a":2}',
  '{"a":1,"a":1}',
  '{"a":1,"a":2}',
  '{"\\u0061":1}',
  '"\\u0041"',
  '"\\/"',
  '"\\u00e9"',
  '"\\u000A"',
  '"\\u0008"',
  '1.0',
  '1e2',
  '1E2',
  '-0',
  '0.5',
  '1e400',
  '9007199254740992',
  '-9007199254740993',
  '12345678901234567890',
  '01',
  'NaN',
  'undefined',
  'nul',
  '',
  '{}{}',
  '"\\ud800"',
  '{"é":1}',
  '{"":1}',
  '{"a b":1}',
  '{"a/b":1}',
  '{"__proto__":1}',
  `{"${'k'.repeat(65)}":1}`,
  '{"/":"x"}',
  `{"/":"${EMPTY}","a":1}`,
  `{"/":"${EMPTY.toUpperCase()}"}`,
  `{"/":"/ipfs/${EMPTY}"}`,
  '{"/":{"bytes":"AA=="}}',
  '{"/":{"bytes":"AB"}}',
  '{"/":{"bytes":"-_8"}}',
  '{"/":{"bytes":"AA","x":1}}',
  '{"/":{"bytes":1}}',
  '{"/":{}}',
  '{"/":null}',
];

t.test('what canonical bytes cannot be is refused, with no stack overflow', async (t) => {
  for (const json of RESPELLED) t.throws(() => decode(Buffer.from(json)), E_CODEC, JSON.stringify(json));
  t.throws(() => decode(Buffer.from([0x22, 0xff, 0x22])), E_CODEC);
  t.throws(() => decode(Buffer.from([0x22, 0xed, 0xa0, 0x80, 0x22])), E_CODEC);
  const nest = (levels: number) => Buffer.from('['.repeat(levels) + ']'.repeat(levels));
  t.doesNotThrow(() => decode(nest(128)));
  t.throws(() => decode(nest(129)), E_CODEC);
  t.throws(() => decode(nest(1_000_000)), E_CODEC);
  t.equal(
    `${'k'.repeat(64)}`.length,
    Object.keys(decode(encode({ ['k'.repeat(64)]: 1 })) as object)[0]?.length,
  );
});

t.test('what a value cannot hold is refused with its place', async (t) => {
  const bad: [unknown, RegExp][] = [
    [undefined, /found undefined/],
    [0.1, /found 0\.1/],
    [-0, /found -0/],
    [Number.NaN, /found NaN/],
    [2 ** 53, /within/],
    [1n, /found bigint/],
    [() => 1, /found function/],
    [new Date(0), /found object/],
    [new Uint8Array(), /found object/],
    [new Map(), /found object/],
    ['\udc00', /a lone surrogate/],
    [{ a: [0, { b: undefined }] }, /at \/a\/1\/b/],
    [{ a: '\ud800' }, /at \/a;/],
    [{ 'a b': 1 }, /"a b"/],
    [{ a: Array(1) }, /at \/a\/0/],
    [Object.create({ inherited: 1 }), /found object/],
    [{ '/': 'x' }, /another map with the key/],
    [Object.defineProperty({}, '__proto__', { value: 1, enumerable: true }), /__proto__/],
  ];
  for (const [each, reason] of bad) {
    t.throws(() => encode(each as Value), E_CODEC);
    t.throws(() => encode(each as Value), reason);
  }
});

t.test('our base32 is that of multiformats, and only its spellings pass', async (t) => {
  const code = { raw: 0x55, 'dag-json': 0x0129 } as const;
  const codecs = fc.constantFrom('raw', 'dag-json') as fc.Arbitrary<'raw' | 'dag-json'>;
  const digests = fc.uint8Array({ minLength: 32, maxLength: 32 });
  fc.assert(
    fc.property(codecs, digests, (codec, digest) => {
      const theirs = CID.createV1(code[codec], create(0x12, digest));
      const hex = Buffer.from(digest).toString('hex') as Digest;
      const ours = cidFromDigest(codec, hex);
      const same = ours === theirs.toString() && Buffer.compare(cidBytes(ours), theirs.bytes) === 0;
      return same && isCid(ours) && digestOf(ours) === hex && codecOf(ours) === codec;
    }),
  );
  const cid = cidFromDigest('raw', 'ab'.repeat(32) as Digest);
  const json = cidFromDigest('dag-json', 'cd'.repeat(32) as Digest);
  const alphabet = 'abcdefghijklmnopqrstuvwxyz234567';
  for (const [text, at] of [cid, json].flatMap((text) => [...text].map((_, i) => [text, i] as const))) {
    const accepted = [...alphabet].filter((c) => isCid(text.slice(0, at) + c + text.slice(at + 1)));
    const canonical = [...alphabet].filter((c) => {
      try {
        const spelled = text.slice(0, at) + c + text.slice(at + 1);
        const parsed = CID.parse(spelled);
        const known = parsed.code === code.raw || parsed.code === code['dag-json'];
        const whole = parsed.multihash.code === 0x12 && parsed.multihash.digest.length === 32;
        return known && whole && parsed.version === 1 && parsed.toString() === spelled;
      } catch {
        return false;
      }
    });
    t.same(accepted, canonical, `character ${at} of ${text}`);
  }
});
