// The test command's driver: installs, lints, type-checks, builds, runs everything, prints `N passed, N failed` last.
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';

const sh = (cmd, args, options = {}) => spawnSync(cmd, args, { stdio: 'inherit', ...options }).status ?? 1;
const must = (cmd, args) => {
  const status = sh(cmd, args);
  if (status !== 0) {
    console.log(`\n${cmd} ${args.join(' ')}: exit ${status}\n0 passed, 1 failed`);
    process.exit(1);
  }
};
if (!existsSync('node_modules/typescript')) must('npm', ['ci', '--no-audit', '--no-fund']);
must('npm', ['run', '--silent', 'lint']);
must('npm', ['run', '--silent', 'build']);
const run = spawnSync('npx', ['tap', '--reporter=tap'], {
  encoding: 'utf8',
  maxBuffer: 1 << 28,
  stdio: ['ignore', 'pipe', 'inherit'],
});
process.stdout.write(run.stdout);
const passed = (run.stdout.match(/^\s+ok \d+/gm) ?? []).length;
const failed = (run.stdout.match(/^\s+not ok \d+/gm) ?? []).length;
const skipped = (run.stdout.match(/# SKIP/g) ?? []).length;
const bad = run.status !== 0 || skipped > 0 || passed === 0;
console.log(`${passed} passed, ${bad ? Math.max(failed + skipped, 1) : 0} failed`);
process.exit(bad ? 1 : 0);
