/**
 * CARv1 framing (IPLD CARv1 spec): `varint(length) header`, then `varint(length) cid bytes` sections.
 * Promises: what is written is a valid CARv1; what is read is checked for form, canonical varints and our CIDs only.
 * Does not promise: that bytes have their CID's digest, or that a file is complete. CARv1 has no end mark: readers of
 * frames re-hash and walk the closure.
 */
import { type Cid, type Codec, cidBytes, cidFromBytes, cidFromDigest, type Digest } from './format/cid.ts';
import { fail } from './format/errors.ts';

/** The longest head of a section: an 8-byte varint and a CID with a two-byte codec. */
export const MAX_HEAD = 8 + 37;
/** The longest header that we read (bytes): more roots than anybody sends. */
export const MAX_HEADER = 1 << 20;

const PREFIX: Record<Codec, Uint8Array> = {
  raw: Uint8Array.of(0x01, 0x55, 0x12, 0x20),
  'dag-json': Uint8Array.of(0x01, 0xa9, 0x02, 0x12, 0x20),
};
const ROOTS = Buffer.from('a265726f6f7473', 'hex');
const VERSION_1 = Buffer.from('6776657273696f6e01', 'hex');
/** `bafkqaaa`, the identity CID of no bytes: the root of a CAR that has none. */
const NO_ROOT = Uint8Array.of(0x01, 0x55, 0x00, 0x00);

/** Unsigned LEB128, shortest form. */
export function varint(value: number): Uint8Array {
  const out: number[] = [];
  let rest = value;
  for (; rest >= 0x80; rest = Math.floor(rest / 128)) out.push((rest % 128) | 0x80);
  out.push(rest);
  return Uint8Array.from(out);
}

export interface Varint {
  readonly value: number;
  readonly length: number;
}

/** Reads a varint at `at`; null where there is none in its shortest form, below 2^53. */
export function readVarint(bytes: Uint8Array, at: number): Varint | null {
  let value = 0;
  let scale = 1;
  for (let i = 0; i < 8 && at + i < bytes.length; i++) {
    const byte = bytes[at + i] as number;
    value += (byte & 0x7f) * scale;
    scale *= 128;
    if (byte < 0x80) {
      const shortest = byte !== 0 || i === 0;
      return shortest && Number.isSafeInteger(value) ? { value, length: i + 1 } : null;
    }
  }
  return null;
}

/** Bytes of a section's head: varint and CID. */
export function headLength(codec: Codec, length: number): number {
  const cid = codec === 'raw' ? 36 : 37;
  let bytes = 1;
  for (let rest = cid + length; rest >= 0x80; rest = Math.floor(rest / 128)) bytes++;
  return bytes + cid;
}

/** Writes the head of a section into `out` at `at`; returns where the block's bytes begin. */
export function writeHead(out: Buffer, at: number, codec: Codec, digest: Digest, length: number): number {
  const prefix = PREFIX[codec];
  let position = at;
  for (let rest = prefix.length + 32 + length; ; rest = Math.floor(rest / 128)) {
    out[position++] = rest >= 0x80 ? (rest % 128) | 0x80 : rest;
    if (rest < 0x80) break;
  }
  // A handful of bytes: a loop costs less than a call into the runtime.
  for (let i = 0; i < prefix.length; i++) out[position++] = prefix[i] as number;
  return position + out.write(digest, position, 32, 'hex');
}

/** The head of a section. */
export function sectionHead(codec: Codec, digest: Digest, length: number): Uint8Array {
  const head = Buffer.allocUnsafe(headLength(codec, length));
  writeHead(head, 0, codec, digest, length);
  return head;
}

export interface Head {
  readonly codec: Codec;
  readonly digest: Digest;
  /** Bytes of the head itself. */
  readonly head: number;
  /** Bytes of the block behind it. */
  readonly length: number;
}

