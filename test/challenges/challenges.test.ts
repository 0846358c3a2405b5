import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import {
  type Behaviour,
  CATALOGUE,
  type Challenge,
  challenges,
  grade,
  json,
  run,
  runVerifier,
  runVisible,
  verifierArgv,
  workspaceOf,
} from './kit.ts';

const ADVERSARIES = ['exit-at-load', 'forged-report', 'edited-tests', 'patched-assert'];

/** Solutions that an honest programmer could hand in: what is visible stays green with them. */
const honest = (challenge: Challenge) =>
  challenge.solutions.filter((solution) => !ADVERSARIES.includes(solution.name));

const listed = ({ verifier }: Challenge) =>
  [...verifier.tests.map((one) => one.id), ...verifier.mustFail].sort();
const titles = (tap: string) =>
  [...tap.matchAll(/^(?:not )?ok \d+ - (.*)$/gm)].map((match) => match[1]).sort();

t.jobs = 2;
t.setTimeout(280_000);

for (const challenge of challenges()) {
  t.test(`${challenge.id}: every solution gets the verdict that is written down`, async (t) => {
    for (const { name, tree, expected, reward } of challenge.solutions) {
      const workspace = workspaceOf(challenge, tree);
      const { stdout, status } = await runVerifier(challenge, workspace);
      t.strictSame(grade(challenge, stdout), { byTag: expected, reward }, name);
      t.equal(status, 1, 'tests that must fail do');
      if (name === 'oracle')
        t.strictSame(titles(stdout), listed(challenge), 'nothing ran that is not listed');
      rmSync(workspace, { recursive: true });
    }
  });

  t.test(`${challenge.id}: visible tests tell no honest solution from another`, async (t) => {
    for (const { name, tree } of honest(challenge)) {
      const workspace = workspaceOf(challenge, tree);
      t.equal((await runVisible(workspace)).status, 0, name);
      rmSync(workspace, { recursive: true });
    }
  });

  t.test(
    `${challenge.id}: the matrix has an oracle, nothing, and adversaries that earn nothing`,
    async (t) => {
      const reward = new Map(challenge.solutions.map((solution) => [solution.name, solution.reward]));
      t.equal(reward.get('oracle'), 1);
      for (const name of ['nothing', ...ADVERSARIES]) t.equal(reward.get(name), 0, name);
      t.equal([...reward.values()].filter((one) => one === 1).length, 1);
      t.ok(challenge.verifier.mustFail.length >= 1);
      if (challenge.taskFamily === 'memory-only')
        for (const name of ['visible-only', 'stale']) t.equal(reward.get(name), 0);
    },
  );

  t.test(`${challenge.id}: a report forged into the runner's own stream earns nothing`, async (t) => {
    const workspace = workspaceOf(challenge, 'solutions/forged-report');
    const forger = join(workspace, 'src/main.mjs');
    writeFileSync(forger, throughTheRunner(readFileSync(forger, 'utf8')));
    const quoted = verifierArgv(challenge).map((word) => `'${word}'`);
    const { stdout } = await run(['sh', '-c', `${quoted.join(' ')} | cat`], workspace, {
      ASHLAR_WORKSPACE: workspace,
    });
    t.equal(grade(challenge, stdout).reward, 0);
    if (process.platform === 'linux')
      t.ok(stdout.split('TAP version 13').length > 2, 'the forgery was written');
    rmSync(workspace, { recursive: true });
  });

  t.test(
    `${challenge.id}: the scripted behaviour writes what it says, inside the allowed folders`,
    async (t) => {
      checkBehaviour(t, challenge);
    },
  );
}

/** The forger, one process further up: where that one's stdout is a pipe, the forged lines do land in the report. */
function throughTheRunner(source: string): string {
  const parent = 'process.ppid';
  const status = `readFileSync(\`/proc/\${${parent}}/status\`, 'utf8')`;
  return source
    .replace('import { appendFileSync }', 'import { appendFileSync, readFileSync }')
    .replace(`/proc/\${${parent}}/fd/1`, `/proc/\${/^PPid:\\s+(\\d+)$/m.exec(${status})[1]}/fd/1`);
}

function checkBehaviour(t: Test, challenge: Challenge) {
  const folder = join(CATALOGUE, 'challenges', challenge.id);
  const { match, turns } = json<Behaviour>('challenges', challenge.id, 'behaviour.json');
  const holding = challenges().filter((other) =>
    readFileSync(join(CATALOGUE, 'challenges', other.id, other.prompt), 'utf8').includes(match),
  );
  t.strictSame(
    holding.map((other) => other.id),
    [challenge.id],
    'the phrase stands in this prompt only',
  );
  t.equal(turns.length, 1 + challenge.followUps.length, 'one turn a prompt');
  for (const { variants } of turns) {
    t.strictSame(variants.at(-1)?.when, [], 'the last variant is taken when no other is');
    for (const { steps } of variants) {
      t.type(steps.at(-1)?.say, 'string', 'ends with words');
      for (const step of steps.filter((one) => one.tool === 'write')) {
        t.ok(existsSync(join(folder, step.contentFile ?? '')), `${step.contentFile}`);
        const path = step.input?.path ?? '';
        t.ok(
          challenge.allowedOutputPaths.some((allowed) => path.startsWith(`${allowed}/`)),
          path,
        );
      }
    }
  }
}
