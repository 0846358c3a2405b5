/**
 * Records what a Node's own test runner reports: `node test/tools/record-tap.mjs [NODE]`, once for each version that is
 * vouched for. Each suite of test/vectors/tap/suites runs as the verifier runs one; paths and durations, which differ from
 * run to run, are replaced. The texts are vectors of test/rules/outcome/tap.test.ts.
 */
import { spawnSync } from 'node:child_process';
import { copyFileSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { argv, execPath, stdout } from 'node:process';
import { fileURLToPath } from 'node:url';

const vectors = join(dirname(dirname(fileURLToPath(import.meta.url))), 'vectors', 'tap');
const node = argv[2] ?? execPath;
const version = spawnSync(node, ['--version'], { encoding: 'utf8' }).stdout.trim();
const target = join(vectors, `node-${version.slice(1).split('.')[0]}`);

const same = (text, folder) =>
  text
    .replaceAll(folder, '/suite')
    .replace(/duration_ms:? [0-9.]+/g, (found) => found.replace(/[0-9.]+$/, '0'))
    .replace(/^(?:.*)\(node:\d+\).*$/gm, '');

mkdirSync(target, { recursive: true });
for (const file of readdirSync(join(vectors, 'suites')).sort()) {
  const name = file.replace(/\.txt$/, '');
  const folder = mkdtempSync(join(tmpdir(), 'suite-'));
  try {
    const at = join(folder, `${name}.test.mjs`);
    copyFileSync(join(vectors, 'suites', file), at);
    const ran = spawnSync(node, ['--test', '--test-reporter=tap', at], {
      cwd: folder,
      encoding: 'utf8',
      env: {},
    });
    writeFileSync(join(target, `${name}.tap`), same(ran.stdout, folder));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
stdout.write(`${version}: ${target}\n`);
