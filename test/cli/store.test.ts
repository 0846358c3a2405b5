/** The verbs over a store, as processes: results, exit statuses, `--json`, help, and what a closed pipe does. */
import { spawn } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { execPath } from 'node:process';
import t from 'tap';
import { VERBS } from '../../cli/verbs.ts';
import { cidOf } from '../../store/format/cid.ts';
import { ERRORS } from '../../store/format/errors.ts';
import { bin, lines, openDesk, root } from './kit.ts';

const desk = openDesk();
t.teardown(desk.clear);
const at = (...names: string[]) => join(desk.folder, ...names);
const raw = (text: string) => cidOf('raw', Buffer.from(text));

t.before(async () => {
  await desk.ok('init');
});

t.test('put prints the cid alone; get gives the same bytes back', async (t) => {
  const bodies: Record<string, string> = { empty: '', one: 'x', text: 'hello\n', big: 'y'.repeat(3 << 20) };
  for (const [name, body] of Object.entries(bodies)) {
    writeFileSync(at(name), body);
    t.equal(await desk.ok('put', name), raw(body), name);
    const { code, out } = await desk.ashlar(['get', raw(body)]);
    t.same([code, out], [0, body], name);
  }
  const piped = await desk.ashlar(['put', '-', '--json'], { input: 'from a pipe' });
  t.match(piped.err, /^unnamed: /);
  t.same(
    lines(piped.out),
    [{ cid: raw('from a pipe'), size: 11, added: true }].map(({ added: _, ...rest }) => rest),
  );
});

t.test('a folder comes back as it was, and a target that is there is left alone', async (t) => {
  mkdirSync(at('folder/inner'), { recursive: true });
  writeFileSync(at('folder/inner/run'), '#!/bin/sh\n');
  chmodSync(at('folder/inner/run'), 0o755);
  symlinkSync('inner/run', at('folder/link'));
  const cid = await desk.ok('put', 'folder', '--name', 'my/folder');
  await desk.ok('get', 'my/folder', '--out', 'copy');
  t.same(readdirSync(at('copy')).sort(), ['inner', 'link']);
  t.equal(readlinkSync(at('copy/link')), 'inner/run');
  t.equal(await desk.ok('put', 'copy', '--name', 'my/copy'), cid, 'the copy has the same cid');
  t.match(await desk.ok('ls', 'my/folder'), /^0755 dir .* inner\n0000 link .* link$/);
  const again = await desk.ashlar(['get', raw('hello\n'), '--out', 'copy']);
  t.same([again.code, /E_STORE_EXISTS/.test(again.err)], [ERRORS.E_STORE_EXISTS.exit, true]);
  await desk.ok('get', raw('hello\n'), '--out', 'file');
  t.equal(readFileSync(at('file'), 'utf8'), 'hello\n');
  t.notOk(
    readdirSync(desk.folder).some((name) => name.endsWith('.part')),
    'nothing half-written stays',
  );
});

t.test('names: compare and swap, withdrawal, and who points where', async (t) => {
  const [one, two] = [await desk.ok('put', 'one', '--name', 'n/a'), await desk.ok('put', 'text')];
  t.equal(await desk.ok('name', 'n/a'), one);
  const [head] = lines<{ record: string }>(await desk.ok('name', 'n/a', '--json'));
  const stale = await desk.ashlar(['name', 'n/a', two, '--previous', 'none']);
  t.same([stale.code, /E_NAME_CONFLICT/.test(stale.err)], [ERRORS.E_NAME_CONFLICT.exit, true]);
  t.equal(await desk.ok('name', 'n/a', two, '--previous', head?.record ?? ''), two);
  t.match(await desk.ok('name'), new RegExp(`${two}  n/a`));
  await desk.ok('name', 'n/a', '--withdraw');
  t.equal((await desk.ashlar(['name', 'n/a'])).code, ERRORS.E_NOT_FOUND.exit);
  const [shown] = lines<{ linkers: { kind: string }[] }>(await desk.ok('show', two, '--json'));
  t.same(
    shown?.linkers.map(({ kind }) => kind),
    ['name'],
    'show leads on to what links here',
  );
  t.match(await desk.ok('show', head?.record ?? ''), /links:\n {2}raw +bafk/);
  const logs = lines<{ family: unknown; size: number }>(await desk.ok('log', '--json'));
  t.equal(logs.length, 1);
  t.equal(lines(await desk.ok('log', 'store', '--json')).length, logs[0]?.size);
  t.match(await desk.ok('log', 'store', '--checkpoint'), /\n— ashlar\./);
  t.match(await desk.ok('ls'), /^ +\d+ {2}name$/);
  t.match(await desk.ok('check'), /^0 faults; \d+ sound blocks of \d+ bytes, \d+ leaves$/);
});

