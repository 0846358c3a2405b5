/**
 * What the tests of the catalogue share: reading it, laying out a workspace, running a verifier, reading its report.
 * Promises: nothing here is the product's code, so that the catalogue is checked by a second pair of eyes.
 */
import { spawn } from 'node:child_process';
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The catalogue, from dist/test/challenges. */
export const CATALOGUE = fileURLToPath(new URL('../../../challenges/', import.meta.url));

export type Tag = 'func' | 'lesson' | 'diag';
type Verdict = 'pass' | 'fail' | 'absent';

export interface Step {
  readonly id: string;
  readonly date: string;
  readonly message: string;
  readonly folder: string;
  readonly delete?: readonly string[];
  readonly executable?: readonly string[];
}

export interface Repository {
  readonly name: string;
  readonly stored: Readonly<Record<string, string>>;
  readonly steps: readonly Step[];
}

export interface Challenge {
  readonly id: string;
  readonly taskFamily: string;
  readonly prompt: string;
  readonly followUps: readonly string[];
  readonly allowedOutputPaths: readonly string[];
  readonly verifier: {
    readonly asset: string;
    readonly timeoutSeconds: number;
    readonly tests: readonly { readonly id: string; readonly tag: Tag }[];
    readonly mustFail: readonly string[];
  };
  readonly solutions: readonly {
    readonly name: string;
    readonly tree: string | null;
    readonly expected: Readonly<Record<Tag, Verdict>>;
    readonly reward: number;
  }[];
  readonly answerPhrases: readonly string[];
  readonly lessons: readonly string[];
  readonly repository: { readonly name: string; readonly step: string };
}

export interface Behaviour {
  readonly match: string;
  readonly turns: readonly { readonly variants: readonly Variant[] }[];
}

export interface Variant {
  readonly name: string;
  readonly when: readonly string[];
  readonly steps: readonly {
    readonly tool?: string;
    readonly input?: Readonly<Record<string, string>>;
    readonly contentFile?: string;
    readonly say?: string;
  }[];
}

export interface Arm {
  readonly project: string;
  readonly workspace: string;
  readonly branch: string;
  readonly state: string;
  readonly surface: readonly { readonly id: string; readonly text: string }[];
  readonly markers: readonly string[];
  readonly expect: {
    readonly state: { readonly nodes: number; readonly edges: number };
    readonly probes: Readonly<Record<string, readonly string[]>>;
  };
}

export interface Fixture {
  readonly id: string;
  readonly serves: readonly string[];
  readonly source: { readonly repository: string; readonly step: string };
  readonly evidence: string;
  readonly lessons: string;
  readonly graphs: Readonly<Record<string, Arm>>;
}

export interface Lesson {
  readonly id: string;
  readonly sentence: string;
  readonly sources: readonly string[];
  readonly node: string;
  readonly supersedes?: string;
  readonly evidencePatterns: readonly string[];
}

export const json = <T>(...path: string[]): T => JSON.parse(readFileSync(join(CATALOGUE, ...path), 'utf8'));
export const folders = (name: string): string[] => readdirSync(join(CATALOGUE, name)).sort();
export const repository = (name: string): Repository => json('repositories', name, 'repository.json');
export const challenges = (): Challenge[] =>
  folders('challenges').map((name) => json('challenges', name, 'challenge.json'));
export const fixtures = (): Fixture[] =>
  folders('fixtures').map((name) => json('fixtures', name, 'fixture.json'));

/** Every plain file below a folder, by relative path, as text. */
export function textsBelow(folder: string): Map<string, string> {
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) =>
    entry.isFile(),
  );
  const path = (entry: { parentPath: string; name: string }) => join(entry.parentPath, entry.name);
  return new Map(
    entries.map((entry) => [path(entry).slice(folder.length + 1), readFileSync(path(entry), 'utf8')]),
  );
}

/** The tree of a repository at one step, as a new folder without the stored entries (that is: after redaction). */
export function workspaceAt(name: string, step: string): string {
  const { steps, stored } = repository(name);
  const folder = mkdtempSync(join(tmpdir(), 'catalogue-'));
  for (const one of steps) {
    cpSync(join(CATALOGUE, 'repositories', name, one.folder), folder, { recursive: true });
    for (const path of one.delete ?? []) rmSync(join(folder, path));
    if (one.id === step) break;
  }
  for (const path of Object.keys(stored)) rmSync(join(folder, path));
  for (const path of new Set(Object.keys(stored).map(dirname)))
    rmSync(join(folder, path), { recursive: true });
  return folder;
}

