/**
 * The test command: installs, lints, type-checks and builds, gets what the tests need, runs them all, stops what it
 * started, and prints `N passed, N failed` last.
 *   node test/run.mjs [part of a path ...]   the tests, or those whose path holds one of the parts
 *   node test/run.mjs vectors                rewrites test/vectors from the code
 *   node test/run.mjs bench [part ...]       runs test/bench, or those whose name holds one of the parts
 * ASHLAR_TEST_INSTALL_ENGINE=1 may install and start a container engine; ASHLAR_TEST_WITHOUT_DOCKER=1 and
 * ASHLAR_TEST_WITHOUT_BWRAP=1 leave out `*.docker.test.ts` and `*.bwrap.test.ts`, and the last line says so.
 */
import { spawnSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import process, { argv, env, execPath, exit, stderr, stdout } from 'node:process';
import { build, checkNode, install, must, root } from '../cli/bootstrap.mjs';
import { needBubblewrap, needEngine } from './tools/engine.mjs';
import { runFiles, stopFiles, testFiles } from './tools/files.mjs';

const NEEDS = { docker: 'ASHLAR_TEST_WITHOUT_DOCKER', bwrap: 'ASHLAR_TEST_WITHOUT_BWRAP' };
const needing = (need) => (file) => file.endsWith(`.${need}.test.ts`) || file.endsWith(`.${need}.ts`);

async function test(parts) {
  const left = Object.keys(NEEDS).filter((need) => env[NEEDS[need]] === '1');
  const chosen = testFiles().filter(
    (file) => parts.length === 0 || parts.some((part) => file.includes(part)),
  );
  const files = chosen.filter((file) => !left.some((need) => needing(need)(file)));
  if (files.some(needing('bwrap'))) needBubblewrap();
  const engine = files.some(needing('docker')) ? await needEngine() : undefined;
  const stop = async () => engine?.stop();
  const interrupted = async () => {
    stopFiles();
    await stop();
    exit(1);
  };
  process.once('SIGINT', interrupted).once('SIGTERM', interrupted);
  if (engine) env.DOCKER_HOST = engine.host;
  try {
    return { ...(await runFiles(files)), left };
  } finally {
    await stop();
  }
}

async function bench(parts) {
  const names = readdirSync(join(root, 'test/bench'))
    .filter(
      (name) => name.endsWith('.ts') && (parts.length === 0 || parts.some((part) => name.includes(part))),
    )
    .sort();
  const engine = names.some(needing('docker')) ? await needEngine() : undefined;
  if (engine) env.DOCKER_HOST = engine.host;
  try {
    for (const name of names) {
      const file = join(root, 'dist/test/bench', name.replace(/\.ts$/, '.js'));
      const { status } = spawnSync(execPath, [file], { cwd: root, stdio: 'inherit' });
      if (status !== 0) throw new Error(`test/bench/${name} ended with ${status}`);
    }
  } finally {
    await engine?.stop();
  }
}

async function main([mode, ...more]) {
  checkNode();
  install();
  if (mode === 'vectors' || mode === 'bench') {
    build();
    if (mode === 'bench') return bench(more);
    const { writeVectors } = await import(join(root, 'dist/test/tools/vectors.js'));
    return writeVectors();
  }
  must('npm', ['run', '--silent', 'lint'], 'the linter found faults');
  build();
  const { passed, failed, left } = await test(mode === undefined ? [] : [mode, ...more]);
  const bad = failed === 0 && passed === 0 ? 1 : failed;
  stdout.write(`${left.map((need) => `the ${need} tests were left out\n`).join('')}`);
  stdout.write(`${passed} passed, ${bad} failed${left.map((need) => `, without ${need}`).join('')}\n`);
  exit(bad === 0 ? 0 : 1);
}

main(argv.slice(2)).catch((error) => {
  stderr.write(`${error.message}\n`);
  stdout.write('0 passed, 1 failed\n');
  exit(1);
});
