/**
 * What a publication may leave out: the kinds that its study registered, and what hygiene finds. Each honest one is
 * `ok except withheld` with its count; each one that leaves out more, or less, is a fault.
 */
import t from 'tap';
import { verifiedText } from '../../cli/verbs/verify.ts';
import { auditV1 } from '../../rules/audit/v1.ts';
import type { Full } from '../../rules/contracts/kit.ts';
import type { RecordOf } from '../../rules/contracts/table.ts';
import { MANIFEST } from '../../rules/release/files.ts';
import { applyRule, type Rule } from '../../rules/rule.ts';
import { blockOf } from '../../rules/scrub/published.ts';
import { verify } from '../../rules/verify/verify.ts';
import { type Cid, digestOf, evidence, link } from '../../store/format/cid.ts';
import { decode } from '../../store/format/codec.ts';
import {
  type Entry,
  fileEntry,
  parseSnapshot,
  parseTree,
  snapshotBlock,
  treeBlock,
} from '../../store/format/tree.ts';
import { type Forge, forge, type Publishing } from './forge.ts';
import { type Files, GOLDEN, inMemory, readFiles } from './publication.ts';

t.setTimeout(600_000);
const golden = readFiles(GOLDEN);

type ScrubFile = Full<RecordOf<'scrub'>>['files'][number];

/** By position in a receipt, as the rule has it. */
const kindOf = ({ name }: ScrubFile): string | undefined => {
  if (name === 'surface') return undefined;
  if (name === 'report') return 'reports';
  if (name === 'host-facts') return 'host-facts';
  if (/^reply-/.test(name)) return 'replies';
  return /^exchange-\d+-re/.test(name) ? 'exchanges' : 'natives';
};

const hold = (file: ScrubFile, held: string): ScrubFile =>
  ({ ...file, scrubbed: evidence(digestOf(blockOf(file.scrubbed))), held }) as ScrubFile;

/** Holds back the files that `which` gives a reason for. */
function holdBack(at: Forge, which: (file: ScrubFile) => string | undefined): void {
  for (const cid of at.all('scrub')) {
    at.edit(cid, (value) => ({
      ...value,
      files: (value.files as ScrubFile[]).map((file) => {
        const held = which(file);
        return held === undefined ? file : hold(file, held);
      }),
    }));
  }
}

/** The study's reason says which try it is: its digest decides in which order the arms had to begin. */
async function forged(edit: (at: Forge) => void | Promise<void>, options: Publishing = {}): Promise<Files> {
  for (let attempt = 1; ; attempt++) {
    const files = await forge(
      golden,
      async (at) => {
        await edit(at);
        at.edit(at.all('study')[0] as Cid, (value) => ({ ...value, why: `try ${attempt}` }));
      },
      options,
    );
    const { faults } = await verify(inMemory(files));
    const swapped = faults.some(({ detail }) => detail.includes('begins after its turn'));
    if (!swapped || attempt === 20) return files;
  }
}

const register = (at: Forge, withheld: readonly string[]): void =>
  void at.edit(at.all('study')[0] as Cid, (value) => ({ ...value, withheld }));

const withholding =
  (kinds: readonly string[]) =>
  (at: Forge): void => {
    register(at, kinds);
    holdBack(at, (file) => (kinds.includes(kindOf(file) ?? '') ? kindOf(file) : undefined));
  };

const HONEST: Record<string, { readonly kinds: readonly string[]; readonly rest: readonly string[] }> = {
  'native files': { kinds: ['natives'], rest: ['scrub', 'trajectory'] },
  trajectories: { kinds: ['trajectories'], rest: [] },
  'natives and what is derived from them': {
    kinds: ['natives', 'trajectories'],
    rest: ['deliver', 'scrub', 'trajectory', 'use'],
  },
  'requests and responses': { kinds: ['exchanges'], rest: ['certify-run', 'deliver', 'parity', 'scrub'] },
  'the verifier’s reports': { kinds: ['reports'], rest: ['outcome', 'scrub'] },
  'provisioner replies and host facts': { kinds: ['replies', 'host-facts'], rest: ['scrub'] },
  everything: {
    kinds: [
      ...['source-tree', 'removed', 'natives', 'trajectories', 'exchanges', 'replies', 'reports'],
      'host-facts',
    ],
    rest: ['certify-run', 'deliver', 'outcome', 'parity', 'scrub', 'trajectory', 'use'],
  },
};

for (const [what, { kinds, rest }] of Object.entries(HONEST)) {
  t.test(`withheld: ${what}`, async (t) => {
    const files = await forged(withholding(kinds));
    const verified = await verify(inMemory(files));
    t.same(verified.faults, []);
    t.equal(verified.result, 'ok except withheld');
    const named = Object.keys(verified.withheld.records).sort();
    // A trajectory alone can be made again from the natives: nobody takes it from the record.
    t.same(named, rest.length === 0 ? ['deliver', 'use'] : rest, 'what rests on them is counted by name');
    t.ok(verified.withheld.files > 0);
    const [first = ''] = verifiedText(verified).split('\n');
    t.match(
      first,
      new RegExp(`^ok except withheld: ${verified.withheld.files}; self-attested; as recorded: 4; `),
    );
    for (const kind of Object.keys(verified.withheld.byReason)) t.ok(kinds.includes(kind), kind);
    t.ok(files.size < golden.size, 'the bytes are not there');
  });
}

t.test('an ordinary release withholds nothing, and its first line says what is as recorded', async (t) => {
  const verified = await verify(inMemory(golden));
  t.match(verified, { result: 'ok', withheld: { files: 0, byReason: {}, records: {} } });
  t.match(
    verifiedText(verified).split('\n')[0],
    /^ok; self-attested; as recorded: 4; scrubbed: \d+ of \d+; /,
  );
});

