/**
 * The conformance suite of provisioners as a program of its own: `node dist/test/suite/provisioner.js suite.json`. It is
 * what `ashlar provisioner check` runs; daemon/provisioner/conformance.ts says what the file holds.
 */
import { realpathSync } from 'node:fs';
import { checkProvisioner, readSubject } from '../../daemon/provisioner/conformance.ts';

async function main(file: string): Promise<number> {
  const checks = await checkProvisioner(await readSubject(file));
  for (const { name, ok, detail } of checks)
    process.stdout.write(`${ok ? 'ok' : 'NOT OK'}  ${name}${detail && `: ${detail}`}\n`);
  const failed = checks.filter(({ ok }) => !ok).length;
  process.stdout.write(`${checks.length - failed} passed, ${failed} failed\n`);
  return failed === 0 ? 0 : 1;
}

const [, self, file] = process.argv;
if (self !== undefined && realpathSync(self) === import.meta.filename) {
  if (file === undefined) process.stderr.write('usage: node dist/test/suite/provisioner.js suite.json\n');
  process.exitCode = file === undefined ? 2 : await main(file);
}
