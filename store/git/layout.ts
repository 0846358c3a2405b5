/**
 * Where a repository keeps its objects: work tree, bare folder, `.git` file of a worktree or submodule.
 * Promises: only the folder named is looked at; no parent folder, environment or user configuration decides.
 * Does not promise: that the objects are whole.
 */
import { existsSync, readFileSync, realpathSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { fail } from '../format/errors.ts';
import type { GitAlgorithm } from '../format/git-object.ts';

export interface Layout {
  /** The repository's own folder (of a linked worktree: below the main one). */
  readonly gitDir: string;
  /** The folder that holds `objects` and `config`. */
  readonly commonDir: string;
  readonly algorithm: GitAlgorithm;
  /** Objects are borrowed from another repository (objects/info/alternates). */
  readonly alternates: boolean;
}

/** Finds the repository at exactly this folder. Throws E_NOT_FOUND, E_GIT_LAYOUT. */
export function findLayout(repoPath: string): Layout {
  const gitDir = gitDirOf(repoPath);
  const common = read(join(gitDir, 'commondir'));
  const commonDir = common === undefined ? gitDir : resolve(gitDir, common.trimEnd());
  if (!isFolder(join(commonDir, 'objects'))) notFound(repoPath);
  const alternates = (read(join(commonDir, 'objects', 'info', 'alternates')) ?? '').trim() !== '';
  return { gitDir, commonDir, algorithm: objectFormat(read(join(commonDir, 'config')) ?? ''), alternates };
}

function gitDirOf(repoPath: string): string {
  if (!existsSync(repoPath)) notFound(repoPath);
  const root = realpathSync(repoPath);
  const dotGit = join(root, '.git');
  if (isFolder(dotGit)) return dotGit;
  const pointer = read(dotGit);
  if (pointer !== undefined) {
    const target = /^gitdir: ([^\0]+?)\r?\n?$/.exec(pointer)?.[1];
    if (target !== undefined && isFolder(resolve(root, target))) return resolve(root, target);
    return notFound(repoPath);
  }
  return existsSync(join(root, 'HEAD')) ? root : notFound(repoPath);
}

function notFound(repoPath: string): never {
  return fail('E_NOT_FOUND', { where: repoPath, wanted: 'a Git repository', found: 'none' });
}

function read(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return undefined;
  }
}

const isFolder = (path: string): boolean => statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;

/** `extensions.objectFormat` of a repository's own configuration file. */
function objectFormat(config: string): GitAlgorithm {
  let section = '';
  let format = 'sha1';
  for (const line of config.split('\n')) {
    section = /^\s*\[\s*([^\]]+?)\s*\]/.exec(line)?.[1]?.toLowerCase() ?? section;
    const value = /(?:^|\])\s*objectformat\s*=\s*"?(\w+)"?\s*(?:[#;].*)?$/i.exec(line)?.[1];
    if (section === 'extensions' && value !== undefined) format = value.toLowerCase();
  }
  if (format !== 'sha1' && format !== 'sha256')
    fail('E_GIT_LAYOUT', { where: 'extensions.objectFormat', wanted: 'sha1 or sha256', found: format });
  return format;
}
