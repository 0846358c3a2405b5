/** An authored challenge folder -> one `challenge` record. The prompt, hidden tests and solutions become blocks. */
import { isUtf8 } from 'node:buffer';
import { join } from 'node:path';
import { z } from 'zod';
import { environment, verdictByTag, verifier } from '../../rules/contracts/challenge.ts';
import { id, portablePath } from '../../rules/contracts/kit.ts';
import { folderToTree } from '../../store/folder.ts';
import { type Cid, link } from '../../store/format/cid.ts';
import type { Value } from '../../store/format/codec.ts';
import { fail } from '../../store/format/errors.ts';
import { printPath, treeBlock, walkTree } from '../../store/format/tree.ts';
import type { Store } from '../../store/store.ts';
import { below, placeBelow, readAuthored, readBelow } from './authored.ts';

const authored = z.strictObject({
  v: z.literal(1),
  id: id(),
  taskFamily: id(),
  /** Files of the folder. */
  prompt: portablePath(),
  followUps: z.array(portablePath()).default([]),
  allowedOutputPaths: z.array(portablePath()).min(1),
  agentTimeoutSeconds: z.int().min(1),
  environment,
  verifier: verifier.omit({ asset: true }).extend({ asset: portablePath() }),
  solutions: z.array(
    z.strictObject({
      name: id(),
      tree: z.union([portablePath(), z.null()]),
      deleted: z.array(portablePath()).default([]),
      expected: verdictByTag,
      /** Left out: 1 where every func and lesson test is expected to pass. */
      reward: z.union([z.literal(0), z.literal(1)]).optional(),
    }),
  ),
  answerPhrases: z.array(z.string().min(8)),
  lessons: z.array(id()),
  graders: z.array(z.enum(['audit', 'verifier'])).min(1),
  /** For the catalogue's own reader: where the workspace begins. The fixture says it for good. */
  repository: z.strictObject({ name: id(), step: id() }).optional(),
});
type Authored = z.infer<typeof authored>;

/** Freezes `<folder>/challenge.json`. Idempotent. Throws E_CONTRACT, E_NOT_FOUND, E_PATH, E_TREE. */
export async function freezeChallenge(store: Store, folder: string): Promise<Cid> {
  const { repository: _, ...read } = await readAuthored(join(folder, 'challenge.json'), authored);
  checkNames(read);
  const text = async (path: string) => link(await store.put(await readText(folder, path)));
  const tree = async (path: string) => link(await plainTree(store, await placeBelow(folder, path)));
  const solutions = [];
  for (const solution of read.solutions) {
    const laid = solution.tree === null ? link(await emptyTree(store)) : await tree(solution.tree);
    solutions.push({ ...solution, tree: laid, reward: rewardOf(solution) });
  }
  const record = {
    kind: 'challenge',
    ...read,
    prompt: await text(read.prompt),
    followUps: await Promise.all(read.followUps.map(text)),
    verifier: { ...read.verifier, asset: await tree(read.verifier.asset) },
    solutions,
  };
  return (await store.record(record as unknown as Value)).cid;
}

function rewardOf({ expected, reward }: Authored['solutions'][number]): 0 | 1 {
  const passes = [expected.func, expected.lesson].every((each) => each !== 'fail');
  return reward ?? (passes ? 1 : 0);
}

/** Each test and solution once; and one solution to reward and one not to, or the validation would cover nothing. */
function checkNames({ id, verifier, solutions }: Authored): void {
  const tests = [...verifier.tests.map((each) => each.id), ...verifier.mustFail];
  for (const [what, names] of [
    ['test', tests],
    ['solution', solutions.map(({ name }) => name)],
  ] as const) {
    const twice = names.find((name, i) => names.indexOf(name) !== i);
    if (twice !== undefined)
      fail('E_CONTRACT', { where: `challenge ${id}`, wanted: `each ${what} once`, found: `${twice} twice` });
  }
  const rewards = new Set(solutions.map(rewardOf));
  if (rewards.size < 2) {
    const wanted = 'a solution that is rewarded and one that is not';
    const found = solutions.map(({ name }) => name).join(', ') || 'no solution';
    fail('E_CONTRACT', { where: `challenge ${id} /solutions`, wanted, found });
  }
}

/** What the agent is told: text, and not nothing. */
async function readText(folder: string, path: string): Promise<Uint8Array> {
  const bytes = await readBelow(folder, path);
  const refuse = (found: string) =>
    fail('E_CONTRACT', { where: below(folder, path), wanted: 'text in UTF-8', found });
  if (!isUtf8(bytes)) refuse('other bytes');
  if (Buffer.from(bytes).toString('utf8').trim() === '') refuse('nothing');
  return bytes;
}

/** A folder of files, links and folders: anything else would be another thing wherever it is laid out. */
async function plainTree(store: Store, folder: string): Promise<Cid> {
  const { tree } = await folderToTree(folder, store.put);
  for await (const { path, entry } of walkTree(store, tree)) {
    if (['file', 'link', 'dir'].includes(entry.type)) continue;
    const where = join(folder, printPath(path));
    fail('E_TREE', { where, wanted: 'files, links and folders', found: `a ${entry.type}` });
  }
  return tree;
}

async function emptyTree(store: Store): Promise<Cid> {
  return store.put(treeBlock([]).bytes, 'dag-json');
}
