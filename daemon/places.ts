/**
 * Where a store's work stands on this host: sandboxes, and a scratch folder for each process that runs.
 * Promises: the same place at every start-up, so that what a dead process left is found; a neutral name, since a
 * program without isolation can see it.
 */
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pid } from 'node:process';
import { ensureFolder } from '../store/files.ts';
import { isAlive, readProcess } from './executors/procs.ts';

/** Below it, each executor keeps its sandboxes. */
export const placeOf = (owner: string): string => join(tmpdir(), `b-${owner}`);

const workOf = (owner: string): string => join(placeOf(owner), 'work');

/** A new empty folder of this process, named by pid and start time. */
export async function openScratch(owner: string): Promise<string> {
  ensureFolder(workOf(owner), 0o700);
  return mkdtempSync(join(workOf(owner), `${pid}-${readProcess(pid)?.start ?? 0}-`));
}

/** Scratch folders whose process is gone. */
export function staleScratch(owner: string): string[] {
  return names(workOf(owner)).flatMap((name) => {
    const [, id, start] = /^(\d+)-(\d+)-/.exec(name) ?? [];
    if (id === undefined || isAlive({ pid: Number(id), start: Number(start) })) return [];
    return [join(workOf(owner), name)];
  });
}

/** The names in a folder; none where there is no such folder. */
export function names(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

export const removeFolder = (folder: string): void => rmSync(folder, { recursive: true, force: true });
