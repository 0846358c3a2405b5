/** One of several processes that put the same file: `node cases-child.js PATH KEY FILE PUTS [die]`. */
import { readFileSync, writeSync } from 'node:fs';
import { placeAt } from './place.ts';

const [path = '', logKey = '', file = '', puts = '1', die] = process.argv.slice(2);
const store = await placeAt(path, logKey).open({ patience: 60_000 });
const bytes = readFileSync(file);
async function* slowly(): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += 1 << 18) {
    yield bytes.subarray(at, at + (1 << 18));
    // Half-way: what is written so far is a temporary file.
    if (die !== undefined && at > bytes.length / 2) process.kill(process.pid, 'SIGKILL');
  }
}
const stored = await Promise.all(Array.from({ length: Number(puts) }, () => store.putStream(slowly())));
await store.close();
for (const { cid, added } of stored) writeSync(1, `${cid} ${added}\n`);
