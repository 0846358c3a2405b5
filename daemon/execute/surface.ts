/**
 * The run-time surface: everything around the prompt that an agent could see, taken just before it starts.
 * Promises: one canonical JSON document, evidence of the receipt; `certify-run` reads its scrubbed form.
 */
import { digestOf, type Evidence, evidence } from '../../store/format/cid.ts';
import { canonicalJson, type Json } from '../../store/format/json.ts';
import { printPath, walkTree } from '../../store/format/tree.ts';
import type { Launch } from '../agents/adapter.ts';
import { sandboxOf } from './sandbox.ts';
import type { State, Task } from './task.ts';

/** Longest home file whose text stands in the surface, in bytes. */
const TEXT_LIMIT = 1 << 20;

/** Stores the surface of this launch. */
export async function surfaceOf(
  task: Task,
  state: State,
  launch: Launch,
  memoryIds: readonly string[],
): Promise<Evidence> {
  const sandbox = sandboxOf(state);
  const { hostname, mounts } = await sandbox.surface();
  const document: Json = {
    home: await homeFiles(task, state),
    workspacePath: sandbox.paths.workspace,
    parents: parentsOf(sandbox.paths.workspace),
    env: { ...launch.env },
    hostname,
    mounts: [...mounts],
    argv: [[...launch.argv]],
    tools: toolsOf(task),
    project: state.project ?? null,
    memoryIds: [...memoryIds],
  };
  const cid = await task.store.put(Buffer.from(canonicalJson(document), 'utf8'));
  return evidence(digestOf(cid));
}

/** The tools with the words that the model is told about them. */
function toolsOf({ adapter, agent, condition }: Task): Json[] {
  const names = [...agent.value.tools, ...condition.value.tools];
  return names.map((name) => ({ name, description: adapter.toolDescription(name) }));
}

async function homeFiles(task: Task, state: State): Promise<Json[]> {
  const root = await sandboxOf(state).home((bytes, codec) => task.store.put(bytes, codec));
  const files: Json[] = [];
  for await (const { path, entry } of walkTree(task.store, root)) {
    if (entry.type !== 'file' || entry.size > TEXT_LIMIT) continue;
    const text = Buffer.from(await task.store.get(entry.cid['/'])).toString('utf8');
    files.push({ path: printPath(path), text });
  }
  return files;
}

function parentsOf(path: string): string[] {
  const segments = path.split('/').filter((segment) => segment !== '');
  return segments.map((_, i) => `/${segments.slice(0, i).join('/')}`);
}
