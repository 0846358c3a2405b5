/**
 * Opens a Git repository for reading.
 * Promises: two back ends, the same bytes; which one served is in no record.
 * Does not promise: refs, branches or short ids: objects are asked for by full id.
 */
import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';
import { fail } from '../format/errors.ts';
import { openCatFile } from './cat-file.ts';
import { findLayout } from './layout.ts';
import type { GitReader } from './reader.ts';

export interface GitOptions {
  /** `git` where the program is on PATH, else `isomorphic`, unless said. */
  readonly backend?: 'git' | 'isomorphic';
}

/** A reader of the repository at exactly this folder. Throws E_NOT_FOUND, E_GIT_LAYOUT, E_GIT (no git on PATH). */
export async function openGit(repoPath: string, options: GitOptions = {}): Promise<GitReader> {
  const layout = findLayout(repoPath);
  const program = options.backend === 'isomorphic' ? undefined : gitOnPath();
  if (program !== undefined) return openCatFile(layout, program);
  if (options.backend === 'git')
    fail('E_GIT', {
      wanted: 'the program git on PATH',
      found: 'none',
      hint: 'the other back end needs none',
    });
  // Loaded only here: most runs never need it.
  const { openIsomorphic } = await import('./isomorphic.ts');
  return openIsomorphic(layout);
}

function gitOnPath(): string | undefined {
  for (const folder of (process.env.PATH ?? '').split(delimiter)) {
    const program = join(folder, 'git');
    try {
      if (folder !== '') accessSync(program, constants.X_OK);
      else continue;
      return program;
    } catch {
      // Not in this folder; the next may have it.
    }
  }
  return undefined;
}
