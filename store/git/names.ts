/**
 * Names in a Git tree that no file system of ours should see: what climbs out, and what some file system takes for
 * `.git` (git's verify_path, is_ntfs_dotgit and is_hfs_dotgit; CVE-2014-9390, CVE-2019-1352).
 * Promises: byte for byte the checks of Git with core.protectHFS and core.protectNTFS, plus fsck's after a backslash.
 * Does not promise: reserved device names of Windows; a target that cannot hold a name says so itself.
 */

/** Printable ASCII without a slash. */
const ORDINARY = /^[ -.0-~]+$/;

/** Why this name is refused, or undefined where it is fine. O(length). */
export function unsafeName(name: Uint8Array): string | undefined {
  const text = Buffer.from(name.buffer, name.byteOffset, name.byteLength).toString('latin1');
  if (text === '.' || text === '..') return 'a name that climbs';
  if (ORDINARY.test(text) && !/git/i.test(text)) return undefined;
  if (text === '') return 'an empty name';
  if (text.includes('/')) return 'a slash inside a name';
  if (text.split('\\').some(isNtfsDotGit)) return 'a name that is .git on NTFS';
  return isHfsDotGit(name) ? 'a name that is .git on HFS+' : undefined;
}

/** `.git` or `git~1` in any case, followed by dots and spaces, then the end or a stream name. */
const isNtfsDotGit = (part: string): boolean => /^(?:\.git|git~1)[. ]*(?:$|:)/i.test(part);

/** Code points that HFS+ ignores in a name, as their UTF-8 bytes. */
const IGNORED = /[\u200c-\u200f\u202a-\u202e\u206a-\u206f\ufeff]/gu;

function isHfsDotGit(name: Uint8Array): boolean {
  if (!name.includes(0x67) && !name.includes(0x47)) return false;
  const text = new TextDecoder('utf-8', { ignoreBOM: true }).decode(name);
  return /^\.git$/i.test(text.replace(IGNORED, ''));
}