/** The head at `at`, or null where no section of ours begins. */
export function readHead(bytes: Uint8Array, at: number): Head | null {
  const size = readVarint(bytes, at);
  if (size === null) return null;
  const start = at + size.length;
  for (const codec of ['raw', 'dag-json'] as const) {
    const prefix = PREFIX[codec];
    const end = start + prefix.length + 32;
    if (!startsWith(bytes, start, prefix) || end > bytes.length || size.value < end - start) continue;
    const digest = hex(bytes, start + prefix.length, end);
    return { codec, digest, head: end - at, length: size.value - (end - start) };
  }
  return null;
}

function startsWith(bytes: Uint8Array, start: number, prefix: Uint8Array): boolean {
  for (let i = 0; i < prefix.length; i++) if (bytes[start + i] !== prefix[i]) return false;
  return true;
}

const hex = (bytes: Uint8Array, start: number, end: number): Digest =>
  (bytes instanceof Buffer ? bytes : Buffer.from(bytes)).toString('hex', start, end) as Digest;

/** The CID of a head. */
export const cidOfHead = ({ codec, digest }: Head): Cid => cidFromDigest(codec, digest);

/** The header of a CAR with these roots; none: the empty root `bafkqaaa`, for readers that demand one. */
export function carHeader(roots: readonly Cid[]): Uint8Array {
  const links = roots.length === 0 ? [NO_ROOT] : roots.map(cidBytes);
  const body = Buffer.concat([ROOTS, cborHead(4, links.length), ...links.map(cborLink), VERSION_1]);
  return Buffer.concat([varint(body.length), body]);
}

const cborLink = (cid: Uint8Array): Uint8Array =>
  Buffer.concat([Buffer.from('d82a', 'hex'), cborHead(2, cid.length + 1), Uint8Array.of(0), cid]);

/** A CBOR head (RFC 8949 section 3) in its shortest form, up to 2^32. */
function cborHead(major: number, value: number): Uint8Array {
  const type = major << 5;
  if (value < 24) return Uint8Array.of(type | value);
  if (value < 0x100) return Uint8Array.of(type | 24, value);
  if (value < 0x10000) return Uint8Array.of(type | 25, value >> 8, value & 0xff);
  const wide = Buffer.from([type | 26, 0, 0, 0, 0]);
  wide.writeUInt32BE(value, 1);
  return wide;
}

/** The roots in the body of a header (without its varint). Throws E_CAR; a CID that is not ours is E_CID. */
export function readHeader(body: Uint8Array): readonly Cid[] {
  const bytes = Buffer.from(body);
  const at = { position: 0 };
  expect(bytes, at, ROOTS);
  const count = cborValue(bytes, at, 4);
  const roots: Cid[] = [];
  for (let i = 0; i < count; i++) {
    const cid = readLink(bytes, at);
    if (!NO_ROOT.every((byte, k) => cid[k] === byte) || cid.length !== NO_ROOT.length)
      roots.push(cidFromBytes(cid));
  }
  expect(bytes, at, VERSION_1);
  if (at.position !== bytes.length) badHeader('the end');
  return roots;
}

function badHeader(wanted: string): never {
  return fail('E_CAR', { where: 'header', wanted, found: 'something else' });
}

function expect(bytes: Buffer, at: { position: number }, wanted: Uint8Array): void {
  const end = at.position + wanted.length;
  if (Buffer.compare(bytes.subarray(at.position, end), wanted) !== 0) badHeader('{roots: [cid], version: 1}');
  at.position = end;
}

function readLink(bytes: Buffer, at: { position: number }): Uint8Array {
  expect(bytes, at, Uint8Array.of(0xd8, 0x2a));
  const length = cborValue(bytes, at, 2);
  const end = at.position + length;
  if (length < 2 || end > bytes.length || bytes[at.position] !== 0) badHeader('a link');
  const cid = bytes.subarray(at.position + 1, end);
  at.position = end;
  return cid;
}

function cborValue(bytes: Buffer, at: { position: number }, major: number): number {
  const first = bytes[at.position] ?? 0;
  const small = first & 0x1f;
  const width = small < 24 ? 0 : small <= 26 ? 1 << (small - 24) : 9;
  if (first >> 5 !== major || width === 9 || at.position + 1 + width > bytes.length)
    badHeader('canonical CBOR');
  const value = width === 0 ? small : bytes.readUIntBE(at.position + 1, width);
  at.position += 1 + width;
  return value;
}
