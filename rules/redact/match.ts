/**
 * Matching of entries against a redaction policy, before any link is resolved.
 * Promises: names are compared as bytes with ASCII case folded; only whole names and whole path components match,
 * never a part of one and never content.
 * Does not promise: Unicode folding; no tool that reads these names does any.
 */
import { z } from 'zod';
import { decode } from '../../store/format/codec.ts';
import { fail } from '../../store/format/errors.ts';
import { type Name, nameBytes, type TreePath } from '../../store/format/tree.ts';

const pattern = z.string().regex(/^[^A-Z*/]+\*?$|^\*?[^A-Z*/]+$/);

/** The contract of a policy blob of version 1. */
export const redactionPolicy = z.strictObject({
  policy: z.literal('redaction'),
  v: z.literal(1),
  basenames: z.array(pattern),
  components: z.array(pattern),
  subpaths: z.array(z.string().regex(/^[^A-Z*/]+(?:\/[^A-Z*/]+)+$/)),
  below: z.array(z.strictObject({ component: pattern, name: pattern })),
  root: z.array(pattern),
  near: z.strictObject({ names: z.array(pattern), suffixes: z.array(z.string()) }),
});
export type RedactionPolicy = z.infer<typeof redactionPolicy>;

/** Reads a policy blob. Throws E_RULE_INPUT, E_CODEC. */
export function parseRedactionPolicy(bytes: Uint8Array): RedactionPolicy {
  const parsed = redactionPolicy.safeParse(decode(bytes));
  if (!parsed.success) fail('E_RULE_INPUT', { where: 'policy', wanted: 'a redaction policy of version 1' });
  return parsed.data;
}

export interface Matcher {
  /** The pattern that takes this file, link or submodule out, or undefined. */
  match(path: TreePath): string | undefined;
  /** The pattern of the `basenames` list that a name is, wherever it stands. */
  basename(name: Name): string | undefined;
  /** The pattern that a kept entry comes close to, or undefined. */
  near(path: TreePath, isDirectory: boolean): string | undefined;
}

export function matcher(policy: RedactionPolicy): Matcher {
  const basenames = namesOf(policy.basenames);
  const components = namesOf(policy.components);
  const root = namesOf(policy.root);
  const near = namesOf(policy.near.names);
  const below = policy.below.map((each) => ({
    at: namesOf([each.component]),
    name: namesOf([each.name]),
    each,
  }));
  const subpaths = policy.subpaths.map((text) => ({ text, parts: text.split('/') }));
  return {
    match(path) {
      const folded = path.map(fold);
      const last = folded[folded.length - 1] ?? '';
      for (const name of folded) {
        const found = components(name);
        if (found !== undefined) return `${found}/`;
      }
      const subpath = subpaths.find(({ parts }) => contains(folded, parts));
      if (subpath !== undefined) return subpath.text;
      const under = below.find(({ at, name }) => name(last) && folded.slice(0, -1).some((each) => at(each)));
      if (under !== undefined) return `${under.each.component}/**/${under.each.name}`;
      const atRoot = folded.length === 1 ? root(last) : undefined;
      return basenames(last) ?? (atRoot === undefined ? undefined : `/${atRoot}`);
    },
    basename: (name) => basenames(fold(name)),
    near(path, isDirectory) {
      const folded = path.map(fold);
      const last = folded[folded.length - 1] ?? '';
      if (folded.some((name) => components(name) !== undefined)) return undefined;
      if (isDirectory) return near(last) ?? basenames(last);
      const suffix = policy.near.suffixes.find((each) => last.endsWith(each));
      const bare = suffix === undefined ? undefined : basenames(last.slice(0, -suffix.length));
      return near(last) ?? bare ?? root(last);
    },
  };
}

/** Which of these patterns a folded name is, exact names first. */
export function namesOf(patterns: readonly string[]): (name: string) => string | undefined {
  const exact = new Set(patterns.filter((each) => !each.includes('*')));
  const globs = patterns.filter((each) => each.includes('*'));
  return (name) => (exact.has(name) ? name : globs.find((glob) => globbed(glob, name)));
}

function globbed(glob: string, name: string): boolean {
  const fixed = glob.replace('*', '');
  return glob.startsWith('*') ? name.endsWith(fixed) : name.startsWith(fixed);
}

function contains(path: readonly string[], parts: readonly string[]): boolean {
  return path.some((_, at) => parts.every((part, i) => path[at + i] === part));
}

/** The bytes of a name as Latin-1 with A-Z folded: the patterns are ASCII, so no other character can match one. */
export function fold(name: Name): string {
  const text = Buffer.from(nameBytes(name)).toString('latin1');
  return text.replace(/[A-Z]/g, (letter) => String.fromCharCode(letter.charCodeAt(0) + 32));
}
