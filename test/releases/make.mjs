/**
 * Makes the golden release again: `node test/releases/make.mjs` after `npm run build`. One challenge of the catalogue,
 * the arms none and memory, one epoch, a scripted model, no isolation, one claim on one page. The key is made for it and thrown away: nobody
 * can sign a second release with it. Start tokens, times and signatures differ from one making to the next.
 */
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { execPath, stdout } from 'node:process';
import { fileURLToPath } from 'node:url';
import { runDemo } from '../../dist/cli/demo/run.js';
import { parseHost } from '../../dist/daemon/host.js';
import { KIND_TABLE } from '../../dist/rules/contracts/table.js';
import { initStore, openStore } from '../../dist/store/open.js';

const here = dirname(fileURLToPath(import.meta.url));
const root = dirname(dirname(here));
const CHALLENGE = 'late-departure-memory-only';
const ARMS = ['none', 'memory'];
const PAGE = `# Results

Planned were <!-- claim: summary /counts/planned --><!-- /claim --> runs.
`;

/** The demo's study, cut down to one challenge, two arms and one epoch. */
function smallStudy(study) {
  const [pair] = study.pairs.filter(({ challenge }) => challenge === CHALLENGE);
  const of = (arms) => Object.fromEntries(Object.entries(arms).filter(([name]) => ARMS.includes(name)));
  return {
    ...study,
    id: 'golden',
    hypotheses: study.hypotheses.slice(0, 1),
    conditions: study.conditions.filter(({ name }) => ARMS.includes(name)),
    pairs: [{ ...pair, arms: of(pair.arms), expected: of(pair.expected) }],
    epochs: 1,
    tests: study.tests.filter(({ id }) => id === 'memory-against-none'),
    holmSize: 1,
  };
}

async function make(work, target) {
  const catalogue = join(work, 'challenges');
  cpSync(join(root, 'challenges'), catalogue, { recursive: true });
  const file = join(catalogue, 'studies', 'demo.json');
  writeFileSync(file, JSON.stringify(smallStudy(JSON.parse(readFileSync(file, 'utf8')))));
  writeFileSync(join(catalogue, 'studies', 'results.md'), PAGE);
  const host = parseHost(
    Buffer.from(
      JSON.stringify({
        v: 1,
        executor: 'none',
        provisioners: {
          reference: { argv: [execPath, join(catalogue, 'provisioner', 'reference.mjs')], recall: true },
        },
        model: { kind: 'scripted', behaviours: [join(catalogue, 'challenges')] },
      }),
    ),
    work,
  );
  const path = join(work, 'store');
  const logKey = join(work, 'key', 'log.key');
  await initStore(path, { logKey });
  const store = await openStore(path, { kinds: KIND_TABLE, clock: () => new Date(), logKey });
  try {
    return await runDemo({ store, catalogue, target, host, say: (...words) => stdout.write(`${words.join(' ')}\n`) });
  } finally {
    await store.close();
  }
}

const target = join(here, 'v1');
const work = mkdtempSync(join(tmpdir(), 'golden-'));
try {
  rmSync(target, { recursive: true, force: true });
  mkdirSync(here, { recursive: true });
  const { release } = await make(work, target);
  stdout.write(`${release}\n${readFileSync(join(target, 'log', 'vkey'), 'utf8')}`);
} finally {
  rmSync(work, { recursive: true, force: true });
}
