/** A study from its files to a verified release, through verbs alone; the daemon, and the decisions that people make. */
import { type ChildProcess, spawn } from 'node:child_process';
import { copyFileSync, cpSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { execPath } from 'node:process';
import t, { type Test } from 'tap';
import { ERRORS } from '../../store/format/errors.ts';
import { bin, type Desk, lines, openDesk, root } from './kit.ts';

const desk = openDesk();
t.teardown(desk.clear);
const at = (...names: string[]) => join(desk.folder, ...names);
const catalogue = join(root, 'challenges');
const PAIR = ['export-quoting-control', 'quayside-export'] as const;
const WHO = ['--who', 'a tester', '--why', 'a test'];

/** The demo's study, of one challenge and one epoch. */
function writeStudy(id: string): string {
  const demo = JSON.parse(readFileSync(join(catalogue, 'studies/demo.json'), 'utf8'));
  const pairs = demo.pairs.filter((pair: { challenge: string }) => pair.challenge === PAIR[0]);
  const used = new Set(pairs.flatMap((pair: { arms: object }) => Object.values(pair.arms)));
  const conditions = demo.conditions.filter(({ name }: { name: string }) => used.has(name));
  writeFileSync(at(`${id}.json`), JSON.stringify({ ...demo, id, pairs, conditions, epochs: 1, tests: [] }));
  return `${id}.json`;
}

function writeHost(): void {
  const provisioner = join(catalogue, 'provisioner/reference.mjs');
  const host = {
    v: 1,
    executor: 'none',
    provisioners: { reference: { argv: [execPath, provisioner], recall: true } },
    model: { kind: 'scripted', behaviours: [join(catalogue, 'challenges')] },
  };
  writeFileSync(at('.ashlar/host.json'), JSON.stringify(host));
}

/** A daemon of the desk, and the promise of a line that it will say. */
function startDaemon({ folder, env }: Desk) {
  const child: ChildProcess = spawn(execPath, [bin, 'daemon', '--json'], { cwd: folder, env });
  let out = '';
  let err = '';
  const waiting = new Set<() => void>();
  child.stdout?.on('data', (chunk: Buffer) => {
    out += chunk.toString();
    for (const look of waiting) look();
  });
  child.stderr?.on('data', (chunk: Buffer) => {
    err += chunk.toString();
  });
  const ended = new Promise<number | null>((resolve) => child.on('close', resolve));
  const said = (pattern: RegExp, times = 1) =>
    new Promise<void>((resolve, reject) => {
      const look = () => {
        if (out.split('\n').filter((line) => pattern.test(line)).length < times) return;
        waiting.delete(look);
        resolve();
      };
      waiting.add(look);
      look();
      void ended.then((code) => reject(new Error(`the daemon ended with ${code}: ${err}`)));
    });
  return { said, ended, stop: () => child.kill('SIGTERM'), output: () => out };
}

t.test('freeze, certify and validate come before a study, and say what is missing', async (t) => {
  await desk.ok('init');
  copyFileSync(join(catalogue, 'studies/system.md'), at('system.md'));
  const early = await desk.ashlar(['study', writeStudy('early')]);
  t.same([early.code, /challenge\/export-quoting-control/.test(early.err)], [ERRORS.E_NOT_FOUND.exit, true]);
  const challenge = await desk.ok('freeze', 'challenge', join(catalogue, 'challenges', PAIR[0]));
  t.equal(
    await desk.ok('freeze', 'challenge', join(catalogue, 'challenges', PAIR[0])),
    challenge,
    'again: the same',
  );
  const fixture = await desk.ok('freeze', 'fixture', join(catalogue, 'fixtures', PAIR[1]));
  t.equal(await desk.ok('name', `fixture/${PAIR[1]}`), fixture);
  t.match(await desk.ok('certify', ...PAIR), /^certificate \S+\ncovers corpus, evidence, .*\nno findings$/);
  const redacted = await desk.ok('ls', 'redaction', '--json');
  const all = await Promise.all(lines<{ cid: string }>(redacted).map(({ cid }) => desk.ok('redact', cid)));
  t.match(all.join('\n'), /CLAUDE\.md/);
  const logs = await desk.ok('log');
  const unready = await desk.ashlar(['study', writeStudy('unready')]);
  t.equal(unready.code, ERRORS.E_GATE.exit);
  t.match(
    unready.err,
    /validation of export-quoting-control oracle; wanted a validation run, isolation none, same images; found no such run/,
  );
  t.equal(await desk.ok('log'), logs, 'and nothing is registered');
  const nohost = await desk.ashlar(['validate', ...PAIR]);
  t.same([nohost.code, /--host FILE/.test(nohost.err)], [ERRORS.E_CONFIG.exit, true]);
  writeHost();
  const validated = lines(await desk.ok('validate', ...PAIR, '--json'));
  t.match(validated[0], { event: 'engine', isolation: 'none', scripted: true });
  t.ok(validated.slice(1).every(({ asExpected }) => asExpected === true));
  const certificate = lines<{ cid: string }>(await desk.ok('ls', 'certificate', '--json'))[0]?.cid ?? '';
  const place = ['--surface', 'corpus', '--path', 'README.md'];
  const refused = await desk.ashlar(['accept', certificate, ...place, ...WHO]);
  t.equal(refused.code, ERRORS.E_NOT_FOUND.exit, 'only a finding can be accepted');
});

t.test('a daemon runs what other processes register through it, and stops when told', async (t) => {
  const daemon = startDaemon(desk);
  t.teardown(() => daemon.stop());
  await daemon.said(/"event":"listening"/);
  const study = await desk.ok('study', writeStudy('small'));
  await daemon.said(/"event":"ran"/, 2);
  t.equal(await desk.ok('name', 'study/small'), study);
  t.match(await desk.ok('why', 'study/small'), /^already-done/);
  t.equal(await desk.ok('pending', 'study/small'), '');
  daemon.stop();
  t.equal(await daemon.ended, 0);
  t.match(daemon.output(), /"event":"stopped","reason":"stopped by SIGTERM"/);
  const ran = lines(daemon.output()).filter(({ event }) => event === 'ran');
  t.same(ran.map(({ arm, status }) => `${arm} ${status}`).sort(), ['memory completed', 'none completed']);
});

const bound = (field: string, form: string, said = '') =>
  `<!-- claim: summary ${field} as ${form} -->${said}<!-- /claim -->`;

/** The forms of a report, a page whose numbers are bound, and what stands behind one of them. */
async function reports(t: Test, close: string): Promise<void> {
  await t.test('the report as HTML and Markdown, as one value, and into a folder', async (t) => {
    const html = await desk.ok('report', close, '--html');
    t.match(html, /^<!doctype html>[\s\S]*export-quoting-control[\s\S]*<\/html>$/);
    const markdown = await desk.ok('report', close, '--markdown');
    t.match(markdown, /^# [\s\S]*\| *export-quoting-control/);
    const [shown] = lines<{ text: string; outputs: { name: string }[] }>(
      await desk.ok('report', close, '--html', '--json'),
    );
    t.equal(shown?.text.trimEnd(), html, '--json: the same text');
    for (const { name } of shown?.outputs ?? []) t.ok(existsSync(at('report', name)), name);
    t.equal(readFileSync(at('report/report.html'), 'utf8').trimEnd(), html);
    const both = await desk.ashlar(['report', close, '--html', '--markdown']);
    t.equal(both.code, ERRORS.E_USAGE.exit);
  });

  await t.test('a page: bound numbers are filled, and what does not fit is refused', async (t) => {
    const page = (text: string) => writeFileSync(at('results.md'), text);
    const bind = (...more: string[]) => desk.ashlar(['report', close, '--page', 'results.md', ...more]);
    page(`Counted: ${bound('/counts/planned', 'plain')} plans.\n`);
    t.equal((await bind()).code, ERRORS.E_USAGE.exit, 'a claim is a decision of a person');
    page(`Counted: ${bound('/counts/planned', 'plain', '7')}.\n`);
    t.match((await bind(...WHO)).err, /E_CLAIM.*found 7/, 'another number than the record says');
    page(`There were 12 of ${bound('/counts/planned', 'plain')}.\n`);
    t.match((await bind(...WHO)).err, /E_CLAIM.*12/, 'a number without marks');
    page(`Nothing: ${bound('/nosuch', 'plain')}.\n`);
    t.equal((await bind(...WHO)).code, ERRORS.E_CLAIM.exit, 'a field that is not there');
    page(`Counted: ${bound('/counts/planned', 'plain')}.\n`);
    const taken = await bind(...WHO, '--out', 'report');
    t.equal(taken.code, ERRORS.E_STORE_EXISTS.exit);
    copyFileSync(at('results.md'), at('report.md'));
    const named = await desk.ashlar(['report', close, '--page', 'report.md', ...WHO]);
    t.match(named.err, /a name that no form of the report has; found report\.md/);
    t.equal(await desk.ok('ls', 'claim'), '', 'none of these made a claim');

    await desk.ok('report', close, '--page', 'results.md', ...WHO, '--out', 'bound');
    t.equal(
      readFileSync(at('bound/results.md'), 'utf8'),
      `Counted: ${bound('/counts/planned', 'plain', '2')}.\n`,
    );
    t.equal(lines(await desk.ok('ls', 'claim', '--json')).length, 1);
    page('Another text.\n');
    t.match((await bind(...WHO)).err, /E_CLAIM.*Close the study again/, 'a page once claimed stands');
  });

  await t.test('from a number to the runs behind it', async (t) => {
    const [{ summary = '' } = {}] = lines<{ summary: string }>(await desk.ok('report', close, '--json'));
    const text = await desk.ok('show', summary, '/tasks/0/arms');
    t.match(
      text,
      /\n2 runs behind it:\n {2}\S+ {2}export-quoting-control, (none|memory), epoch 1, attempt 1: /,
    );
    const [found] = lines<{ runs: { receipt: string }[] }>(
      await desk.ok('show', summary, '/tasks/0/arms', '--json'),
    );
    const receipts = lines<{ cid: string }>(await desk.ok('ls', 'receipt', '--json')).map(({ cid }) => cid);
    t.same(found?.runs.map(({ receipt }) => receipt).sort(), receipts.sort(), 'each leads to its receipt');
    for (const receipt of receipts) t.match(text, receipt);
    t.equal((await desk.ashlar(['show', summary, '/no/such'])).code, ERRORS.E_NOT_FOUND.exit);
    t.equal((await desk.ashlar(['show', close, '/counts'])).code, ERRORS.E_KIND.exit);
  });
}

t.test('decisions, close, report, release, and a verifier without a store', async (t) => {
  const run = lines(await desk.ok('run', '--json'));
  t.match(run.at(-1), { event: 'done', ran: 0 }, 'nothing is left to run');
  const admitted = lines<{ receipt: string; decision: string }>(
    await desk.ok('admit', 'study/small', '--eligible', ...WHO, '--json'),
  );
  t.same(
    admitted.map(({ decision }) => decision),
    ['admitted', 'admitted'],
  );
  const receipt = admitted[0]?.receipt ?? '';
  t.match(await desk.ok('audit', receipt), /^inside +content +src\/reports\.mjs$/);
  await desk.ok('override', receipt, '--decision', 'excluded', '--outcomes-visible', ...WHO);
  const same = await desk.ashlar(['override', receipt, '--decision', 'excluded', ...WHO]);
  t.equal(same.code, ERRORS.E_GATE.exit, 'an override says something else than what stands');
  const reason = await desk.ashlar(['admit', receipt, '--exclude', 'bad-result', ...WHO]);
  t.same(
    [reason.code, /registered-defect/.test(reason.err)],
    [ERRORS.E_USAGE.exit, true],
    'reasons are a closed list',
  );
  const close = await desk.ok('close', 'study/small', ...WHO);
  t.match(
    await desk.ok('report', close, '--out', 'report'),
    /SCRIPTED: answers[\s\S]*export-quoting-control/,
  );
  await reports(t, close);
  const release = await desk.ok('release', close, '--out', 'release');
  writeFileSync(at('keys'), `# trusted\n${await desk.ok('log', 'study/small', '--key')}\n`);
  await t.test('the release', async (t) => {
    const nowhere = { cwd: '/' };
    const alone = await desk.ashlar(['verify', at('release')], nowhere);
    t.same([alone.code, /^ok.*; self-attested;/.test(alone.out)], [0, true], alone.out);
    const trusted = await desk.ashlar(
      ['verify', at('release'), '--policy', at('keys'), '--expect', release],
      nowhere,
    );
    t.same([trusted.code, /^ok.*; trusted;/.test(trusted.out)], [0, true], trusted.out);
    writeFileSync(at('release/extra'), 'x');
    const broken = await desk.ashlar(['verify', at('release'), '--json'], nowhere);
    t.equal(broken.code, ERRORS.E_VERIFY.exit);
    t.match(lines(broken.out)[0], { result: 'faults', faults: [{ kind: 'file-extra', at: 'extra' }] });
    const again = await desk.ashlar(['release', close, '--out', 'release']);
    t.equal(again.code, ERRORS.E_STORE_EXISTS.exit);
  });
  t.match(await desk.ok('check'), /^0 faults;/);
});

t.test('a corpus of a commit, and a commit that is not there', async (t) => {
  const made = lines<{ cid: string }>(await desk.ok('ls', 'corpus', '--json'));
  const short = await desk.ashlar(['corpus', root, 'abc1234']);
  t.ok([ERRORS.E_GIT_REF.exit, ERRORS.E_GIT.exit].includes(short.code as 2), short.err);
  t.equal(lines(await desk.ok('ls', 'corpus', '--json')).length, made.length, 'nothing was recorded');
});

t.test('--json says what the text says, for every verb that reads', async (t) => {
  const one = async (kind: string) =>
    lines<{ cid: string }>(await desk.ok('ls', kind, '--json'))[0]?.cid ?? '';
  const [close, receipt, redaction] = [await one('close'), await one('receipt'), await one('redaction')];
  const [tree, certificate, summary] = [await one('corpus'), await one('certificate'), await one('summary')];
  const rows = [
    ['ls'],
    ['ls', 'receipt'],
    ['log'],
    ['log', 'study/small'],
    ['log', 'study/small', '--key'],
    ['name'],
    ['name', 'study/small'],
    ['show', receipt],
    ['show', summary, '/counts/planned'],
    ['redact', redaction],
    ['redact', tree],
    ['certify', certificate],
    ['certify', ...PAIR],
    ['pending'],
    ['why', 'study/small'],
    ['audit', receipt],
    ['report', close],
    ['verify', 'bound-release'],
    ['check'],
    ['stats', 'mcnemar', '{"b":9,"c":2}'],
  ];
  await desk.ok('release', close, '--out', 'bound-release');
  for (const args of rows) {
    const text = await desk.ok(...args);
    const json = await desk.ok(...args, '--json');
    for (const line of json === '' ? [] : json.split('\n')) t.ok(JSON.parse(line) !== undefined);
    // Whatever names or counts something: CIDs, digests, paths, names.
    const words =
      text.match(/\b(baf[a-z2-7]{40,}|bagu[a-z2-7]{40,}|[0-9a-f]{64}|[a-z-]+\/[a-z.-]+|\d+)\b/g) ?? [];
    const missing = [...new Set(words)].filter((word) => !json.includes(word));
    t.same(missing, [], args.join(' '));
  }
});

t.test('validate says which tag came out otherwise than the challenge expects', async (t) => {
  cpSync(join(catalogue, 'challenges', PAIR[0]), at('otherwise'), { recursive: true });
  const file = at('otherwise/challenge.json');
  const challenge = JSON.parse(readFileSync(file, 'utf8'));
  const named = (wanted: string) => challenge.solutions.find(({ name }: { name: string }) => name === wanted);
  const oracle = named('oracle');
  const wrong = { ...oracle, expected: { ...oracle.expected, func: 'fail' } };
  writeFileSync(file, JSON.stringify({ ...challenge, solutions: [wrong, named('nothing')] }));
  await desk.ok('freeze', 'challenge', at('otherwise'));
  const { code, out } = await desk.ashlar(['validate', ...PAIR]);
  t.equal(code, ERRORS.E_GATE.exit);
  t.match(out, /^oracle .*NOT AS EXPECTED: func is pass, expected fail$/m);
});
