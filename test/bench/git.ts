/**
 * Bench: a commit as a tree of ours against `git ls-tree -r` + `git cat-file --batch` + SHA-256 of the same blobs.
 * `node dist/test/bench/git.js [repository commit]`; without arguments over a repository made here.
 * Prints one line: entries, MB, best times of five in ms, their ratio (target <= 1.5), the same for CPU time with
 * Git's (Linux; on a busy machine the steadier number), peak memory in MB.
 */
import { execFileSync, spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { type Codec, cidFromDigest, cidOf, type Digest } from '../../store/format/cid.ts';
import { hasher, sha256Hex } from '../../store/format/crypto.ts';
import type { Emit } from '../../store/format/reader.ts';
import { importCommit } from '../../store/git/import.ts';
import { openGit } from '../../store/git/open.ts';

/** Hashes and keeps nothing, as `verify` does. */
const hashOnly: Emit = async (bytes, codec: Codec = 'raw') => {
  if (bytes instanceof Uint8Array) return cidOf(codec, bytes);
  const running = hasher();
  for await (const part of bytes) running.update(part);
  return cidFromDigest('raw', running.hex() as Digest);
};

interface Cost {
  readonly ms: number;
  readonly cpuMs: number;
}

/** CPU time of this process and of the children that have ended (proc(5), fields 14 to 17, 10 ms a tick). */
function cpuTime(): number {
  const fields = readFileSync('/proc/self/stat', 'latin1').split(') ')[1]!.split(' ');
  return fields.slice(11, 15).reduce((sum, field) => sum + Number(field) * 10, 0);
}

/** Stopping waits for Git to have ended, so that its time counts. */
function stopwatch(): () => Promise<Cost> {
  const start = performance.now();
  const used = cpuTime();
  return async () => {
    const ms = performance.now() - start;
    await setTimeout(20);
    return { ms, cpuMs: cpuTime() - used };
  };
}

async function ours(repository: string, commit: string): Promise<Cost> {
  const stop = stopwatch();
  const reader = await openGit(repository, { backend: 'git' });
  try {
    await importCommit(reader, commit, hashOnly);
  } finally {
    await reader.close();
  }
  return stop();
}

/** The yardstick: nothing but listing, reading and hashing. */
async function floor(repository: string, commit: string): Promise<Cost & { entries: number; bytes: number }> {
  const stop = stopwatch();
  const listing = execFileSync('git', ['-C', repository, 'ls-tree', '-r', '-z', commit], {
    maxBuffer: 1 << 30,
  });
  const oids = listing
    .toString('latin1')
    .split('\0')
    .filter(Boolean)
    .map((line) => line.split(/[ \t]/)[2]!);
  const git = spawn('git', ['-C', repository, 'cat-file', '--batch'], { stdio: ['pipe', 'pipe', 'inherit'] });
  git.stdin.end(`${oids.join('\n')}\n`);
  let held: Buffer = Buffer.alloc(0);
  let entries = 0;
  let bytes = 0;
  let want = -1;
  for await (const chunk of git.stdout as AsyncIterable<Buffer>) {
    held = held.length === 0 ? chunk : Buffer.concat([held, chunk]);
    for (;;) {
      if (want < 0) {
        const end = held.indexOf(0x0a);
        if (end < 0) break;
        want = Number(held.toString('latin1', 0, end).split(' ')[2]);
        held = held.subarray(end + 1);
      }
      if (held.length < want + 1) break;
      sha256Hex(held.subarray(0, want));
      bytes += want;
      entries += 1;
      held = held.subarray(want + 1);
      want = -1;
    }
  }
  return { ...(await stop()), entries, bytes };
}

function made(folder: string): { repository: string; commit: string } {
  const files = 20_000;
  const stream = ['commit refs/heads/main\ncommitter a <a@example.invalid> 0 +0000\ndata 1\nm\n'];
  for (let i = 0; i < files; i++) {
    const text = `${String(i).padStart(8, '0')}\n`.repeat(100 + (i % 900));
    stream.push(`M 100644 inline d${i % 97}/e${i % 13}/f${i}.txt\ndata ${text.length}\n${text}\n`);
  }
  execFileSync('git', ['init', '-q', '--bare', folder]);
  execFileSync('git', ['-C', folder, 'fast-import', '--quiet'], { input: stream.join('') });
  const commit = execFileSync('git', ['-C', folder, 'rev-parse', 'main'], { encoding: 'utf8' }).trim();
  return { repository: folder, commit };
}

const folder = mkdtempSync(join(tmpdir(), 'ashlar-bench-git-'));
try {
  const [, , repositoryArg, commitArg] = process.argv;
  const { repository, commit } =
    repositoryArg !== undefined && commitArg !== undefined
      ? { repository: repositoryArg, commit: commitArg }
      : made(join(folder, 'repository'));
  const mine: Cost[] = [];
  const theirs: (Cost & { entries: number; bytes: number })[] = [];
  for (let round = 0; round < 5; round++) {
    theirs.push(await floor(repository, commit));
    mine.push(await ours(repository, commit));
  }
  const least = (costs: readonly Cost[], key: keyof Cost) => Math.min(...costs.map((cost) => cost[key]));
  const pair = (key: keyof Cost) => {
    const [a, b] = [least(mine, key), least(theirs, key)];
    return `${a.toFixed(0)} against ${b.toFixed(0)} ms = ${(a / b).toFixed(2)}`;
  };
  const { entries, bytes } = theirs[0]!;
  console.log(
    `git import against cat-file + sha256, ${entries} entries, ${(bytes / 1e6).toFixed(1)} MB: ` +
      `wall ${pair('ms')} (target <= 1.5); CPU ${pair('cpuMs')}; ` +
      `peak ${(process.resourceUsage().maxRSS / 1024).toFixed(0)} MB`,
  );
} finally {
  rmSync(folder, { recursive: true, force: true });
}