// words -> exit status, code and what the sentence must say.
const REFUSED: readonly (readonly [string, keyof typeof ERRORS, RegExp])[] = [
  ['ptu README.md', 'E_USAGE', /found ptu\. Did you mean `put`\?/],
  ['zzzzzzzzzzzz', 'E_USAGE', /ashlar --help lists the verbs/],
  ['put --naem x y', 'E_USAGE', /Did you mean --name\?/],
  ['put', 'E_USAGE', /wanted PATH; found nothing/],
  ['put a b c', 'E_USAGE', /at most 1 argument/],
  ['get --out', 'E_USAGE', /./],
  ['put nosuch', 'E_NOT_FOUND', /nosuch/],
  [`get ${raw('never stored')}`, 'E_NOT_FOUND', /no such object/],
  [`get ${raw('x').slice(0, -1)}`, 'E_CID', /wanted a base32 CIDv1/],
  ['get sha256:abc', 'E_CID', /sha256/],
  ['get ../up', 'E_CONTRACT', /name/],
  ['get no/such/name', 'E_NOT_FOUND', /name/],
  ['ls nokind', 'E_NOT_FOUND', /nokind/],
  ['log nostudy', 'E_NOT_FOUND', /nostudy/],
  [`put text --expect ${raw('other')}`, 'E_DIGEST', /digest/],
  ['--store nowhere ls', 'E_USAGE', /./],
  ['ls --store nowhere', 'E_STORE_FORMAT', /ashlar init/],
  ['why no/such', 'E_NOT_FOUND', /./],
  ['run', 'E_CONFIG', /host configuration/],
  ['freeze chalenge x', 'E_USAGE', /challenge, fixture, condition, agent/],
  ['freeze challenge nosuch', 'E_NOT_FOUND', /challenge\.json/],
  ['stats nosuch {}', 'E_STATS_INPUT', /mcnemar/],
  ['stats mcnemar {', 'E_JSON', /./],
  ['run --limit 0', 'E_USAGE', /a whole number from 1/],
];

t.test('what is refused has a sentence, an exit status and no stack trace', async (t) => {
  for (const [words, code, says] of REFUSED) {
    const { code: exit, out, err } = await desk.ashlar(words.split(' '));
    t.equal(exit, ERRORS[code].exit, words);
    t.match(err, new RegExp(`^ashlar: ${code}: `), words);
    t.match(err, says, words);
    t.notMatch(err, /\n\s+at |node_modules|\.js:\d/, `${words}: no stack`);
    t.equal(out, '', `${words}: nothing on stdout`);
  }
  const { err } = await desk.ashlar(['get', 'no/such/name', '--json']);
  const fault = JSON.parse(err) as Record<string, unknown>;
  t.match(fault, {
    code: 'E_NOT_FOUND',
    sentence: ERRORS.E_NOT_FOUND.sentence,
    exit: 3,
    where: 'no/such/name',
  });
  t.equal(
    (await desk.ashlar(['put', '-', '--record'], { input: '{"kind":"x","v":1}' })).code,
    ERRORS.E_KIND.exit,
  );
});

