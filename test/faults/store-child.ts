/** Runs the scenario and dies by SIGKILL right after its n-th changing call: `node store-child.js PATH KEY N`. */
import { writeSync } from 'node:fs';
import { realFiles } from '../../store/files.ts';
import { placeAt } from '../store/place.ts';
import { led, runSteps } from './store-scenario.ts';

const [path = '', logKey = '', last = '0'] = process.argv.slice(2);
let calls = 0;
const files = led(realFiles, async (_call, _args, run) => {
  const result = await run();
  calls++;
  if (calls === Number(last)) process.kill(process.pid, 'SIGKILL');
  return result;
});
const store = await placeAt(path, logKey).open({ files });
await runSteps(store, (step) => void writeSync(1, `${step}\n`));
await store.close();
writeSync(1, `calls ${calls}\n`);
