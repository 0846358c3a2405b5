/** The built-in agent inside real sandboxes, its model behind the relay and the meter. */
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import type { AgentTurn, Place } from '../../../daemon/agents/adapter.ts';
import { builtin } from '../../../daemon/agents/builtin/adapter.ts';
import { packPrograms } from '../../../daemon/agents/programs.ts';
import type { Sandbox } from '../../../daemon/executors/executor.ts';
import { openBudget } from '../../../daemon/meter/budget.ts';
import { openMeter } from '../../../daemon/meter/meter.ts';
import { parseBehaviour } from '../../../daemon/model/behaviour.ts';
import { openModel, SCRIPTED_MODEL } from '../../../daemon/model/model.ts';
import type { Cid } from '../../../store/format/cid.ts';
import { parseSnapshot, walkTree } from '../../../store/format/tree.ts';
import type { Subject } from '../../suite/executor.ts';
import { memoryBlocks, putSnapshot } from '../../suite/memory.ts';
import { subject as bwrap } from '../executors/bwrap.ts';
import { subject as none } from '../executors/none.ts';

t.setTimeout(600_000);

const BEHAVIOUR = parseBehaviour({
  v: 1,
  match: 'count the berths',
  turns: [
    {
      variants: [
        {
          name: 'only',
          when: [],
          steps: [
            { tool: 'list', input: {} },
            { tool: 'read', input: { path: 'src/berths.txt' } },
            { tool: 'write', input: { path: 'out/count.txt', content: '12\n' } },
            { tool: 'run', input: { command: 'wc -l < src/berths.txt; (sleep 100 &) ; echo ok > out/ran' } },
            { say: 'Counted.' },
          ],
        },
      ],
    },
    {
      variants: [
        {
          name: 'again',
          when: [],
          steps: [
            { tool: 'edit', input: { path: 'out/count.txt', old: '12', new: '13' } },
            { say: 'Now 13.' },
          ],
        },
      ],
    },
  ],
});

const TURN: AgentTurn = {
  index: 1,
  prompt: 'Please count the berths.',
  injections: [],
  system: 'You work on the code in the current folder.',
  model: SCRIPTED_MODEL,
  parameters: {},
  tools: ['read', 'write', 'edit', 'list', 'run'],
  limits: { turns: 20, maxOutputTokens: 2000, totalTokens: 1_000_000, outputBytes: 4096 },
};

/** Both turns in one sandbox: what it sent, what it left. */
async function runIn(t: Test, { open }: Subject) {
  const folder = mkdtempSync(join(tmpdir(), 'agent-'));
  const blocks = memoryBlocks();
  const { executor } = await open(blocks);
  t.teardown(executor.close);
  const model = await openModel({ behaviours: [BEHAVIOUR], listen: { socket: join(folder, 'model') } });
  t.teardown(model.close);
  const requests: Cid[] = [];
  const meter = await openMeter({
    listen: { socket: join(folder, 'meter'), mode: 0o666 },
    upstream: { url: model.url, paths: ['/v1/messages'], timeoutSeconds: 60 },
    prices: { [SCRIPTED_MODEL]: { inputMicros: 0, outputMicros: 0 } },
    budget: openBudget({ caps: { stage: 0, total: 0 }, spent: { stage: 0, total: 0 } }).run(0),
    reserve: async ({ request }) => `r${requests.push(request)}`,
    book: async () => {},
    emit: blocks.emit,
  });
  t.teardown(meter.close);
  const sandbox = await executor.open({
    owner: 'owner',
    token: 'token',
    limits: { cpus: 1, memoryMb: 512, pids: 128 },
    workspace: await putSnapshot({ src: { dir: { 'berths.txt': { file: 'a\nb\n' } } } }, blocks.emit),
    readOnly: [{ name: 'agent', tree: await packPrograms(builtin, blocks.emit) }],
    reader: blocks.reader,
  });
  const relaySocket = join(folder, 'meter');
  const first = await turn(sandbox, TURN, relaySocket);
  const second = await turn(sandbox, { ...TURN, index: 2, prompt: 'And the new one?' }, relaySocket);
  const { snapshot } = await sandbox.snapshot(blocks.emit);
  const home: string[] = [];
  const homeTree = await sandbox.home(blocks.emit);
  for await (const { path } of walkTree(blocks.reader, homeTree)) home.push(path.join('/'));
  const workspace: Record<string, string> = {};
  const { tree } = parseSnapshot(await blocks.reader.get(snapshot));
  for await (const { path, entry } of walkTree(blocks.reader, tree['/'])) {
    if (entry.type !== 'file') continue;
    workspace[path.join('/')] = Buffer.from(await blocks.reader.get(entry.cid['/'])).toString();
  }
  await sandbox.close();
  const bodies = await Promise.all(requests.map((cid) => blocks.reader.get(cid)));
  return { first, second, requests, bodies, snapshot, workspace, home };
}

async function turn(sandbox: Sandbox, asked: AgentTurn, relaySocket: string) {
  const { paths, environment, relayUrl } = sandbox;
  const place: Place = {
    workspace: paths.workspace,
    home: paths.home,
    programs: paths.readOnly.agent ?? '',
    node: 'node',
    path: environment.PATH ?? '',
    modelUrl: relayUrl,
  };
  const { argv, env, files } = builtin.launch(asked, place);
  await sandbox.writeHome(files);
  const { exit, stdout, stderr } = await sandbox.run({
    argv,
    env,
    timeoutSeconds: 120,
    maxOutputBytes: 1 << 16,
    relaySocket,
  });
  return { exit, stdout: Buffer.from(stdout).toString(), stderr: Buffer.from(stderr).toString() };
}

t.test('the same agent run ends the same, request by request, whatever holds it', async (t) => {
  const [one, two] = [await runIn(t, none), await runIn(t, bwrap)];
  const done = { exit: 0, stdout: '{"end":"completed"}\n', stderr: '' };
  for (const world of [one, two]) {
    t.same([world.first, world.second], [done, done]);
    t.same(world.workspace, { 'out/count.txt': '13\n', 'out/ran': 'ok\n', 'src/berths.txt': 'a\nb\n' });
    t.same(
      world.home.filter((path) => path.includes('.json')),
      ['.agent/session.jsonl', '.agent/turn.json'],
    );
    t.equal(world.requests.length, 7);
  }
  t.same(one.requests, two.requests, 'the same bytes, so no path or name of either sandbox is in them');
  t.equal(one.snapshot, two.snapshot);
});
