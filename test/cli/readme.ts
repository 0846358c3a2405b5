/**
 * Commands in Markdown. Fenced blocks whose info string is `sh run` are run in order; other `sh` blocks are listed. A
 * `text` block after a run one holds lines of what it prints, in which numbers may differ.
 */
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { execPath } from 'node:process';
import { bin, type Desk, type Ran, ran, root } from './kit.ts';

export interface Block {
  readonly run: boolean;
  readonly line: number;
  readonly text: string;
  /** Lines that it prints. */
  readonly prints: readonly string[];
}

const SHELLS = new Set(['sh', 'bash', 'shell', 'console', 'shellsession']);

/** Every fenced shell block of a Markdown text. */
export function shellBlocks(markdown: string): Block[] {
  const blocks: Block[] = [];
  for (const { words, line, text } of fenced(markdown)) {
    const last = blocks.at(-1);
    if (SHELLS.has(words[0] ?? '')) {
      const run = words[0] === 'sh' && words[1] === 'run';
      blocks.push({ run, line, text: `${text.join('\n')}\n`, prints: [] });
    } else if (words[0] === 'text' && last?.run === true)
      blocks.splice(-1, 1, { ...last, prints: [...last.prints, ...text] });
  }
  return blocks;
}

interface Fenced {
  readonly fence: string;
  readonly words: readonly string[];
  readonly line: number;
  readonly text: string[];
}

function fenced(markdown: string): Fenced[] {
  const done: Fenced[] = [];
  let open: Fenced | undefined;
  markdown.split('\n').forEach((line, i) => {
    const [, fence, info = ''] = /^ {0,3}(`{3,}|~{3,})(.*)$/.exec(line) ?? [];
    if (open === undefined) {
      if (fence !== undefined) open = { fence, words: info.trim().split(/\s+/), line: i + 1, text: [] };
    } else if (fence?.startsWith(open.fence) && info.trim() === '') {
      done.push(open);
      open = undefined;
    } else open.text.push(line);
  });
  return done;
}

/** Command lines of a block: no comments, no empty lines. */
export const commandsOf = ({ text }: Block): string[] =>
  text
    .split('\n')
    .map((line) => line.replace(/\s+#.*$/, '').trim())
    .filter((line) => line !== '' && !line.startsWith('#'));

/** Runs the marked blocks of a page in the folder `work` of a desk; yields each with what came of it. */
export async function* runBlocks(desk: Desk, page: string): AsyncGenerator<{ block: Block; ran: Ran }> {
  const shims = join(desk.folder, 'bin');
  const work = join(desk.folder, 'work');
  for (const folder of [shims, work]) mkdirSync(folder);
  const shim = join(shims, 'ashlar');
  writeFileSync(shim, `#!/bin/sh\nexec '${execPath}' '${bin}' "$@"\n`);
  chmodSync(shim, 0o755);
  const env = { ...desk.env, PATH: `${shims}:${desk.env.PATH}` };
  for (const block of shellBlocks(readFileSync(join(root, page), 'utf8'))) {
    if (!block.run) continue;
    yield { block, ran: await ran('/bin/sh', ['-eu'], { input: block.text, cwd: work, env }) };
  }
}

const loose = (text: string) => text.replace(/\d+/g, '0').replace(/[ \t]+/g, ' ');

/** Lines that a block should have printed, and did not. */
export const missingLines = ({ prints }: Block, { out, err }: Ran): string[] =>
  prints.filter((line) => !loose(`${out}${err}`).includes(loose(line)));
