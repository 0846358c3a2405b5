/**
 * Images by content: from blocks into an engine, and one made of this host's Node, its libraries and a busybox.
 * Promises: the engine's image id is the config's digest and its layers are the ones named; a made image is a function
 * of the files alone (sorted, mtime 0, owner 0).
 * Does not promise: that two hosts make the same image: their Node and libraries differ.
 */
import { execFile } from 'node:child_process';
import { createReadStream, existsSync } from 'node:fs';
import { realpath, stat } from 'node:fs/promises';
import { promisify } from 'node:util';
import {
  type Cid,
  cidFromDigest,
  digestOf,
  digestOfEvidence,
  type Evidence,
  evidence,
} from '../../../store/format/cid.ts';
import { decode, encode, type Value } from '../../../store/format/codec.ts';
import { fail } from '../../../store/format/errors.ts';
import type { Emit, Reader } from '../../../store/format/reader.ts';
import type { Image } from '../executor.ts';
import { readTar, type TarInput, writeTar } from '../tar.ts';
import type { Engine, ImageFacts } from './engine.ts';

/** The block that a study binds to a role: `{configDigest, layers}` in canonical dag-json. */
export async function putImage(image: Image, emit: Emit): Promise<Evidence> {
  const { configDigest, layers } = image;
  return evidence(digestOf(await emit(encode({ configDigest, layers }), 'dag-json')));
}

/** Throws E_NOT_FOUND, E_CODEC, and E_KIND for a block of another shape. */
export async function readImage(reader: Reader, reference: Evidence): Promise<Image> {
  const value = decode(await reader.get(cidFromDigest('dag-json', digestOfEvidence(reference))));
  if (!isImage(value)) fail('E_KIND', { where: reference, wanted: 'an image: configDigest, layers' });
  return value;
}

function isImage(value: Value): value is Image & { [key: string]: Value } {
  if (typeof value !== 'object' || value === null || !('configDigest' in value) || !('layers' in value))
    return false;
  const digests: unknown[] = [
    value.configDigest,
    ...(Array.isArray(value.layers) ? value.layers : [undefined]),
  ];
  return digests.every((one) => typeof one === 'string' && /^sha256:[0-9a-f]{64}$/.test(one));
}

/** Makes sure the engine has the image. Throws E_EXECUTOR, and what the reader throws for a missing block. */
export async function loadImage(engine: Engine, reader: Reader, image: Image): Promise<ImageFacts> {
  let found = await engine.image(image.configDigest);
  if (found === undefined) {
    await engine.loadImage(writeTar(archiveOf(reader, image)));
    found = await engine.image(image.configDigest);
  }
  if (found === undefined || found.layers.join() !== image.layers.join()) {
    fail('E_EXECUTOR', {
      where: `image ${image.configDigest}`,
      wanted: `layers ${image.layers.join()}`,
      found: found === undefined ? 'the engine gave it another name' : found.layers.join(),
    });
  }
  return found;
}

/**
 * An image of the engine, by any name it has there, as blocks. Throws E_NOT_FOUND, and E_EXECUTOR where what the engine
 * hands out is not what the image's config names.
 */
export async function importImage(engine: Engine, reference: string, emit: Emit): Promise<Image> {
  const found = await engine.image(reference);
  if (found === undefined) fail('E_NOT_FOUND', { where: reference, wanted: 'an image of the engine' });
  const held = new Set<string>();
  for await (const entry of readTar(await engine.saveImage(found.id))) {
    if (entry.type === 'file') held.add(evidence(digestOf(await emit(entry.body))));
  }
  const missing = [found.id, ...found.layers].find((digest) => !held.has(digest));
  if (missing !== undefined) {
    fail('E_EXECUTOR', { where: reference, wanted: `the bytes of ${missing}`, found: 'other ones' });
  }
  return { configDigest: found.id as Evidence, layers: found.layers as readonly Evidence[] };
}

/** The archive form that every engine loads (docker save): config, layers, manifest.json. */
async function* archiveOf(reader: Reader, image: Image): AsyncGenerator<TarInput> {
  const config = `${digestOfEvidence(image.configDigest)}.json`;
  yield member(config, await reader.get(rawCid(image.configDigest)));
  const layers: string[] = [];
  for (const layer of new Set(image.layers)) {
    const path = `${digestOfEvidence(layer)}.tar`;
    layers.push(path);
    let size = 0;
    for await (const chunk of reader.stream(rawCid(layer))) size += chunk.length;
    yield { ...member(path, new Uint8Array()), size, body: reader.stream(rawCid(layer)) };
  }
  const paths = image.layers.map((layer) => `${digestOfEvidence(layer)}.tar`);
  yield member(
    'manifest.json',
    Buffer.from(JSON.stringify([{ Config: config, RepoTags: null, Layers: paths }])),
  );
}

