/**
 * Tar streams by their raw bytes: POSIX ustar with pax records, and GNU long names (pax(1), tar(5)).
 * Promises: names and link targets are the bytes of the archive, never decoded; sizes are exact; what is written is a
 * function of the entries alone (mtime 0). Errors: E_EXECUTOR for a damaged archive, or a kind that is not read
 * (sparse files, volume headers).
 * Does not promise: times, extended attributes or owners on reading; two equal paths are for the caller to refuse.
 */
import { fail } from '../../store/format/errors.ts';

const BLOCK = 512;
/** Longest run of pax records or GNU name that is read into memory, bytes. */
const LONGEST_META = 1 << 20;

export type TarType = 'file' | 'hard' | 'link' | 'char' | 'block' | 'dir' | 'fifo';

export interface TarEntry {
  /** Without a slash at the end. */
  readonly path: Uint8Array;
  readonly type: TarType;
  readonly mode: number;
  readonly size: number;
  /** Of a link or hard link; else empty. */
  readonly target: Uint8Array;
  readonly major: number;
  readonly minor: number;
  /** To be read before the next entry is asked for; what is left over is skipped. */
  readonly body: AsyncIterable<Uint8Array>;
}

const TYPES: Readonly<Record<string, TarType>> = {
  '\0': 'file',
  '0': 'file',
  '1': 'hard',
  '2': 'link',
  '3': 'char',
  '4': 'block',
  '5': 'dir',
  '6': 'fifo',
  '7': 'file',
};

/** The entries in order. O(bytes), memory one chunk. Throws E_EXECUTOR. */
export async function* readTar(source: AsyncIterable<Uint8Array>): AsyncGenerator<TarEntry> {
  const input = byteReader(source);
  let extra: Extra = {};
  for (;;) {
    const header = await input.take(BLOCK);
    if (header.every((byte) => byte === 0)) break;
    const flag = readFlag(header);
    const size = readNumber(header, 124, 12);
    if (flag === 'x' || flag === 'L' || flag === 'K') {
      extra = { ...extra, ...meta(flag, await takeMeta(input, size)) };
    } else if (flag === 'g') {
      refuseGlobal(await takeMeta(input, size));
    } else {
      // Only files have a body; old archives give links the size of what they point to.
      const length = TYPES[flag] === 'file' ? (extra.size ?? size) : 0;
      const body = input.body(length);
      yield { ...fields(header, flag, extra), size: length, body: body.chunks() };
      await body.skip();
      await input.take(padding(length));
      extra = {};
    }
  }
  // Whatever follows the end marker is padding; reading it lets the sender finish.
  await input.drain();
}

/** What pax and GNU records say about the entry that follows them. */
interface Extra {
  readonly path?: Uint8Array;
  readonly target?: Uint8Array;
  readonly size?: number;
}

function fields(header: Uint8Array, flag: string, extra: Extra): Omit<TarEntry, 'size' | 'body'> {
  const type = TYPES[flag];
  if (type === undefined) broken('a file, link, folder or special file', `type ${JSON.stringify(flag)}`);
  const path = extra.path ?? joined(header);
  const end = path.length - (path.at(-1) === 0x2f ? 1 : 0);
  return {
    path: path.subarray(0, end),
    // Archives before POSIX have no type for folders but the slash.
    type: type === 'file' && end < path.length ? 'dir' : type,
    mode: readNumber(header, 100, 8) & 0o7777,
    target: extra.target ?? cString(header.subarray(157, 257)),
    major: type === 'char' || type === 'block' ? readNumber(header, 329, 8) : 0,
    minor: type === 'char' || type === 'block' ? readNumber(header, 337, 8) : 0,
  };
}

function joined(header: Uint8Array): Uint8Array {
  const name = cString(header.subarray(0, 100));
  const posix = Buffer.from(header.subarray(257, 263)).toString('latin1') === 'ustar\0';
  const prefix = posix ? cString(header.subarray(345, 500)) : new Uint8Array();
  return prefix.length === 0 ? name : Buffer.concat([prefix, Buffer.from('/'), name]);
}

