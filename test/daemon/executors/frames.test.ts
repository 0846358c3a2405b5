/**
 * The engine's multiplexed stream: headers, characters and frames that straddle chunks.
 */
import fc from 'fast-check';
import t from 'tap';
import { frameReader } from '../../../daemon/executors/docker/frames.ts';

const frame = (stream: number, bytes: Uint8Array): Buffer => {
  const header = Buffer.alloc(8);
  header[0] = stream;
  header.writeUInt32BE(bytes.length, 4);
  return Buffer.concat([header, bytes]);
};
const accent = Buffer.from('é');
const FRAMES = [
  frame(1, Buffer.from('out1\n')),
  frame(2, Buffer.from('err1\n')),
  frame(1, Buffer.alloc(0)),
  frame(1, Buffer.concat([Buffer.from('caf'), accent.subarray(0, 1)])),
  frame(1, Buffer.concat([accent.subarray(1), Buffer.from('\n')])),
  frame(2, Buffer.from([0xff, 0xfe, 10])),
  frame(1, Buffer.from('{"ok":true}\n')),
];
const STREAM = Buffer.concat(FRAMES);
const STDOUT = Buffer.from('out1\ncafé\n{"ok":true}\n');
const STDERR = Buffer.concat([Buffer.from('err1\n'), Buffer.from([0xff, 0xfe, 10])]);

function read(cuts: readonly number[]): { stdout: Buffer; stderr: Buffer } {
  const out: Uint8Array[] = [];
  const err: Uint8Array[] = [];
  const take = frameReader({ stdout: (bytes) => out.push(bytes), stderr: (bytes) => err.push(bytes) });
  const borders = [0, ...[...cuts].sort((a, b) => a - b), STREAM.length];
  for (let i = 1; i < borders.length; i++) take(STREAM.subarray(borders[i - 1], borders[i]));
  return { stdout: Buffer.concat(out), stderr: Buffer.concat(err) };
}

t.test('both streams come out whole, whatever the chunking', async (t) => {
  const known = read([3, 9, 17, 18, 30, 41, STREAM.length - 2]);
  t.same(known, { stdout: STDOUT, stderr: STDERR });
  t.same(read(Array.from(STREAM.keys())), { stdout: STDOUT, stderr: STDERR }, 'byte by byte');
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 0, max: STREAM.length })), (cuts) => {
      const seen = read(cuts);
      return seen.stdout.equals(STDOUT) && seen.stderr.equals(STDERR);
    }),
  );
});

t.test('a stream number that does not exist is a fault, not output', async (t) => {
  const take = frameReader({ stdout: () => undefined, stderr: () => undefined });
  t.throws(() => take(frame(7, Buffer.from('x'))), { code: 'E_EXECUTOR' });
});
