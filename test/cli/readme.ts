/** Commands in Markdown: fenced blocks whose info string is `sh run` are run in order; other `sh` blocks are listed. */
export interface Block {
  readonly run: boolean;
  readonly line: number;
  readonly text: string;
}

const SHELLS = new Set(['sh', 'bash', 'shell', 'console', 'shellsession']);

/** Every fenced shell block of a Markdown text. */
export function shellBlocks(markdown: string): Block[] {
  const blocks: Block[] = [];
  let open: { fence: string; words: string[]; line: number; text: string[] } | undefined;
  markdown.split('\n').forEach((line, i) => {
    const [, fence, info = ''] = /^ {0,3}(`{3,}|~{3,})(.*)$/.exec(line) ?? [];
    if (open === undefined) {
      if (fence !== undefined) open = { fence, words: info.trim().split(/\s+/), line: i + 1, text: [] };
    } else if (fence?.startsWith(open.fence) && info.trim() === '') {
      const { words, text } = open;
      if (SHELLS.has(words[0] ?? ''))
        blocks.push({
          run: words[0] === 'sh' && words[1] === 'run',
          line: open.line,
          text: `${text.join('\n')}\n`,
        });
      open = undefined;
    } else open.text.push(line);
  });
  return blocks;
}

/** Command lines of a block: no comments, no empty lines. */
export const commandsOf = ({ text }: Block): string[] =>
  text
    .split('\n')
    .map((line) => line.replace(/\s+#.*$/, '').trim())
    .filter((line) => line !== '' && !line.startsWith('#'));