const EVERY_VERB =
  'init put get show ls log name check corpus redact certify freeze accept validate study pending why run daemon ' +
  'audit admit override amend close report release verify provisioner mirror stats demo';

t.test('help lists exactly the verbs, and each has an example', async (t) => {
  const help = await desk.ok('--help');
  const listed = help.slice(help.indexOf('COMMANDS')).split('\n').slice(1);
  t.same(
    listed.map((line) => line.trim().split(/ +/)[0]),
    Object.keys(VERBS),
  );
  t.same(Object.keys(VERBS).join(' '), EVERY_VERB);
  t.match(help, /^USAGE\n {2}ashlar init\n[\s\S]*ashlar VERB --help says more, with an example\./);
  for (const name of Object.keys(VERBS)) {
    const { command } = await (VERBS[name] as (typeof VERBS)[string]).load();
    const { fullDescription } = command('x');
    t.match(fullDescription, new RegExp(`Example:\n {2}(?:.*\n {2})*.*ashlar ${name}`), name);
  }
  t.match(await desk.ok('put', '--help'), /--expect.*\n[\s\S]*--store.*\n[\s\S]*--json/);
  const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string };
  t.equal(await desk.ok('--version'), version);
  t.notOk(help.includes('\u001b'), 'no colour in a pipe');
});

t.test('no byte that was not checked reaches stdout', async (t) => {
  const store = at('torn');
  await desk.ok('init', store);
  const body = 'z'.repeat(2 << 20);
  const put = await desk.ashlar(['put', '-', '--store', store], { input: body });
  const cid = put.out.trimEnd();
  const [big] = readdirSync(join(store, 'big')).filter((name) => !name.endsWith('.leaves'));
  const file = join(store, 'big', big ?? '');
  const bytes = readFileSync(file);
  bytes.write('!', (1 << 20) + 5);
  writeFileSync(file, bytes);
  const { code, out } = await desk.ashlar(['get', cid, '--store', store]);
  t.equal(code, ERRORS.E_DIGEST.exit);
  t.notMatch(out, /!/);
  const into = await desk.ashlar(['get', cid, '--store', store, '--out', 'torn.out']);
  t.equal(into.code, ERRORS.E_DIGEST.exit);
  t.notOk(existsSync(at('torn.out')));
  const check = await desk.ashlar(['check', '--store', store]);
  t.equal(check.code, ERRORS.E_STORE_DAMAGED.exit);
  t.match(check.out, /big/);
});

t.test('a reader that goes away is no fault', async (t) => {
  const child = spawn(execPath, [bin, 'get', raw('y'.repeat(3 << 20))], { cwd: desk.folder, env: desk.env });
  let err = '';
  child.stderr.on('data', (chunk: Buffer) => {
    err += chunk.toString();
  });
  child.stdout.once('data', () => child.stdout.destroy());
  const code = await new Promise((resolve) => child.on('close', resolve));
  t.same([code, err], [0, '']);
});

t.test('two at once both succeed, and another folder finds the nearest store', async (t) => {
  const both = await Promise.all(['p', 'q'].map((input) => desk.ashlar(['put', '-'], { input })));
  t.same(
    both.map(({ code, out }) => [code, out.trimEnd()]),
    [
      [0, raw('p')],
      [0, raw('q')],
    ],
  );
  mkdirSync(at('deep/er'), { recursive: true });
  const near = await desk.ashlar(['get', raw('p')], { cwd: at('deep/er') });
  t.same([near.code, near.out], [0, 'p']);
  const other = await desk.ashlar(['get', raw('p')], { cwd: '/', env: { ASHLAR_STORE: at('.ashlar') } });
  t.equal(other.out, 'p');
  const none = await desk.ashlar(['ls'], { cwd: '/' });
  t.same([none.code, /ashlar init/.test(none.err)], [ERRORS.E_NOT_FOUND.exit, true]);
});