/** The workspace of a challenge with one of its solutions laid over. */
export function workspaceOf(challenge: Challenge, tree: string | null): string {
  const folder = workspaceAt(challenge.repository.name, challenge.repository.step);
  if (tree !== null) cpSync(join(CATALOGUE, 'challenges', challenge.id, tree), folder, { recursive: true });
  return folder;
}

export interface Ran {
  readonly status: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs a program with exactly this environment beside PATH. */
export function run(argv: string[], cwd: string, env: Record<string, string> = {}, input = ''): Promise<Ran> {
  const [program = '', ...args] = argv;
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, {
      cwd,
      env: { PATH: process.env.PATH ?? '', ...env },
      timeout: 120_000,
    });
    const out: Buffer[] = [];
    const err: Buffer[] = [];
    child.stdout.on('data', (chunk: Buffer) => out.push(chunk));
    child.stderr.on('data', (chunk: Buffer) => err.push(chunk));
    child.stdin.on('error', () => undefined);
    child.on('error', reject);
    child.on('close', (status) =>
      resolve({ status, stdout: Buffer.concat(out).toString(), stderr: Buffer.concat(err).toString() }),
    );
    child.stdin.end(input);
  });
}

/** The tests that the workspace shows. */
export const runVisible = (workspace: string): Promise<Ran> =>
  run([process.execPath, '--test', '--test-reporter=tap'], workspace);

export function verifierArgv(challenge: Challenge): string[] {
  const asset = join(CATALOGUE, 'challenges', challenge.id, challenge.verifier.asset);
  const files = readdirSync(asset).filter((name) => name.endsWith('.test.mjs'));
  return [
    process.execPath,
    '--test',
    '--test-reporter=tap',
    ...files.sort().map((name) => join(asset, name)),
  ];
}

/** The hidden tests over a workspace. */
export const runVerifier = (challenge: Challenge, workspace: string): Promise<Ran> =>
  run(verifierArgv(challenge), workspace, { ASHLAR_WORKSPACE: workspace });

/** Every result line of a TAP report, by the names from the outermost level down; a name may come more than once. */
export function results(tap: string): { id: string; passed: boolean }[] {
  const found: { id: string; passed: boolean }[] = [];
  const names: string[] = [];
  for (const line of tap.split('\n')) {
    const subtest = /^( *)# Subtest: (.*)$/.exec(line);
    if (subtest !== null) names.splice((subtest[1] ?? '').length / 4, names.length, subtest[2] ?? '');
    const result = /^( *)(not )?ok \d+ - (.*)$/.exec(line);
    if (result === null) continue;
    const depth = (result[1] ?? '').length / 4;
    found.push({
      id: [...names.slice(0, depth), result[3] ?? ''].join(' > '),
      passed: result[2] === undefined,
    });
  }
  return found;
}

/** Verdict by tag and reward, by the contract in challenges/README.md. */
export function grade(challenge: Challenge, tap: string): { byTag: Record<Tag, Verdict>; reward: number } {
  const ran = results(tap);
  const { tests, mustFail } = challenge.verifier;
  const listed = [...tests.map((one) => one.id), ...mustFail];
  const once = listed.every((id) => ran.filter((one) => one.id === id).length === 1);
  const passed = (id: string) => ran.some((one) => one.id === id && one.passed);
  const verdict = (tag: Tag): Verdict => {
    const tagged = tests.filter((one) => one.tag === tag);
    if (!once || tagged.length === 0) return 'absent';
    return tagged.every((one) => passed(one.id)) ? 'pass' : 'fail';
  };
  const byTag = { func: verdict('func'), lesson: verdict('lesson'), diag: verdict('diag') };
  const counted = tests.filter((one) => one.tag !== 'diag');
  const earned = once && counted.every((one) => passed(one.id)) && !mustFail.some(passed);
  return { byTag, reward: earned ? 1 : 0 };
}
