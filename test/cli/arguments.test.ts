/**
 * The command line itself, for every verb there is: help with an example, unknown options, too many arguments, empty
 * texts, and errors as JSON. Then each fault that a command line can have beside: where it is, and what was found.
 */
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { VERBS } from '../../cli/verbs.ts';
import { cidOf } from '../../store/format/cid.ts';
import { ERRORS, type ErrorCode } from '../../store/format/errors.ts';
import { lines, openDesk } from './kit.ts';

t.setTimeout(600_000);
const desk = openDesk();
t.teardown(desk.clear);
const at = (...names: string[]) => join(desk.folder, ...names);

/** What ended with this code and left nothing on stdout; gives the fault as JSON. */
async function refused(
  args: readonly string[],
  code: ErrorCode,
  options = {},
): Promise<Record<string, string>> {
  const { code: exit, out, err } = await desk.ashlar([...args, '--json'], options);
  const shown = args.map((word) => (word === '' ? "''" : word)).join(' ');
  t.same([exit, out], [ERRORS[code].exit, ''], `${shown}: exit ${exit} ${err}`);
  const [fault = {}] = lines<Record<string, string>>(err);
  t.match(fault, { code, sentence: ERRORS[code].sentence, exit: ERRORS[code].exit }, shown);
  return fault;
}

interface Parsed {
  readonly kind?: string;
  readonly optional?: boolean;
  readonly parse?: (text: string) => unknown;
}
interface Parameters {
  readonly flags: Readonly<Record<string, Parsed>>;
  readonly positional: { readonly kind: string; readonly parameters: readonly Parsed[] };
}

/** What a verb declares. */
async function parametersOf(name: string): Promise<Parameters> {
  const entry = VERBS[name];
  if (entry === undefined) throw new Error(name);
  return ((await entry.load()).command(entry.brief) as unknown as { parameters: Parameters }).parameters;
}

t.before(async () => {
  await desk.ok('init');
});

for (const name of Object.keys(VERBS)) {
  t.test(`${name}: help, options, arguments, empty texts`, async (t) => {
    const help = await desk.ashlar([name, '--help']);
    t.same([help.code, help.err], [0, '']);
    t.match(help.out, new RegExp(`\\nExample:\\n  ashlar ${name}( |\\n)`), 'an example');
    const { flags, positional } = await parametersOf(name);
    t.equal(positional.kind, 'tuple', 'no verb takes any number of words');
    const texts = Object.values(flags).filter(({ kind }) => kind === 'parsed');
    for (const { parse } of [...texts, ...positional.parameters])
      t.throws(() => parse?.(''), { code: 'E_USAGE' });
    t.ok(flags.json, 'has --json');

    t.match(await refused([name, '--no-such-flag'], 'E_USAGE'), { found: '--no-such-flag' });
    const required = Object.entries(flags).filter(
      ([, { kind, optional }]) => kind === 'parsed' && optional !== true,
    );
    const given = required.flatMap(([flag]) => [`--${flag}`, 'x']);
    const words = Array<string>(positional.parameters.length + 1).fill('x');
    const count = positional.parameters.length;
    const wanted = `at most ${count} argument${count === 1 ? '' : 's'}`;
    t.match(await refused([name, ...words, ...given], 'E_USAGE'), { wanted, found: 'x' });
    if (required.length === 0) return;
    const fault = await refused([name, ...words.slice(1)], 'E_USAGE');
    t.ok(
      required.some(([flag]) => fault.wanted === `a value for --${flag}`),
      fault.wanted ?? '',
    );
  });
}

t.test('an unknown verb, a near one, and none', async (t) => {
  t.match(await refused(['no-such-verb'], 'E_USAGE'), { found: 'no-such-verb', hint: /--help lists/ });
  t.match(await refused(['verfy'], 'E_USAGE'), { hint: /^Did you mean .?verify.?\?$/ });
  await refused([''], 'E_USAGE');
  const plain = await desk.ashlar(['no-such-verb']);
  t.match(plain.err, /^ashlar: E_USAGE: [^\n]*\n$/, 'one sentence, and no stack');
  const list = await desk.ok('--help');
  for (const name of Object.keys(VERBS)) t.match(list, new RegExp(`\\n +${name} +\\S`), name);
});

