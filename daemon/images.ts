/**
 * Images by role: which image a role stands for on this host, and in a study.
 * Promises: an image is read from its config block, so a study that binds a role to a config digest binds the layers
 * too; every layer is in the store before a study can bind it.
 * Does not promise: that two hosts make the same image of themselves.
 */
import { z } from 'zod';
import {
  type Cid,
  cidFromDigest,
  digestOf,
  digestOfEvidence,
  type Evidence,
  evidence,
} from '../store/format/cid.ts';
import { fail } from '../store/format/errors.ts';
import { parseJson } from '../store/format/json.ts';
import type { Reader } from '../store/format/reader.ts';
import type { Store } from '../store/store.ts';
import type { Image } from './executors/executor.ts';

export type Images = Readonly<Record<string, Image>>;

/** The role that catalogue challenges name, and that this host can fill by itself. */
const HOST_ROLE = 'node';
const PREFIX = 'image/';

/** The part of an OCI image configuration that names the layers: their diff ids. */
const config = z.looseObject({
  rootfs: z.looseObject({ diff_ids: z.array(z.string().regex(/^sha256:[0-9a-f]{64}$/)).min(1) }),
});

/** The image of a config digest. Throws E_NOT_FOUND for a block that is not here, E_KIND for another shape. */
export async function imageOf(reader: Reader, configDigest: Evidence): Promise<Image> {
  const read = config.safeParse(parseJson(await reader.get(rawCid(configDigest))));
  if (!read.success) fail('E_KIND', { where: configDigest, wanted: 'an image configuration' });
  const layers = read.data.rootfs.diff_ids as Evidence[];
  for (const layer of layers) {
    if (!(await reader.has(rawCid(layer))))
      fail('E_NOT_FOUND', { where: `image ${configDigest}`, wanted: `layer ${layer}` });
  }
  return { configDigest, layers };
}

/** The images that a study binds, by role. Throws what `imageOf` throws. */
export async function boundImages(reader: Reader, bound: Readonly<Record<string, string>>): Promise<Images> {
  const images: Record<string, Image> = {};
  for (const [role, digest] of Object.entries(bound))
    images[role] = await imageOf(reader, digest as Evidence);
  return images;
}

/** Role -> the digest that studies and validations register. */
export function imageDigests(images: Images): Record<string, Evidence> {
  return Object.fromEntries(Object.entries(images).map(([role, image]) => [role, image.configDigest]));
}

/** Binds a role to an image of this store: what validations run under, and studies register, from now on. */
export async function nameImage(store: Store, role: string, { configDigest }: Image): Promise<void> {
  await store.setName(`${PREFIX}${role}`, rawCid(configDigest));
}

/** The images that this store has a name for, by role. Throws what `imageOf` throws. */
export async function namedImages(store: Store): Promise<Images> {
  const images: Record<string, Image> = {};
  for await (const { name, target } of store.names(PREFIX)) {
    if (target !== null) images[name.slice(PREFIX.length)] = await imageOf(store, evidence(digestOf(target)));
  }
  return images;
}

/**
 * The same; the role `node` is made of this host's Node where nobody has named it (about 100 MB, once a store). Throws
 * E_CONFIG where this host has no busybox.
 */
export async function storeImages(store: Store): Promise<Images> {
  const images = await namedImages(store);
  if (Object.hasOwn(images, HOST_ROLE)) return images;
  const { makeHostImage } = await import('./executors/docker/image.ts');
  const made = await makeHostImage((bytes, codec) => store.put(bytes, codec));
  await nameImage(store, HOST_ROLE, made);
  return { ...images, [HOST_ROLE]: made };
}

const rawCid = (reference: Evidence): Cid => cidFromDigest('raw', digestOfEvidence(reference));
