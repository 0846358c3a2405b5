/**
 * Images by content, without an engine: the reference block and the made image.
 */
import { execFileSync } from 'node:child_process';
import t from 'tap';
import { makeHostImage, putImage, readImage } from '../../../daemon/executors/docker/image.ts';
import { cidFromDigest, digestOfEvidence, type Evidence, evidence } from '../../../store/format/cid.ts';
import { encode } from '../../../store/format/codec.ts';
import { sha256Hex } from '../../../store/format/crypto.ts';
import { memoryBlocks } from '../../suite/memory.ts';

t.setTimeout(300_000);
const raw = (reference: Evidence) => cidFromDigest('raw', digestOfEvidence(reference));

t.test('the image of this host is a function of its files', async (t) => {
  const { reader, emit } = memoryBlocks();
  const image = await makeHostImage(emit);
  t.same(await makeHostImage(emit), image);
  const config = JSON.parse(Buffer.from(await reader.get(raw(image.configDigest))).toString('utf8'));
  t.match(config, { os: 'linux', rootfs: { type: 'layers', diff_ids: image.layers } });
  const layer = await reader.get(raw(image.layers[0] as Evidence));
  t.equal(
    `sha256:${sha256Hex(layer)}`,
    image.layers[0],
    'the diff id is the digest of the uncompressed layer',
  );

  const listed = execFileSync('tar', ['-tvf', '-'], { input: layer, encoding: 'utf8' }).trim().split('\n');
  const paths = listed.map((line) =>
    line
      .replace(/^(\S+\s+){5}/, '')
      .replace(/ -> .*$/, '')
      .replace(/\/$/, ''),
  );
  t.same(
    paths,
    [...paths].sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b))),
    'sorted by bytes',
  );
  t.ok(
    listed.every((line) => / (0\/0|root\/root) /.test(line) && line.includes('1970-01-01')),
    'owner 0, time 0',
  );
  for (const path of ['bin/sh', 'bin/cat', 'usr/bin/env', 'usr/local/bin/node', 'tmp', 'workspace'])
    t.ok(paths.includes(path), path);
});

t.test('the reference of an image is the digest of its canonical block', async (t) => {
  const { reader, emit } = memoryBlocks();
  const digest = evidence(sha256Hex(Buffer.from('x')) as never);
  const image = { configDigest: digest, layers: [digest] };
  const reference = await putImage(image, emit);
  t.equal(
    reference,
    `sha256:${sha256Hex(Buffer.from(`{"configDigest":"${digest}","layers":["${digest}"]}`))}`,
  );
  t.same(await readImage(reader, reference), image);
  for (const other of [
    { layers: [] },
    { configDigest: digest, layers: ['x'] },
    { configDigest: digest, layers: digest },
    [],
    1,
  ]) {
    const bytes = encode(other);
    await emit(bytes, 'dag-json');
    await t.rejects(readImage(reader, evidence(sha256Hex(bytes) as never)), { code: 'E_KIND' });
  }
});
