/**
 * Git LFS pointers: a file whose content lies elsewhere (git-lfs docs/spec.md).
 * Promises: tells a pointer from a file that only quotes one; the bytes are left as they are.
 * Does not promise: the content that it points at; nothing is ever fetched.
 */
export interface LfsPointer {
  /** `sha256:<hex>` and length of the content, where the pointer is well-formed. */
  readonly oid?: string;
  readonly size?: number;
  readonly malformed: boolean;
}

/** A pointer is shorter than this (bytes). */
export const LFS_LIMIT = 1024;
const FIRST = /^version https:\/\/(?:git-lfs\.github\.com|hawser\.github\.com)\/spec\/v1\r?\n/;
const WELL_FORMED = /^version [^\n\r]+\n(?:ext-\d-[^\n\r]+\n)*oid (sha256:[0-9a-f]{64})\nsize (\d{1,15})\n$/;

/** What these bytes are as a pointer; undefined where the first line is not a pointer's. */
export function lfsPointer(bytes: Uint8Array): LfsPointer | undefined {
  if (bytes.length === 0 || bytes.length >= LFS_LIMIT || bytes[0] !== 0x76) return undefined;
  const text = Buffer.from(bytes).toString('latin1');
  if (!FIRST.test(text)) return undefined;
  const found = WELL_FORMED.exec(text);
  if (found === null) return { malformed: true };
  return { oid: found[1] as string, size: Number(found[2]), malformed: false };
}
