/**
 * One loopback port that leads to the meter's unix socket and nowhere else.
 * Promises: without an attached socket a connection is closed at once. Does not promise: any reading of what passes.
 */
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { pipeline } from 'node:stream';

/** The port inside every sandbox that has its own network namespace. */
export const RELAY_PORT = 8080;

/**
 * The relay as a program for `node -e`, arguments: socket, then (optional) a command. It says `ready` on descriptor 1
 * without a command, as a sidecar; with one it runs the command when it listens and takes over its exit status.
 */
export const RELAY_PROGRAM = `
const net = require('node:net'), { spawn } = require('node:child_process'), { constants } = require('node:os');
const { pipeline } = require('node:stream');
const [socket, ...argv] = process.argv.slice(1);
const pipe = (down) => {
  const up = net.connect({ path: socket, allowHalfOpen: true });
  pipeline(down, up, () => {});
  pipeline(up, down, () => {});
};
const run = () => {
  const child = spawn(argv[0], argv.slice(1), { stdio: ['inherit', 'inherit', 'inherit', 'ignore', 4] });
  child.on('error', (error) => { console.error(String(error)); process.exit(125); });
  child.on('exit', (code, signal) => process.exit(code ?? 128 + constants.signals[signal]));
};
net.createServer({ allowHalfOpen: true }, pipe)
  .listen(${RELAY_PORT}, '127.0.0.1', () => argv.length > 0 ? run() : console.log('ready'));
`;

export interface HostRelay {
  readonly url: string;
  /** Where connections lead from now on; undefined: nowhere, and open ones are cut. */
  attach(socket: string | undefined): void;
  close(): Promise<void>;
}

/** The same on this host's loopback, for a program that shares it. */
export async function openHostRelay(): Promise<HostRelay> {
  let target: string | undefined;
  const open = new Set<Socket>();
  const server = createServer({ allowHalfOpen: true }, (down) => {
    if (target === undefined) return void down.resetAndDestroy();
    const up = connect({ path: target, allowHalfOpen: true });
    for (const socket of [down, up]) {
      open.add(socket);
      socket.once('close', () => open.delete(socket));
    }
    // A side that ends is ended on the other side, a side that breaks breaks both.
    pipeline(down, up, () => undefined);
    pipeline(up, down, () => undefined);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const cut = () => {
    for (const socket of open) socket.destroy();
  };
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    attach(socket) {
      if (socket === undefined) cut();
      target = socket;
    },
    close() {
      cut();
      return new Promise((resolve) => server.close(() => resolve()));
    },
  };
}
