import { stdin, stdout } from 'node:process';
import { createInterface } from 'node:readline';
import { openService } from './service.mjs';
import { openStore } from './store.mjs';

function parsed(line) {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}

async function serve(service) {
  for await (const line of createInterface({ input: stdin })) {
    if (line.trim() === '') continue;
    stdout.write(`${JSON.stringify(service.handle(parsed(line)))}\n`);
  }
  return 0;
}

function once(service, [cmd, ...pairs]) {
  const fields = pairs.map((pair) => [pair.slice(0, pair.indexOf('=')), pair.slice(pair.indexOf('=') + 1)]);
  const reply = service.handle({ ...Object.fromEntries(fields), cmd });
  stdout.write(`${JSON.stringify(reply, null, 2)}\n`);
  return reply.ok ? 0 : 1;
}

/** The program: one command from the arguments, or requests from stdin. Gives the exit status. */
export async function run(args) {
  const at = args.indexOf('--data');
  const rest = at === -1 ? args : [...args.slice(0, at), ...args.slice(at + 2)];
  const service = openService(openStore(at === -1 ? undefined : args[at + 1]));
  return rest.length === 0 ? serve(service) : once(service, rest);
}