/** The after-snapshot of the first receipt with one more file in it, and the audit that finds it. */
async function leave(at: Forge, name: string, text: string): Promise<Cid> {
  const receipt = at.all('receipt')[0] as Cid;
  const { before, after, start: of } = at.record('receipt', receipt);
  const start = of['/'];
  const { mode, tree } = parseSnapshot(await at.reader.get(after?.['/'] as Cid));
  const file = at.raw(text);
  const { entries } = parseTree(await at.reader.get(tree['/']));
  const more = [...entries, fileEntry(name, file, Buffer.byteLength(text))] as Entry[];
  const node = await at.emit(treeBlock(more).bytes, 'dag-json');
  const snapshot = await at.emit(snapshotBlock({ mode, tree: link(node) }).bytes, 'dag-json');
  const plan = at.record('plan', at.record('start', start).plan['/']) as Full<RecordOf<'plan'>>;
  const { challenge } = plan.shared;
  const inputs = { before: before?.['/'] as Cid, after: snapshot, challenge: challenge['/'] };
  const audit = at.add((await applyRule(auditV1 as unknown as Rule, { inputs }, at)) as never);
  const verdict = { ...at.record('receipt', receipt).verdict, reward: 0, reason: 'mutation-outside' };
  at.edit(receipt, (value) => ({ ...value, after: link(snapshot), audit: link(audit), verdict }));
  return file;
}

const secret = `token ${['gh', 'p_', 'a1B2'.repeat(9)].join('')}\n`;
const manifestOf = (files: Files) =>
  decode(files.get(MANIFEST) as Uint8Array) as unknown as Full<RecordOf<'release'>>;

t.test('a secret that an agent left in its workspace stays home; its tree node does not', async (t) => {
  let left: Cid | undefined;
  const files = await forged(async (at) => {
    left = await leave(at, 'zz-notes.txt', secret);
  });
  const verified = await verify(inMemory(files));
  t.same(verified.faults, []);
  t.equal(verified.result, 'ok except withheld');
  t.match(verified.withheld, { files: 1, byReason: { hygiene: 1 }, records: { release: 1 } });
  const { withheld } = manifestOf(files);
  t.match(withheld, [{ path: ['zz-notes.txt'], bytes: evidence(digestOf(left as Cid)) }]);
  t.notOk(
    [...files.values()].some((bytes) => Buffer.from(bytes).includes(secret.trim())),
    'nowhere in it',
  );
});

/** What is left out, or kept, against the study: each is named. */
const FALSE: Record<string, { edit: (at: Forge) => void | Promise<void>; named: RegExp }> = {
  'files of a kind that the study did not register': {
    edit: (at) => holdBack(at, (file) => (kindOf(file) === 'natives' ? 'natives' : undefined)),
    named: /derivation scrub .* files is/,
  },
  'files under a reason that is not their kind': {
    edit: (at) => {
      register(at, ['natives']);
      holdBack(at, (file) => (['natives', 'reports'].includes(kindOf(file) ?? '') ? 'natives' : undefined));
    },
    named: /derivation scrub .* files is/,
  },
  'files of a registered kind that are published all the same': {
    edit: (at) => register(at, ['natives']),
    named: /derivation scrub .* files is/,
  },
  'a report held back, and its outcome says more than its tests': {
    edit: (at) => {
      withholding(['reports'])(at);
      at.edit(at.all('outcome')[0] as Cid, (value) => ({ ...value, agrees: !value.agrees }));
    },
    named: /derivation outcome .* agrees is/,
  },
  'a use of a memory that nobody injected, behind withheld trajectories': {
    edit: (at) => {
      withholding(['natives', 'trajectories'])(at);
      const signs = [{ id: `mem_${'0'.repeat(12)}`, sign: 'citation', step: 3 }];
      at.edit(at.all('use')[0] as Cid, (value) => ({ ...value, signs, used: true }));
    },
    named: /derivation use .* signs is/,
  },
};

for (const [what, { edit, named }] of Object.entries(FALSE)) {
  t.test(`a fault: ${what}`, async (t) => {
    const stale = ['outcome', 'use', 'grade', 'summary', 'report'];
    const verified = await verify(inMemory(await forged(edit, { stale })));
    t.equal(verified.result, 'faults');
    const lines = verified.faults.map((fault) => `${fault.kind} ${fault.at} ${fault.detail}`);
    t.ok(
      lines.some((line) => named.test(line)),
      String(named),
      { lines },
    );
    t.match(verifiedText(verified).split('\n')[0], /^\d+ faults; /);
  });
}

t.test('a file taken out of a release, from the manifest too, is not withheld', async (t) => {
  const verified = await verify(inMemory(golden));
  t.equal(verified.result, 'ok');
  for (const wanted of ['report', 'stdout-1', 'exchange-1-request']) {
    const scrubs = [...golden.values()].map((bytes) => Buffer.from(bytes).toString());
    const scrub = scrubs.find((text) => text.includes('"kind":"scrub"')) as string;
    const { files } = JSON.parse(scrub) as { files: ScrubFile[] };
    const cid = blockOf(files.find(({ name }) => name === wanted)?.scrubbed as ScrubFile['scrubbed']);
    const without = new Map([...golden].filter(([path]) => !path.includes(cid)));
    const faults = (await verify(inMemory(without))).faults;
    t.ok(
      faults.some(({ kind, at }) => kind === 'file-missing' && at.includes(cid)),
      wanted,
    );
    t.ok(
      faults.some(({ kind, detail }) => kind === 'record' && detail.includes(cid)),
      `${wanted}, by its link`,
    );
  }
});
