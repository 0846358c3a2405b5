/**
 * What a verb says: results on stdout, everything else on stderr.
 * Promises: with `--json` every result is one JSON value a line, else the same data as text; progress is shown only on a
 * terminal; colours only on one, and never where NO_COLOR is set; no text acts on a terminal otherwise (printable.ts); a
 * reader that went away ends the verb quietly.
 * Does not promise: that a line said with `say` was read by anybody.
 */
import { styleText } from 'node:util';
import { fail } from '../store/format/errors.ts';
import { oneLine, printable } from './printable.ts';

/** Thrown by `print` and `bytes` once nobody reads stdout any more. */
export const GONE = Symbol('stdout is closed');

export type Style = Parameters<typeof styleText>[0];

export interface Out {
  readonly json: boolean;
  /** One result. Resolves once it is written; throws GONE, E_IO. */
  print(data: unknown, text: string): Promise<void>;
  /** One result of a verb that goes on whether or not anybody reads. */
  say(data: unknown, text: string): void;
  /** Bytes as they are. Throws GONE, E_IO and what the source throws. */
  bytes(chunks: AsyncIterable<Uint8Array>): Promise<void>;
  /** A line on stderr, in this style where that is a terminal. */
  note(line: string, format?: Style): void;
  /** What is going on now, on a terminal only: the next line takes its place. */
  progress(line: string): void;
  style(format: Style, text: string): string;
  /** Waits for all that was said. Throws E_IO where a line could not be written. */
  flush(): Promise<void>;
}

export interface Streams {
  readonly stdout: NodeJS.WriteStream;
  readonly stderr: NodeJS.WriteStream;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly json: boolean;
}

export function openOutput({ stdout, stderr, env, json }: Streams): Out {
  const write = writer(stdout);
  // Nobody can be told that stderr is closed.
  stderr.on('error', () => {});
  const coloured = (stream: NodeJS.WriteStream) => stream.isTTY === true && !env.NO_COLOR;
  const styled = (stream: NodeJS.WriteStream) => (format: Style, text: string) =>
    coloured(stream) ? styleText(format, text, { validateStream: false }) : text;
  let said: Promise<void> = Promise.resolve();
  // What went wrong with a line that nobody waited for.
  let failure: unknown;
  let shown = false;
  const clear = () => {
    if (shown) stderr.write('\r\u001b[2K');
    shown = false;
  };
  const shownText = (text: string) => (coloured(stdout) ? exceptColours(text) : printable(text));
  const line = (data: unknown, text: string) =>
    `${json ? printable(JSON.stringify(data)) : shownText(text)}\n`;
  const print = (data: unknown, text: string) => {
    clear();
    return write(line(data, text));
  };
  return {
    json,
    print,
    say(data, text) {
      const keep = (error: unknown) => {
        if (error !== GONE) failure ??= error;
      };
      said = said.then(() => print(data, text)).catch(keep);
    },
    async bytes(chunks) {
      for await (const chunk of chunks) await write(chunk);
    },
    note(text, format) {
      clear();
      const seen = printable(text);
      stderr.write(`${format === undefined ? seen : styled(stderr)(format, seen)}\n`);
    },
    progress(text) {
      if (stderr.isTTY !== true) return;
      clear();
      stderr.write(oneLine(text).slice(0, Math.max(0, (stderr.columns ?? 80) - 1)));
      shown = true;
    },
    style: styled(stdout),
    async flush() {
      await said;
      clear();
      if (failure !== undefined) throw failure;
    },
  };
}

const COLOUR = /(\p{Cc}\[(?:[0-47]|2[2-47]|3[0-79]|9[0-7])m)/u;

/** Styles and colours stand as they are: they end with the line and hide nothing. */
const exceptColours = (text: string): string =>
  text
    .split(COLOUR)
    .map((part, i) => (i % 2 === 1 && part.startsWith('\u001b') ? part : printable(part)))
    .join('');

function writer(stream: NodeJS.WriteStream): (bytes: Uint8Array | string) => Promise<void> {
  let gone = false;
  stream.on('error', (error: NodeJS.ErrnoException) => {
    gone ||= error.code === 'EPIPE';
  });
  return (bytes) =>
    new Promise((resolve, reject) => {
      if (gone) return reject(GONE);
      stream.write(bytes, (error) => (error ? reject(outputFault(error)) : resolve()));
    });
}

function outputFault(error: NodeJS.ErrnoException): unknown {
  if (error.code === 'EPIPE' || error.code === 'ERR_STREAM_DESTROYED') return GONE;
  try {
    return fail('E_IO', { where: 'stdout', found: error.message, cause: error });
  } catch (fault) {
    return fault;
  }
}
