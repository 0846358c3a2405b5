import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

const program = fileURLToPath(new URL('../bin/quayside.mjs', import.meta.url));
const run = (args, input = '') => spawnSync(process.execPath, [program, ...args], { input, encoding: 'utf8' });

test('one command on the shell', () => {
  const { status, stdout } = run(['berths']);
  assert.equal(status, 0);
  assert.equal(JSON.parse(stdout).berths.length, 5);
  assert.equal(run(['book', 'boat=Alma']).status, 1);
});

test('a reply a line, also for nonsense', () => {
  const { stdout } = run([], '{"cmd":"berths"}\nnonsense\n{"cmd":"fly"}\n');
  const replies = stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  assert.deepEqual(
    replies.map((reply) => reply.ok),
    [true, false, false],
  );
});
