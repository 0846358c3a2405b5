/** Where text, data, progress and colours go, by what the streams are. */
import { styleText } from 'node:util';
import t from 'tap';
import { faultText } from '../../cli/fault.ts';
import { GONE, openOutput } from '../../cli/output.ts';
import { oneLine, printable } from '../../cli/printable.ts';
import { AshlarError, isFault } from '../../store/format/errors.ts';

type Streams = Parameters<typeof openOutput>[0];

/** A stream that remembers, and fails every write with this code where one is given. */
function stream(isTTY: boolean, code?: string) {
  const written: string[] = [];
  const fake = {
    isTTY,
    columns: 20,
    on: () => fake,
    write(text: string | Uint8Array, done?: (error?: Error) => void) {
      if (code === undefined) written.push(Buffer.from(text).toString());
      done?.(code === undefined ? undefined : Object.assign(new Error(code), { code }));
      return true;
    },
  };
  return { written, stream: fake as unknown as Streams['stdout'] };
}

function desk(isTTY: boolean, { json = false, code = undefined as string | undefined, env = {} } = {}) {
  const [stdout, stderr] = [stream(isTTY, code), stream(isTTY)];
  const out = openOutput({ stdout: stdout.stream, stderr: stderr.stream, env, json });
  return { out, stdout: stdout.written, stderr: stderr.written };
}

t.test('the same result as text, or as one JSON line', async (t) => {
  for (const json of [false, true]) {
    const { out, stdout } = desk(false, { json });
    out.say({ a: 1 }, 'a is 1');
    await out.print({ a: 2 }, 'a is 2');
    await out.flush();
    t.same(stdout.sort(), json ? ['{"a":1}\n', '{"a":2}\n'] : ['a is 1\n', 'a is 2\n']);
  }
});

t.test('progress is for a terminal, and gives way to the next line', async (t) => {
  const quiet = desk(false);
  quiet.out.progress('working');
  await quiet.out.flush();
  t.same(quiet.stderr, []);
  const { out, stderr } = desk(true);
  out.progress('a line that is longer than the terminal is wide');
  out.note('done');
  await out.flush();
  t.equal(stderr[0], 'a line that is long');
  t.same(stderr.slice(1), ['\r\u001b[2K', 'done\n']);
});

t.test('colours are for a terminal, and for nobody who said NO_COLOR', async (t) => {
  t.equal(desk(false).out.style('red', 'x'), 'x');
  t.equal(desk(true).out.style('red', 'x'), '\u001b[31mx\u001b[39m');
  const { out, stderr } = desk(true, { env: { NO_COLOR: '1' } });
  t.equal(out.style('red', 'x'), 'x');
  out.note('x', 'red');
  t.same(stderr, ['x\n']);
});

t.test('a closed pipe ends a verb quietly, and a full disk does not', async (t) => {
  const closed = desk(false, { code: 'EPIPE' });
  await t.rejects(
    closed.out.print(1, '1').catch((error: unknown) => {
      throw new Error(error === GONE ? 'gone' : 'other');
    }),
    /gone/,
  );
  closed.out.say(1, '1');
  await closed.out.flush();
  const full = desk(false, { code: 'ENOSPC' });
  const error = await full.out.print(1, '1').catch((thrown: unknown) => thrown);
  t.ok(isFault(error, 'E_IO'));
  full.out.say(1, '1');
  t.ok(isFault(await full.out.flush().catch((thrown: unknown) => thrown), 'E_IO'), 'a said line too');
});

t.test('no foreign text acts on a terminal: a name, a record, a fault', async (t) => {
  const name = 'a\u001b[2J\u001b]0;title\u0007\r\u009b1A\u202eb\u2028\u007f';
  const seen = 'a\\u001b[2J\\u001b]0;title\\u0007\\u000d\\u009b1A\\u202eb\\u2028\\u007f';
  t.equal(printable(name), seen);
  t.equal(printable('two\nlines\tand more'), 'two\nlines\tand more');
  t.equal(oneLine('two\nlines\tand more'), 'two\\u000alines\\u0009and more');
  for (const isTTY of [false, true]) {
    const { out, stdout, stderr } = desk(isTTY);
    await out.print({}, `${out.style('red', 'OUTSIDE')} ${name}`);
    const fault = new AshlarError('E_NOT_FOUND', { where: `${name}\nforged line`, found: 'two\n  of them' });
    out.note(faultText(fault), 'red');
    const [red, end] = isTTY ? ['\u001b[31m', '\u001b[39m'] : ['', ''];
    t.same(stdout, [`${red}OUTSIDE${end} ${seen}\n`]);
    const told = `E_NOT_FOUND: no such object; at ${seen}\\u000aforged line; found two\n  of them`;
    t.same(stderr.join(''), isTTY ? `${styleText('red', told, { validateStream: false })}\n` : `${told}\n`);
    const data = desk(isTTY, { json: true });
    await data.out.print({ name }, '');
    t.same(JSON.parse(data.stdout[0] as string), { name }, 'the data is the same');
    t.equal(printable(data.stdout[0] as string), data.stdout[0], 'and acts no more');
  }
});