const rawCid = (reference: Evidence): Cid => cidFromDigest('raw', digestOfEvidence(reference));
const member = (path: string, bytes: Uint8Array): TarInput => ({
  path: Buffer.from(path),
  type: 'file',
  mode: 0o644,
  uid: 0,
  gid: 0,
  size: bytes.length,
  body: [bytes],
});

const BUSYBOX = ['/bin/busybox', '/usr/bin/busybox'];
const ARCHITECTURES: Readonly<Record<string, string>> = { x64: 'amd64', arm64: 'arm64' };
const PASSWD = 'root:x:0:0:root:/root:/bin/sh\nagent:x:1000:1000:agent:/home/agent:/bin/sh\n';
const GROUP = 'root:x:0:\nagent:x:1000:\n';
const FOLDERS = ['proc', 'sys', 'dev', 'tmp', 'root', 'opt', 'run', 'home/agent', 'workspace', 'usr/bin'];

/**
 * An image with `node`, the shell and the tools of busybox, without a registry: one layer, about 100 MB.
 * Throws E_CONFIG where this host has no busybox.
 */
export async function makeHostImage(emit: Emit): Promise<Image> {
  const busybox = BUSYBOX.find(existsSync);
  if (busybox === undefined) {
    fail('E_CONFIG', { wanted: BUSYBOX.join(' or '), found: 'neither', hint: 'Install busybox-static.' });
  }
  const layer = await emit(writeTar(sorted(await hostFiles(busybox))));
  const layers = [evidence(digestOf(layer))];
  const config = {
    architecture: ARCHITECTURES[process.arch] ?? process.arch,
    config: { Env: ['PATH=/usr/local/bin:/usr/bin:/bin'], Cmd: ['sh'] },
    created: '1970-01-01T00:00:00Z',
    history: [],
    os: 'linux',
    rootfs: { diff_ids: layers, type: 'layers' },
  };
  const cid = await emit(Buffer.from(JSON.stringify(config)));
  return { configDigest: evidence(digestOf(cid)), layers };
}

/** Path -> entry; folders come with their files. */
async function hostFiles(busybox: string): Promise<Map<string, TarInput>> {
  const files = new Map<string, TarInput>();
  for (const path of FOLDERS) addFolders(files, path.split('/'));
  const node = process.execPath;
  await addFile(files, 'usr/local/bin/node', node);
  await addFile(files, 'bin/busybox', busybox);
  for (const library of [...(await librariesOf(node)), ...(await librariesOf(busybox))]) {
    await addFile(files, library.slice(1), library);
  }
  const { stdout } = await promisify(execFile)(busybox, ['--list']);
  for (const name of stdout.split('\n').filter((name) => /^[\w.[-]+$/.test(name) && name !== 'busybox')) {
    addLink(files, `bin/${name}`, 'busybox');
  }
  addLink(files, 'usr/bin/env', '../../bin/busybox');
  addText(files, 'etc/passwd', PASSWD);
  addText(files, 'etc/group', GROUP);
  return files;
}

/** What the loader would load: the paths that ldd prints. A static program has none. */
async function librariesOf(program: string): Promise<string[]> {
  try {
    const { stdout } = await promisify(execFile)('ldd', [program]);
    return [...stdout.matchAll(/(\/\S+) \(0x/g)].map((match) => match[1] as string);
  } catch {
    return [];
  }
}

async function addFile(files: Map<string, TarInput>, path: string, from: string): Promise<void> {
  const source = await realpath(from);
  const { size } = await stat(source);
  add(files, path, { type: 'file', mode: 0o755, size, body: createLazily(source) });
}

/** The file is opened when it is its turn, not when the list is made. */
async function* createLazily(path: string): AsyncGenerator<Uint8Array> {
  yield* createReadStream(path, { highWaterMark: 1 << 20 });
}

function addLink(files: Map<string, TarInput>, path: string, target: string): void {
  add(files, path, { type: 'link', mode: 0o777, target: Buffer.from(target) });
}

function addText(files: Map<string, TarInput>, path: string, text: string): void {
  const bytes = Buffer.from(text);
  add(files, path, { type: 'file', mode: 0o644, size: bytes.length, body: [bytes] });
}

function add(files: Map<string, TarInput>, path: string, what: Omit<TarInput, 'path' | 'uid' | 'gid'>): void {
  addFolders(files, path.split('/').slice(0, -1));
  files.set(path, { ...what, path: Buffer.from(path), uid: 0, gid: 0 });
}

function addFolders(files: Map<string, TarInput>, names: readonly string[]): void {
  for (let depth = 1; depth <= names.length; depth++) {
    const path = names.slice(0, depth).join('/');
    const mode = path === 'tmp' ? 0o1777 : 0o755;
    files.set(path, { path: Buffer.from(path), type: 'dir', mode, uid: 0, gid: 0 });
  }
}

function sorted(files: Map<string, TarInput>): TarInput[] {
  return [...files.values()].sort((a, b) => Buffer.compare(a.path, b.path));
}
