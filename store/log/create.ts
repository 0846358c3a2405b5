/**
 * Making the files of a log.
 * Promises: a log has its folder at once, with all its files in it, or has none.
 * Does not promise: checking what it is given; log.ts opens it afterwards.
 */
import { basename } from 'node:path';
import { type Files, writeDurably } from '../files.ts';
import { type Layout, type LogFiles, logFilesIn } from '../keys.ts';

export interface NewLog {
  readonly origin: string;
  readonly vkey: string;
  readonly leaves?: Uint8Array;
  readonly checkpoint?: Uint8Array;
}

/** What stands in the folder's place, a log that was never finished, goes to quarantine. Throws E_IO. */
export async function createLog(files: Files, layout: Layout, name: string, log: NewLog): Promise<void> {
  const unfinished = layout.temporary();
  await files.mkdir(unfinished);
  await writeLog(files, layout, logFilesIn(unfinished), log);
  await files.syncFolder(unfinished);
  const { folder } = layout.log(name);
  if (files.size(folder) !== null)
    await files.rename(folder, layout.quarantined(`log-${name}-${basename(layout.temporary())}`));
  // Dying here: a folder among the unfinished, which the next owner sets aside.
  await files.rename(unfinished, folder);
  await files.syncFolder(layout.logs);
}

/** The files of a log that is there, by those of a longer copy of it. */
export async function replaceLog(files: Files, layout: Layout, name: string, log: NewLog): Promise<void> {
  await writeLog(files, layout, layout.log(name), log);
}

async function writeLog(files: Files, layout: Layout, paths: LogFiles, log: NewLog): Promise<void> {
  const put = (path: string, bytes: Uint8Array) => writeDurably(files, path, bytes, layout.temporary());
  await put(paths.leaves, log.leaves ?? new Uint8Array());
  await put(paths.hashes, new Uint8Array());
  await put(paths.vkey, Buffer.from(`${log.vkey}\n`));
  // Dying here, in a log that is replaced: longer leaves under the older checkpoint; they open.
  if (log.checkpoint !== undefined) await put(paths.checkpoint, log.checkpoint);
  await put(paths.origin, Buffer.from(`${log.origin}\n`));
}
