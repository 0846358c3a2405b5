/**
 * Runs test files, each by itself in a Node of its own, and counts what they asserted.
 * Promises: a file that crashes, hangs, asserts nothing, skips or has work to do counts as failed, whatever it printed.
 * Does not promise: an order; two files run at a time.
 */
import { spawn } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { env, execPath, kill, stdout } from 'node:process';
import { root } from '../../cli/bootstrap.mjs';

const FILE_SECONDS = 900;
const JOBS = 2;
const running = new Set();

/** Source paths of the test files, `test/…`, in name order: compiled leftovers of deleted sources are not run. */
export function testFiles() {
  const names = readdirSync(join(root, 'test'), { recursive: true, encoding: 'utf8' });
  return names
    .filter((name) => name.endsWith('.test.ts'))
    .map((name) => `test/${name}`)
    .sort();
}

/** Runs them; resolves to `{passed, failed}` assertions, where a file that failed otherwise counts as one more. */
export async function runFiles(files) {
  const waiting = [...files];
  const total = { passed: 0, failed: 0 };
  const worker = async () => {
    for (let file = waiting.shift(); file !== undefined; file = waiting.shift()) {
      const { passed, failed, report } = await runFile(file);
      total.passed += passed;
      total.failed += failed;
      stdout.write(report);
    }
  };
  await Promise.all(Array.from({ length: JOBS }, worker));
  return total;
}

/** Ends what is running now: for a signal. */
export function stopFiles() {
  for (const pid of running) endGroup(pid);
}

async function runFile(file) {
  const began = Date.now();
  const { counts, problems, output } = await runCompiled(join(root, 'dist', file.replace(/\.ts$/, '.js')));
  const seconds = ((Date.now() - began) / 1000).toFixed(1);
  const good = problems.length === 0;
  const report = `${good ? 'ok' : 'not ok'} ${file} (${counts.pass} assertions, ${seconds} s)\n`;
  if (good) return { passed: counts.pass, failed: 0, report };
  const text = output.split('\n').filter((line) => !/^\s*ok \d+/.test(line));
  const failed = Math.max(counts.fail, 1);
  return { passed: counts.pass, failed, report: `${text.join('\n')}\n${report}  ${problems.join('; ')}\n` };
}

/** Runs one compiled test file: what it counted, and why it did not pass. */
export async function runCompiled(path) {
  const { output, status } = await outputOf(path);
  const counts = read(output);
  return { counts, problems: problemsOf(counts, status), output };
}

/** The runner's own summary, `# { total: 3, pass: 2, fail: 1 }`; nothing counts when it is absent. */
function read(output) {
  const [, summary = ''] = /^# \{ (.*) \}$/m.exec(output) ?? [];
  const count = (name) => Number(new RegExp(`\\b${name}: (\\d+)`).exec(summary)?.[1] ?? 0);
  return {
    total: count('total'),
    pass: count('pass'),
    fail: count('fail'),
    skip: count('skip'),
    todo: count('todo'),
    // A test that planned nothing is passed by the runner, and proves nothing.
    empty: (output.match(/^\s*1\.\.0\b/gm) ?? []).length,
  };
}

/** Why a file did not pass, in words; empty when it did. */
function problemsOf({ total, pass, fail, skip, todo, empty }, status) {
  const problems = [];
  if (fail > 0) problems.push(`${fail} failed`);
  if (skip > 0) problems.push(`${skip} skipped`);
  if (todo > 0) problems.push(`${todo} still to do`);
  if (empty > 0) problems.push(`${empty} without an assertion`);
  if (total === 0) problems.push('no assertion was counted');
  else if (pass !== total && problems.length === 0) problems.push(`${total - pass} did not pass`);
  if (status !== 0) problems.push(`ended with ${status}`);
  return problems;
}

function outputOf(path) {
  const options = { cwd: root, detached: true, env: { ...env, TAP_TIMEOUT: String(FILE_SECONDS - 30) } };
  const child = spawn(execPath, [path], { ...options, stdio: ['ignore', 'pipe', 'pipe'] });
  running.add(child.pid);
  const chunks = [];
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => chunks.push(chunk));
  const late = setTimeout(() => endGroup(child.pid), FILE_SECONDS * 1000);
  return new Promise((resolve) => {
    child.once('error', (error) => chunks.push(Buffer.from(String(error))));
    child.once('close', (code, signal) => {
      clearTimeout(late);
      running.delete(child.pid);
      resolve({ output: Buffer.concat(chunks).toString(), status: signal ?? code });
    });
  });
}

// The whole group: what a test started must not outlive it.
function endGroup(pid) {
  try {
    kill(-pid, 'SIGKILL');
  } catch {
    // It has ended by itself.
  }
}