function readFlag(header: Uint8Array): string {
  let sum = 0;
  for (let i = 0; i < BLOCK; i++) sum += i >= 148 && i < 156 ? 0x20 : (header[i] as number);
  if (sum !== readNumber(header, 148, 8)) broken('a header whose checksum holds', 'another one');
  return String.fromCharCode(header[156] as number);
}

/** Octal digits, or base 256 where the first bit is set (GNU). */
function readNumber(header: Uint8Array, at: number, length: number): number {
  const field = header.subarray(at, at + length);
  let value: number;
  if ((field[0] as number) & 0x80) {
    value = field.reduce((sum, byte, i) => sum * 256 + (i === 0 ? byte & 0x7f : byte), 0);
  } else {
    const digits = Buffer.from(field).toString('latin1').replaceAll('\0', ' ').trim();
    if (!/^[0-7]*$/.test(digits)) broken('an octal number', JSON.stringify(digits));
    value = digits === '' ? 0 : Number.parseInt(digits, 8);
  }
  return Number.isSafeInteger(value) ? value : broken('a number below 2^53', String(value));
}

function meta(flag: 'x' | 'L' | 'K', bytes: Uint8Array): Extra {
  if (flag === 'x') return paxRecords(bytes);
  return flag === 'L' ? { path: cString(bytes) } : { target: cString(bytes) };
}

/** `<length> <key>=<value>\n`, length in bytes with itself. */
function paxRecords(bytes: Uint8Array): Extra {
  let extra: Extra = {};
  for (let at = 0; at < bytes.length; ) {
    const space = bytes.indexOf(0x20, at);
    const digits = Buffer.from(bytes.subarray(at, Math.max(at, space))).toString('latin1');
    const length = /^[1-9]\d*$/.test(digits) ? Number(digits) : 0;
    const record = bytes.subarray(space + 1, at + length);
    const equals = record.indexOf(0x3d);
    if (length === 0 || at + length > bytes.length || record.at(-1) !== 0x0a || equals < 1) {
      broken('pax records', Buffer.from(bytes.subarray(at, at + 40)).toString('latin1'));
    }
    const key = Buffer.from(record.subarray(0, equals)).toString('utf8');
    const value = record.subarray(equals + 1, -1);
    if (key.startsWith('GNU.sparse')) broken('a file that is stored whole', key);
    if (key === 'path') extra = { ...extra, path: value };
    if (key === 'linkpath') extra = { ...extra, target: value };
    if (key === 'size') extra = { ...extra, size: paxSize(value) };
    at += length;
  }
  return extra;
}

function paxSize(value: Uint8Array): number {
  const text = Buffer.from(value).toString('latin1');
  return /^\d{1,15}$/.test(text) ? Number(text) : broken('a size', text);
}

/** Records for the whole archive may say who made it, never what an entry is called or how long it is. */
function refuseGlobal(bytes: Uint8Array): void {
  const said = Object.keys(paxRecords(bytes));
  if (said.length > 0) broken('names and sizes by entry', `a global ${said.join()}`);
}

async function takeMeta(input: ByteReader, size: number): Promise<Uint8Array> {
  if (size > LONGEST_META) broken(`records of at most ${LONGEST_META} bytes`, String(size));
  const bytes = await input.take(size);
  await input.take(padding(size));
  return bytes;
}

function cString(field: Uint8Array): Uint8Array {
  const end = field.indexOf(0);
  return end < 0 ? field : field.subarray(0, end);
}

const padding = (size: number): number => (BLOCK - (size % BLOCK)) % BLOCK;

function broken(wanted: string, found: string): never {
  return fail('E_EXECUTOR', { where: 'tar stream', wanted, found });
}

interface ByteReader {
  take(length: number): Promise<Uint8Array>;
  body(length: number): { chunks(): AsyncGenerator<Uint8Array>; skip(): Promise<void> };
  drain(): Promise<void>;
}