t.test('an empty text is never the current folder', async (t) => {
  const before = readdirSync(desk.folder).sort();
  for (const args of [
    ['put', ''],
    ['verify', ''],
    ['redact', ''],
    ['certify', ''],
    ['audit', '', ''],
    ['redact', '.ashlar', '--out', ''],
    ['init', ''],
    ['ls', '--store', ''],
    ['check', '--store', ''],
  ])
    await refused(args, 'E_USAGE');
  t.same(readdirSync(desk.folder).sort(), before);
});

t.test('a variable that is set to nothing is as good as not set', async (t) => {
  const env = { ASHLAR_STORE: '', ASHLAR_LOG_KEY: '' };
  const ls = await desk.ashlar(['ls'], { env });
  t.same([ls.code, ls.err], [0, ''], 'the nearest store upwards');
  mkdirSync(at('fresh'));
  const made = await desk.ashlar(['init', '--json'], { env, cwd: at('fresh') });
  t.match(lines(made.out), [{ store: at('fresh/.ashlar'), logKey: at('config/ashlar/log.key') }]);
});

t.test('targets: what stands there, and folders that are not', async (t) => {
  const { out } = await desk.ashlar(['put', '-'], { input: 'x' });
  const cid = out.trim();
  writeFileSync(at('file'), 'mine');
  mkdirSync(at('folder'));
  const rows: readonly (readonly [string, ErrorCode, RegExp])[] = [
    ['file', 'E_STORE_EXISTS', /a file/],
    ['folder', 'E_STORE_EXISTS', /a folder/],
    ['none/x', 'E_NOT_FOUND', /nothing/],
    ['file/x', 'E_NOT_FOUND', /a file/],
    ['/proc/x', 'E_IO', /./],
  ];
  for (const [target, code, found] of rows) {
    const fault = await refused(['get', cid, '--out', target], code);
    t.match(fault.found, found, target);
  }
  t.match(await refused(['get', cid, '--out', 'none/x'], 'E_NOT_FOUND'), {
    where: at('none'),
    wanted: `a folder to put ${at('none/x')} into`,
  });
  for (const target of ['file', 'none/x', 'file/x']) {
    const fault = await refused(
      ['redact', '.ashlar', '--out', target],
      target === 'file' ? 'E_STORE_EXISTS' : 'E_NOT_FOUND',
    );
    t.ok(fault.where, target);
  }
  t.equal(readFileSync(at('file'), 'utf8'), 'mine');
  t.notOk(existsSync(at('none')));
});

t.test(
  'a digest or CID in no accepted spelling is no digest, which is not the same as not found',
  async (t) => {
    const digest = '2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824';
    const spellings = [
      digest,
      digest.toUpperCase(),
      digest.slice(0, 12),
      `${digest.slice(0, 63)}g`,
      'bafkqabi',
    ];
    for (const text of spellings) {
      const fault = await refused(['get', text], 'E_CID');
      t.match(JSON.stringify(fault), text, 'and says which');
    }
    await refused(['get', `sha256:${'0'.repeat(64)}`], 'E_NOT_FOUND');
    await refused(['get', 'nosuch'], 'E_NOT_FOUND');
    await refused(['get', 'beef'], 'E_NOT_FOUND');
  },
);

t.test('names that are not there', async (t) => {
  await refused(['name', 'nosuch', '--withdraw'], 'E_NOT_FOUND');
  await refused(['name', 'nosuch'], 'E_NOT_FOUND');
  await desk.ashlar(['put', '-', '--name', 'once'], { input: 'x' });
  t.equal(await desk.ok('name', 'once', '--withdraw'), 'once is withdrawn');
  t.equal(await desk.ok('name', 'once', '--withdraw'), 'once is withdrawn', 'again');
  await refused(['name', 'once'], 'E_NOT_FOUND');
});

