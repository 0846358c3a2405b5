/** `provisioner`: whether a memory product can be measured here. */
import { resolve } from 'node:path';
import { checkProvisioner, readSubject } from '../../daemon/provisioner/conformance.ts';
import { fail } from '../../store/format/errors.ts';
import { verb, word } from '../verb.ts';

export const command = verb<Record<never, never>, [what: string, file: string]>({
  example: 'ashlar provisioner check suite.json',
  about:
    'check runs the conformance suite against the product and one fixture that the file names: argv, root, work, fixture,\ngraphArm, artifacts, expect, recall. Relative paths are relative to the file. Exit status 5 where a check failed.',
  flags: {},
  args: { kind: 'tuple', parameters: [word('check', 'What to do'), word('FILE', 'The suite as JSON')] },
  async run({ out, cwd }, _flags, what, file) {
    if (what !== 'check') fail('E_USAGE', { where: 'provisioner', wanted: 'check FILE', found: what });
    const checks = await checkProvisioner(await readSubject(resolve(cwd, file)));
    for (const check of checks) {
      const mark = check.ok ? out.style('green', 'ok    ') : out.style('red', 'NOT OK');
      await out.print(check, `${mark} ${check.name}${check.detail && `: ${check.detail}`}`);
    }
    const failed = checks.filter(({ ok }) => !ok).length;
    const passed = checks.length - failed;
    await out.print({ passed, failed }, `${passed} passed, ${failed} failed`);
    if (failed > 0) fail('E_GATE', { where: file, wanted: 'every check passed', found: `${failed} failed` });
  },
});