function byteReader(source: AsyncIterable<Uint8Array>): ByteReader {
  const iterator = source[Symbol.asyncIterator]();
  let held: Uint8Array = new Uint8Array();

  /** At least one byte, at most `limit`. */
  async function some(limit: number): Promise<Uint8Array> {
    while (held.length === 0) {
      const next = await iterator.next();
      if (next.done === true) broken('the end of the archive', 'the end of the stream');
      held = next.value;
    }
    const part = held.subarray(0, limit);
    held = held.subarray(part.length);
    return part;
  }

  return {
    async take(length) {
      const parts: Uint8Array[] = [];
      for (let left = length; left > 0; ) {
        const part = await some(left);
        parts.push(part);
        left -= part.length;
      }
      return Buffer.concat(parts);
    },
    body(length) {
      let left = length;
      async function* chunks() {
        while (left > 0) {
          const part = await some(left);
          left -= part.length;
          yield part;
        }
      }
      return {
        chunks,
        async skip() {
          while (left > 0) left -= (await some(left)).length;
        },
      };
    },
    async drain() {
      while ((await iterator.next()).done !== true);
    },
  };
}

/** What is written: as `TarEntry`, with owner and content. */
export interface TarInput {
  readonly path: Uint8Array;
  readonly type: TarType;
  readonly mode: number;
  readonly uid: number;
  readonly gid: number;
  readonly size?: number;
  readonly target?: Uint8Array;
  readonly body?: AsyncIterable<Uint8Array> | Iterable<Uint8Array>;
}

const FLAGS: Readonly<Record<TarType, string>> = {
  file: '0',
  hard: '1',
  link: '2',
  char: '3',
  block: '4',
  dir: '5',
  fifo: '6',
};

/** The archive, GNU format (its names may be any bytes). Throws E_EXECUTOR where a body has not its size. */
export async function* writeTar(
  entries: AsyncIterable<TarInput> | Iterable<TarInput>,
): AsyncGenerator<Uint8Array> {
  for await (const entry of entries) {
    const path = entry.type === 'dir' ? Buffer.concat([entry.path, Buffer.from('/')]) : entry.path;
    const target = entry.target ?? new Uint8Array();
    if (path.length > 100) yield longName('L', path);
    if (target.length > 100) yield longName('K', target);
    const size = entry.size ?? 0;
    yield header({ ...entry, flag: FLAGS[entry.type], path, target, size });
    let written = 0;
    for await (const chunk of entry.body ?? []) {
      written += chunk.length;
      yield chunk;
    }
    if (written !== size) {
      fail('E_EXECUTOR', {
        where: Buffer.from(entry.path).toString(),
        wanted: `${size} bytes`,
        found: `${written}`,
      });
    }
    yield new Uint8Array(padding(size));
  }
  yield new Uint8Array(2 * BLOCK);
}

function longName(flag: 'L' | 'K', name: Uint8Array): Uint8Array {
  const bytes = Buffer.concat([name, new Uint8Array(1)]);
  const path = Buffer.from('././@LongLink');
  const fields = { flag, path, target: new Uint8Array(), mode: 0o644, uid: 0, gid: 0, size: bytes.length };
  return Buffer.concat([header(fields), bytes, new Uint8Array(padding(bytes.length))]);
}

function header(fields: {
  flag: string;
  path: Uint8Array;
  target: Uint8Array;
  mode: number;
  uid: number;
  gid: number;
  size: number;
}): Uint8Array {
  const block = Buffer.alloc(BLOCK);
  block.set(fields.path.subarray(0, 100), 0);
  octal(block, 100, 8, fields.mode);
  octal(block, 108, 8, fields.uid);
  octal(block, 116, 8, fields.gid);
  octal(block, 124, 12, fields.size);
  octal(block, 136, 12, 0);
  block.write(fields.flag, 156, 'latin1');
  block.set(fields.target.subarray(0, 100), 157);
  block.write('ustar  \0', 257, 'latin1');
  block.fill(' ', 148, 156);
  const sum = block.reduce((total, byte) => total + byte, 0);
  block.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148, 'latin1');
  return block;
}

function octal(block: Buffer, at: number, length: number, value: number): void {
  const digits = value.toString(8);
  if (digits.length < length) {
    block.write(`${digits.padStart(length - 1, '0')}\0`, at, 'latin1');
    return;
  }
  block.writeUIntBE(value, at + length - 6, 6);
  block[at] = (block[at] as number) | 0x80;
}