t.test('put: what was found where a record was wanted, and how much is too much', async (t) => {
  const found = async (input: string | Uint8Array, code: ErrorCode) =>
    (await refused(['put', '-', '--record'], code, { input })).found;
  t.equal(await found('{}', 'E_KIND'), 'a map without the field `kind`');
  t.equal(await found('{"kind": 7}', 'E_KIND'), 'a map without the field `kind`');
  t.equal(await found('[1]', 'E_KIND'), 'a list');
  t.equal(await found('"x"', 'E_KIND'), 'a value that is no map: "x"');
  t.equal(await found('{"kind": "nosuch"}', 'E_KIND'), 'nosuch');
  t.ok(await found('', 'E_JSON'));
  t.equal(await found(Buffer.alloc((16 << 20) + 1, 0x20), 'E_TOO_LARGE'), 'more');
  const empty = await desk.ashlar(['put', '-']);
  t.same([empty.code, empty.out.trim()], [0, cidOf('raw', new Uint8Array())], 'nothing is the empty block');
  t.match(empty.err, /^empty: there was not one byte$/m, 'and it is said');
  t.notMatch((await desk.ashlar(['put', '-'], { input: 'x' })).err, /empty/);
});

t.test('verify --policy: keys, policies, and what is neither', async (t) => {
  mkdirSync(at('no-release'));
  const verifyWith = (text: string | Uint8Array, code: ErrorCode) => {
    writeFileSync(at('policy'), text);
    return refused(['verify', 'no-release', '--policy', 'policy'], code);
  };
  t.match(await verifyWith(Buffer.alloc(100 << 20, 0x61), 'E_TOO_LARGE'), { where: at('policy') });
  t.match(await verifyWith('junk\n', 'E_NOTE'), { where: `${at('policy')} line 1`, found: '"junk"' });
  t.match(await verifyWith('# one\n\nwitness w key\n', 'E_NOTE'), {
    where: `${at('policy')} line 3`,
    found: '"witness"',
  });
  t.match(await verifyWith(Buffer.from([0, 1, 255, 254, 10]), 'E_NOTE'), { where: `${at('policy')} line 1` });
  t.match(await verifyWith('# nothing\n', 'E_NOTE'), { wanted: 'a log key', found: 'none' });
  await refused(['verify', 'no-release', '--policy', 'nosuch'], 'E_NOT_FOUND');
  await refused(['verify', 'no-release', '--policy', 'no-release'], 'E_NOT_FOUND');
  const key = (await desk.ok('log', 'store', '--key').catch(() => '')) || (await keyOf());
  for (const text of [
    `${key}\n`,
    `# ours\n${key}`,
    `log ${key}\nquorum none\n`,
    `log ${key} https://log.example\r\n`,
  ]) {
    writeFileSync(at('policy'), text);
    const { code, err } = await desk.ashlar(['verify', 'no-release', '--policy', 'policy']);
    t.equal(code, ERRORS.E_VERIFY.exit, `${text}${err}`);
  }
});

/** The store log begins with its first record: a name. */
async function keyOf(): Promise<string> {
  await desk.ashlar(['put', '-', '--name', 'a/name'], { input: 'x' });
  return desk.ok('log', 'store', '--key');
}

t.test('one is one: no plural where there is one thing', async (t) => {
  mkdirSync(at('empty-release'));
  const { out } = await desk.ashlar(['verify', 'empty-release']);
  t.notMatch(out, /\b1 (faults|files|leaves|records)\b/);
  const one = (await desk.ashlar(['put', '-'], { input: 'z' })).out.trim();
  t.match(await desk.ok('show', one), /\(1 byte\)/);
  t.match(await desk.ok('check'), /^0 faults; /m);
});

t.test('a mirror by a URL that ends with a slash', async (t) => {
  const fault = await refused(['mirror', 'pull', 'http://127.0.0.1:1/'], 'E_REMOTE');
  t.equal(fault.where, 'http://127.0.0.1:1/v1/logs');
  await refused(['mirror', 'pull', 'ftp://127.0.0.1/'], 'E_CONFIG');
});
