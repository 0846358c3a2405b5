/**
 * Bring your own: README.md's commands, pasted one block after the other into a shell in an empty folder, make a study of
 * another repository with a challenge and a provisioner of its own, publish it, and verify it.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { lines, openDesk } from '../cli/kit.ts';
import { missingLines, runBlocks } from '../cli/readme.ts';

const desk = openDesk();
t.teardown(desk.clear);
t.setTimeout(1_200_000);
const at = (...names: string[]) => join(desk.folder, 'work', ...names);

t.test('every block of the README runs, and prints what stands below it', async (t) => {
  let blocks = 0;
  for await (const { block, ran } of runBlocks(desk, 'README.md')) {
    blocks += 1;
    t.equal(ran.code, 0, `README.md:${block.line}`, ran.code === 0 ? {} : { said: `${ran.out}${ran.err}` });
    t.same(missingLines(block, ran), [], `README.md:${block.line} prints what it says`);
  }
  t.ok(blocks >= 10, 'the walk-through is there');
});

t.test('the release that came of it verifies under the key and CID that were told', async (t) => {
  const release = readFileSync(at('release.cid'), 'utf8').trim();
  const asked = ['--policy', at('ann.key'), '--expect', release, '--json'];
  for (const folder of ['release', 'pulled']) {
    const { code, out, err } = await desk.ashlar(['verify', at(folder), ...asked], { cwd: '/' });
    t.equal(code, 0, err);
    t.match(lines(out)[0], { result: 'ok', trust: 'trusted', release, faults: [] });
  }
  const changed = await desk.ashlar(['verify', at('changed'), ...asked], { cwd: '/' });
  t.match(lines(changed.out)[0], { result: 'faults', faults: [{ at: 'report/report.txt' }] });
});

t.test('it is a study of its own: no file of the catalogue is in it, and the memory decides', async (t) => {
  const store = ['--store', at('.ashlar'), '--json'];
  const of = async (kind: string) =>
    Promise.all(
      lines<{ cid: string }>(await desk.ok('ls', kind, ...store)).map(
        async ({ cid }) =>
          lines<{ value: Record<string, unknown> }>(await desk.ok('show', cid, ...store))[0]?.value,
      ),
    );
  t.same(
    (await of('challenge')).map((value) => value?.id),
    ['child-fare'],
  );
  const grades = await of('grade');
  const rewards = (arm: string) => grades.filter((value) => value?.arm === arm).map((value) => value?.reward);
  t.same(
    [rewards('memory'), rewards('none')],
    [
      [1, 1],
      [0, 0],
    ],
  );
  const provisioner = readFileSync(at('provisioner.mjs'), 'utf8').trim().split('\n');
  t.ok(provisioner.length <= 30, `a provisioner of ${provisioner.length} lines`);
});
