/**
 * The second process of the executor suite: opens a sandbox, runs something long in it, and waits to be killed.
 * Arguments: module of the subject, owner, token, `mark=` and a number that marks the program.
 */
import { pathToFileURL } from 'node:url';
import type { Subject } from './executor.ts';
import { memoryBlocks, putSnapshot } from './memory.ts';

const [module = '', owner = '', token = '', marked = ''] = process.argv.slice(2);
const mark = marked.slice('mark='.length);
const { subject } = (await import(pathToFileURL(module).href)) as { subject: Subject };
const blocks = memoryBlocks();
const { executor, image } = await subject.open(blocks);
const sandbox = await executor.open({
  owner,
  token,
  ...(image === undefined ? {} : { image }),
  limits: { cpus: 1, memoryMb: 256, pids: 64 },
  workspace: await putSnapshot({ f: { file: 'f' } }, blocks.emit),
  reader: blocks.reader,
});
await sandbox.run({
  argv: ['sh', '-c', `sleep ${mark} & (setsid sleep ${mark} &); sleep ${mark}`],
  env: {},
  timeoutSeconds: 3600,
  maxOutputBytes: 1000,
});
