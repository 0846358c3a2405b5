/**
 * From a fresh clone to a running command: checks Node, installs and builds where needed, then runs the command line.
 * Promises: only the standard library is imported; nothing is written outside the ignored folders `node_modules` and
 * `dist`; an exit status other than 0 comes with a sentence.
 * Does not promise: to find a Node or an npm where there is none.
 */
import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { argv, execPath, exit, stderr, versions } from 'node:process';
import { fileURLToPath, pathToFileURL } from 'node:url';

export const root = fileURLToPath(new URL('..', import.meta.url));
const SOURCES = ['store', 'rules', 'daemon', 'cli', 'test'];
const STAMP = join(root, 'dist/.built');

/** Runs a command in the checkout with output on stderr; throws a sentence when it fails. */
export function must(command, args, why) {
  const { status, signal, error } = spawnSync(command, args, { cwd: root, stdio: ['ignore', 2, 2] });
  if (status === 0) return;
  throw new Error(`${why}: ${command} ${args.join(' ')} ended with ${error?.message ?? signal ?? status}`);
}

/** Throws unless this Node is new enough. */
export function checkNode(version = versions.node) {
  const [major, minor] = version.split('.').map(Number);
  if (major > 20 || (major === 20 && minor >= 19)) return;
  throw new Error(`Node 20.19 or newer is needed; this is ${version}`);
}

/** Installs what `package-lock.json` pins, unless it is installed already. */
export function install() {
  if (installed()) return;
  stderr.write('installing the pinned packages (npm ci)\n');
  // No package of ours needs its install script: native parts come prebuilt or are optional.
  must('npm', ['ci', '--ignore-scripts', '--no-audit', '--no-fund'], 'the packages could not be installed');
}

function installed() {
  const hidden = join(root, 'node_modules/.package-lock.json');
  if (!existsSync(hidden)) return false;
  const read = (path) => JSON.parse(readFileSync(path, 'utf8')).packages;
  const found = read(hidden);
  // Optional packages may be for other machines; all others must be there in the pinned version.
  return Object.entries(read(join(root, 'package-lock.json'))).every(
    ([name, { version, optional }]) => name === '' || optional || found[name]?.version === version,
  );
}

/** Compiles, unless nothing changed since the last time. */
export function build() {
  if (existsSync(STAMP) && newest() <= statSync(STAMP).mtimeMs) return;
  stderr.write('building\n');
  const began = Date.now() / 1000;
  must(execPath, ['node_modules/typescript/bin/tsc', '-p', 'tsconfig.json'], 'the sources do not compile');
  // The stamp is of the beginning: a source that changed meanwhile is newer and compiles again.
  writeFileSync(STAMP, '');
  utimesSync(STAMP, began, began);
}

function newest() {
  const files = SOURCES.flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true })
      .filter((name) => name.endsWith('.ts'))
      .map((name) => join(folder, name)),
  );
  const times = [...files, 'tsconfig.json', 'package-lock.json'].map(
    (name) => statSync(join(root, name)).mtimeMs,
  );
  return times.reduce((a, b) => Math.max(a, b));
}

/** Everything that must be so before compiled code can run. */
export function prepare() {
  checkNode();
  install();
  build();
}

function main() {
  try {
    prepare();
  } catch (error) {
    stderr.write(`${error.message}\n`);
    exit(1);
  }
  const { status, signal } = spawnSync(execPath, [join(root, 'dist/cli/main.js'), ...argv.slice(2)], {
    stdio: 'inherit',
  });
  if (signal) stderr.write(`stopped by ${signal}\n`);
  exit(status ?? 1);
}

if (argv[1] && import.meta.url === pathToFileURL(argv[1]).href) main();
