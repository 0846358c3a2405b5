/**
 * Reading a certification policy and matching names against it.
 * Promises: names are compared as bytes with ASCII case folded, whole names only.
 * Does not promise: anything on content; see `detect.ts`.
 */
import { z } from 'zod';
import { decode } from '../../store/format/codec.ts';
import { fail } from '../../store/format/errors.ts';
import type { Name, TreePath } from '../../store/format/tree.ts';
import type { Finding } from '../contracts/certificate.ts';
import { fold, type Matcher, matcher, namesOf, redactionPolicy } from '../redact/match.ts';

const word = z.string().regex(/^[a-z0-9]+(?:-[a-z0-9]+)*$/);
const certificationPolicy = z.strictObject({
  policy: z.literal('certification'),
  v: z.literal(1),
  autoLoaded: redactionPolicy,
  metadata: z.strictObject({ names: z.array(z.string()), secrets: z.array(z.string()) }),
  awareness: z.strictObject({ identity: z.array(word), graphFields: z.array(word) }),
  patchNames: z.array(z.string()),
});
export type CertificationPolicy = z.infer<typeof certificationPolicy>;

/** Reads a policy blob. Throws E_RULE_INPUT, E_CODEC. */
export function parseCertificationPolicy(bytes: Uint8Array): CertificationPolicy {
  const parsed = certificationPolicy.safeParse(decode(bytes));
  if (!parsed.success)
    fail('E_RULE_INPUT', { where: 'policy', wanted: 'a certification policy of version 1' });
  return parsed.data;
}

/** What a name gives away: the finding without its place. */
export type NameFinding = Pick<Finding, 'kind' | 'pattern'>;

export interface NameRules {
  /** Findings that the name of this entry makes, its directories' names left to themselves. */
  ofEntry(path: TreePath, isDirectory: boolean): NameFinding[];
  readonly autoLoaded: Matcher;
}

export function nameRules(policy: CertificationPolicy): NameRules {
  const autoLoaded = matcher(policy.autoLoaded);
  const metadata = namesOf(policy.metadata.names);
  const patches = namesOf(policy.patchNames);
  return {
    autoLoaded,
    ofEntry(path, isDirectory) {
      const name = path[path.length - 1] ?? '';
      const loaded = isDirectory ? undefined : autoLoaded.match(path);
      const meta = isDotGit(name) ? '.git' : metadata(fold(name));
      const patch = isDirectory ? undefined : patches(fold(name));
      const found: NameFinding[] = [];
      if (loaded !== undefined) found.push({ kind: 'auto-loaded-context', pattern: loaded });
      if (meta !== undefined) found.push({ kind: 'suspicious-metadata', pattern: meta });
      if (patch !== undefined) found.push({ kind: 'patch-or-diff', pattern: patch });
      return found;
    },
  };
}

// Code points that HFS+ leaves out of names, as UTF-8 bytes read as Latin-1 (git's utf8.c, next_hfs_char).
const IGNORED = /\xe2\x80[\x8c-\x8f\xaa-\xae]|\xe2\x81[\xaa-\xaf]|\xef\xbb\xbf/g;

/** Whether some file system reads this name as `.git` (git's path.c, is_ntfs_dotgit and is_hfs_dotgit). */
export function isDotGit(name: Name): boolean {
  const bare = fold(name).replace(IGNORED, '');
  const base = bare.replace(/:.*$/s, '').replace(/[. ]+$/, '');
  return base === '.git' || /^git~[0-9]+$/.test(base);
}
