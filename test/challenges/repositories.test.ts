import { rmSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { CATALOGUE, folders, repository, runVisible, textsBelow, workspaceAt } from './kit.ts';

t.setTimeout(280_000);

const lines = (text: string) => text.split('\n').length - 1;

for (const name of folders('repositories')) {
  t.test(`${name}: a base and at least six dated steps, each with green tests`, async (t) => {
    const { steps } = repository(name);
    t.ok(steps.length >= 7);
    const dates = steps.map((step) => step.date);
    t.strictSame(dates, [...dates].sort());
    t.strictSame(
      steps.map((step) => step.id),
      steps.map((_, index) => `s${index}`),
    );
    for (const step of steps) {
      const workspace = workspaceAt(name, step.id);
      const { status, stdout } = await runVisible(workspace);
      t.equal(
        status,
        0,
        `${step.id}: ${stdout.split('\n').find((line) => line.startsWith('not ok')) ?? 'green'}`,
      );
      t.match(stdout, /^# fail 0$/m);
      rmSync(workspace, { recursive: true });
    }
  });

  t.test(`${name}: a small real service without dependencies`, async (t) => {
    const workspace = workspaceAt(name, repository(name).steps.at(-1)?.id ?? '');
    const texts = [...textsBelow(workspace)];
    const program = texts.filter(([path]) => /^(?:src|bin)\//.test(path));
    const size = program.reduce((sum, [, text]) => sum + lines(text), 0);
    t.ok(size >= 300 && size <= 600, `${size} lines`);
    const foreign = program.flatMap(([, text]) =>
      [...text.matchAll(/from '([^']+)'/g)].map((match) => match[1] ?? ''),
    );
    t.strictSame(
      foreign.filter((from) => !/^(?:node:|\.)/.test(from)),
      [],
    );
    rmSync(workspace, { recursive: true });
  });

  t.test(`${name}: what tools load by themselves is here under other names`, async (t) => {
    const { stored } = repository(name);
    t.strictSame(Object.values(stored).sort(), ['.cursor/rules/events.mdc', 'CLAUDE.md', 'src/AGENTS.md']);
    const paths = [...textsBelow(join(CATALOGUE, 'repositories', name)).keys()];
    for (const path of Object.keys(stored)) t.ok(paths.includes(join('base', path)), path);
    const loaded = /(?:^|\/)(?:AGENTS|CLAUDE|GEMINI)\.md$|(?:^|\/)\.(?:cursor|claude|git)(?:\/|$)/i;
    t.strictSame(
      paths.filter((path) => loaded.test(path)),
      [],
    );
  });
}
