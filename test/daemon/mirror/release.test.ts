/** A real study, run, closed and published; a second store pulls it and gives the same release, which verifies there. */
import { execFile } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import t from 'tap';
import { admitEligible } from '../../../daemon/decide/admit.ts';
import { closeFamily, publish } from '../../../daemon/decide/close.ts';
import { pullMirror } from '../../../daemon/mirror/pull.ts';
import { serveMirror } from '../../../daemon/mirror/serve.ts';
import { openSource } from '../../../daemon/mirror/source.ts';
import { openFolder } from '../../../daemon/release/folder.ts';
import { writeRelease } from '../../../daemon/release/write.ts';
import { runPending } from '../../../daemon/run.ts';
import { KIND_TABLE, parseRecord, referencesOf } from '../../../rules/contracts/table.ts';
import { cidOfPath } from '../../../rules/release/files.ts';
import { verify } from '../../../rules/verify/verify.ts';
import {
  cidFromDigest,
  codecOf,
  type Digest,
  digestOf,
  digestOfEvidence,
} from '../../../store/format/cid.ts';
import { sha256Hex } from '../../../store/format/crypto.ts';
import { initStore, openStore } from '../../../store/open.ts';
import { type Lab, labFolder, makeLab, removeLab, SOLVE, write } from '../kit.ts';

const run = promisify(execFile);

/** Relative path -> SHA-256. */
function digests(folder: string): Record<string, string> {
  const found: Record<string, string> = {};
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name);
    if (entry.isFile()) found[path.slice(folder.length + 1)] = sha256Hex(readFileSync(path));
  }
  return found;
}

async function published({ store, trigger, engine, study }: Lab, name: string) {
  const family = study(name);
  await runPending(store, engine, trigger, { family });
  await admitEligible(store, family, { who: 'a test', why: 'all ran', outcomesVisible: false });
  await trigger.settle();
  return publish(store, trigger, await closeFamily(store, family, { who: 'a test', why: 'done' }));
}

t.test('a pulled release is the same folder, verifies, and its blocks are what sha256sum says', async (t) => {
  const root = labFolder();
  t.teardown(() => removeLab(root));
  const lab = await makeLab(root, {
    cases: [{ name: 'mirrored', arms: ['none', 'memory'] }],
    validated: true,
  });
  t.teardown(lab.close);
  const release = await published(lab, 'mirrored');
  await writeRelease(lab.store, release, join(root, 'first'));
  const api = await serveMirror(lab.store, { port: 0 });
  const logKey = join(root, 'second.key');
  await initStore(join(root, 'second-store'), { logKey });
  const clock = () => new Date();
  const second = await openStore(join(root, 'second-store'), { kinds: KIND_TABLE, clock, logKey });
  const source = openSource(api.url);
  const pulled = await pullMirror(second, source, { mirror: 'lab', kinds: KIND_TABLE });
  t.same([pulled.families.map(({ family }) => family), pulled.skipped], [[lab.study('mirrored')], []]);

  await writeRelease(second, release, join(root, 'second'));
  const files = digests(join(root, 'second'));
  t.same(files, digests(join(root, 'first')), 'byte for byte');
  const verified = await verify(await openFolder(join(root, 'second')));
  t.same([verified.result, verified.faults], ['ok', []]);

  const paths = Object.keys(files).flatMap((path) => cidOfPath(path) ?? []);
  const raw = paths.find((cid) => codecOf(cid) === 'raw');
  t.ok(raw);
  if (raw === undefined) return;
  const url = `${api.url}/ipfs/${raw}?format=raw`;
  const { stdout } = await run('sh', ['-c', 'curl -sSf "$1" | sha256sum', 'sh', url]);
  t.equal(stdout.slice(0, 64), digestOf(raw));

  // What a receipt only names is not told, unless the release publishes it.
  const listed = new Set(Object.values(files));
  let kept = 0;
  for await (const cid of lab.store.byKind('receipt')) {
    for (const reference of referencesOf(parseRecord(await lab.store.value(cid))).evidence) {
      const digest = digestOfEvidence(reference);
      if (listed.has(digest)) continue;
      kept++;
      const block = cidFromDigest('raw', digest);
      t.equal(await lab.store.has(block), true);
      t.equal((await fetch(`${api.url}/ipfs/${block}?format=raw`)).status, 404, `${reference} stays home`);
      t.equal(await second.has(block), false);
    }
  }
  t.comment(`${kept} pieces of evidence were kept back`);
  source.close();
  await api.close();
  await second.close();
});

t.test(
  'what study and hygiene withhold is served by no mirror and verifies there as it does here',
  async (t) => {
    const root = labFolder();
    t.teardown(() => removeLab(root));
    // A secret that the model makes up, as a file: only its shape counts.
    const secret = ['gh', 'p_', 'a1B2'.repeat(9)].join('');
    const lab = await makeLab(root, {
      cases: [
        {
          name: 'withheld',
          arms: ['none', 'memory'],
          plain: [write(`token ${secret}\n`, 'notes.txt'), ...SOLVE],
          study: { withheld: ['natives', 'trajectories', 'exchanges', 'replies', 'reports', 'host-facts'] },
        },
      ],
      validated: true,
    });
    t.teardown(lab.close);
    const release = await published(lab, 'withheld');
    await writeRelease(lab.store, release, join(root, 'first'));
    const verified = await verify(await openFolder(join(root, 'first')));
    t.same(verified.faults, []);
    t.equal(verified.result, 'ok except withheld');
    t.match(verified.withheld.byReason, { hygiene: 1, reports: 2, trajectories: 2, exchanges: 10 });
    t.match(verified.withheld.records, {
      deliver: 2,
      outcome: 2,
      release: 1,
      scrub: 2,
      trajectory: 2,
      use: 2,
    });

    const held = new Set<string>();
    for (const kind of ['scrub', 'trajectory', 'release'])
      for await (const cid of lab.store.byKind(kind))
        for (const reference of referencesOf(parseRecord(await lab.store.value(cid))).evidence)
          held.add(digestOfEvidence(reference));
    const listed = new Set(Object.values(digests(join(root, 'first'))));
    const home = [...held].filter((digest) => !listed.has(digest));
    t.ok(home.length > 15, `${home.length} files stay home`);
    const api = await serveMirror(lab.store, { port: 0 });
    t.teardown(() => api.close());
    for (const digest of home) {
      const block = cidFromDigest('raw', digest as Digest);
      t.equal((await fetch(`${api.url}/ipfs/${block}?format=raw`)).status, 404, `${digest} is not served`);
    }
    const logKey = join(root, 'second.key');
    await initStore(join(root, 'second-store'), { logKey });
    const clock = () => new Date();
    const second = await openStore(join(root, 'second-store'), { kinds: KIND_TABLE, clock, logKey });
    t.teardown(() => second.close());
    const source = openSource(api.url);
    t.teardown(() => source.close());
    const pulled = await pullMirror(second, source, { mirror: 'lab', kinds: KIND_TABLE });
    t.same(pulled.skipped, []);
    for (const digest of home) t.equal(await second.has(cidFromDigest('raw', digest as Digest)), false);
    await writeRelease(second, release, join(root, 'second'));
    t.same(digests(join(root, 'second')), digests(join(root, 'first')), 'byte for byte');
  },
);
