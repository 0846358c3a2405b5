/**
 * What the tests need from the machine: a container engine and bubblewrap.
 * Promises: an engine that answers is used as it is and left alone; else, only where
 * ASHLAR_TEST_INSTALL_ENGINE=1 allows it, the packages are installed and a private engine with its own data, sockets
 * and process id file is started, and stopped by `stop`.
 * Does not promise: packages of other systems than Debian.
 */
import { spawn, spawnSync } from 'node:child_process';
import { closeSync, existsSync, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { env, getuid } from 'node:process';
import { setTimeout as sleep } from 'node:timers/promises';

const ALLOWED = 'ASHLAR_TEST_INSTALL_ENGINE';
const PATH = `${env.PATH}:/usr/sbin:/sbin`;
const START_SECONDS = 120;
const STOP_SECONDS = 30;

/** Throws a sentence with both ways out, unless bubblewrap is there or may be installed. */
export function needBubblewrap() {
  if (onPath('bwrap')) return;
  if (!allowed())
    throw new Error(waysOut('bubblewrap (bwrap) is not installed', 'ASHLAR_TEST_WITHOUT_BWRAP'));
  aptInstall();
}

/**
 * An engine to test against: `{host, stop}`, and what the test image is made of. Throws a sentence with both ways out
 * where there is none.
 */
export async function needEngine() {
  if (!['/bin/busybox', '/usr/bin/busybox'].some(existsSync)) {
    if (!allowed()) throw new Error(waysOut('busybox is not installed', 'ASHLAR_TEST_WITHOUT_DOCKER'));
    aptInstall();
  }
  for (const host of [env.DOCKER_HOST, 'unix:///var/run/docker.sock']) {
    if (host && (await answers(host))) return { host, stop: async () => {} };
  }
  const found = `no container engine answers at ${env.DOCKER_HOST ?? 'DOCKER_HOST'} or /var/run/docker.sock`;
  if (!allowed()) throw new Error(waysOut(found, 'ASHLAR_TEST_WITHOUT_DOCKER'));
  if (!onPath('dockerd')) aptInstall();
  return start();
}

const allowed = () => env[ALLOWED] === '1';

function waysOut(found, without) {
  return `${found}. Two ways out: ${ALLOWED}=1 installs docker.io, bubblewrap and busybox-static from Debian's packages and starts a private engine; ${without}=1 leaves out the tests that need it.`;
}

function onPath(command) {
  return spawnSync(command, ['--version'], { env: { ...env, PATH } }).status === 0;
}

function aptInstall() {
  if (getuid() !== 0) throw new Error(`${ALLOWED}=1 installs packages, which needs root`);
  // Without this the package would start an engine of the whole machine, which nobody asked for.
  const policy = '/usr/sbin/policy-rc.d';
  const ours = !existsSync(policy);
  if (ours) writeFileSync(policy, '#!/bin/sh\nexit 101\n', { mode: 0o755 });
  try {
    for (const args of [
      ['update'],
      ['install', '-y', '--no-install-recommends', 'docker.io', 'bubblewrap', 'busybox-static'],
    ]) {
      const options = { stdio: ['ignore', 2, 2], env: { ...env, DEBIAN_FRONTEND: 'noninteractive' } };
      const { status, error } = spawnSync('apt-get', args, options);
      if (status !== 0) throw new Error(`apt-get ${args.join(' ')} ended with ${error?.message ?? status}`);
    }
  } finally {
    if (ours) rmSync(policy);
  }
}

/** A private engine: no bridge, no firewall rules, nothing outside its own folder. */
async function start() {
  // A neutral name: containers see it in their list of mounts.
  const folder = mkdtempSync(join(tmpdir(), 'private-engine-'));
  const host = `unix://${folder}/docker.sock`;
  const log = openSync(join(folder, 'log'), 'a');
  const places = ['data-root', 'exec-root', 'pidfile'].flatMap((name) => [`--${name}`, join(folder, name)]);
  // Names of its own, should a containerd of the machine be shared with another engine.
  const names = [
    `--containerd-namespace=${folder.slice(-6)}`,
    `--containerd-plugins-namespace=p-${folder.slice(-6)}`,
  ];
  const args = [
    ...places,
    ...names,
    '--host',
    host,
    '--bridge=none',
    '--iptables=false',
    '--ip6tables=false',
  ];
  const child = spawn('dockerd', args, {
    stdio: ['ignore', log, log],
    env: { ...env, PATH },
    detached: true,
  });
  closeSync(log);
  const ended = new Promise((resolve) => child.once('exit', resolve).once('error', resolve));
  const stop = () => stopEngine(child, ended, folder);
  for (let waited = 0; waited < START_SECONDS * 5; waited++) {
    if (await answers(host)) return { host, stop };
    if (child.exitCode !== null || child.pid === undefined) break;
    await sleep(200);
  }
  const lines = readFileSync(join(folder, 'log'), 'utf8').trimEnd().split('\n').slice(-20);
  await stop();
  throw new Error(`the private container engine did not start:\n${lines.join('\n')}`);
}

async function stopEngine(child, ended, folder) {
  if (child.exitCode === null && child.pid !== undefined) {
    child.kill('SIGTERM');
    await Promise.race([ended, sleep(STOP_SECONDS * 1000, undefined, { ref: false })]);
    if (child.exitCode === null) process.kill(-child.pid, 'SIGKILL');
    await ended;
  }
  const mounts = readFileSync('/proc/mounts', 'utf8').split('\n');
  const left = mounts.map((line) => line.split(' ')[1] ?? '').filter((path) => path.startsWith(`${folder}/`));
  for (const path of left.reverse()) spawnSync('umount', ['-l', path]);
  rmSync(folder, { recursive: true, force: true });
}

/** Whether an engine answers there: `unix://<path>` or `tcp://<host>:<port>`. */
function answers(host) {
  const { protocol, pathname, hostname, port } = new URL(host);
  const where = protocol === 'unix:' ? { socketPath: pathname } : { hostname, port: port || 2375 };
  return new Promise((resolve) => {
    const asked = request({ ...where, path: '/_ping', timeout: 5000 }, (reply) => {
      reply.resume();
      resolve(reply.statusCode === 200);
    });
    asked.on('error', () => resolve(false)).on('timeout', () => asked.destroy());
    asked.end();
  });
}
