/** An authored challenge folder -> one `challenge` record. The prompt, hidden tests and solutions become blocks. */
import { join } from 'node:path';
import { z } from 'zod';
import { environment, verdictByTag, verifier } from '../../rules/contracts/challenge.ts';
import { id, portablePath } from '../../rules/contracts/kit.ts';
import { folderToTree } from '../../store/folder.ts';
import { type Cid, link } from '../../store/format/cid.ts';
import type { Value } from '../../store/format/codec.ts';
import { treeBlock } from '../../store/format/tree.ts';
import type { Store } from '../../store/store.ts';
import { below, readAuthored, readBytes } from './authored.ts';

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

/** Freezes `<folder>/challenge.json`. Idempotent. Throws E_CONTRACT, E_NOT_FOUND, E_PATH. */
export async function freezeChallenge(store: Store, folder: string): Promise<Cid> {
  const { repository: _, ...read } = await readAuthored(join(folder, 'challenge.json'), authored);
  const text = async (path: string) => link(await store.put(await readBytes(below(folder, path))));
  const tree = async (path: string) => link((await folderToTree(below(folder, path), store.put)).tree);
  const solutions = [];
  for (const solution of read.solutions) {
    const passes = [solution.expected.func, solution.expected.lesson].every((each) => each !== 'fail');
    const laid = solution.tree === null ? link(await emptyTree(store)) : await tree(solution.tree);
    solutions.push({ ...solution, tree: laid, reward: solution.reward ?? (passes ? 1 : 0) });
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

async function emptyTree(store: Store): Promise<Cid> {
  return store.put(treeBlock([]).bytes, 'dag-json');
}
