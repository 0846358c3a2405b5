/** `verify`: a release re-derived from its own bytes, without a store and without a network. */
import { resolve } from 'node:path';
import { openFolder } from '../../daemon/release/folder.ts';
import { type Verified, verify } from '../../rules/verify/verify.ts';
import { readBounded } from '../../store/bounded.ts';
import { parseCid } from '../../store/format/cid.ts';
import { fail } from '../../store/format/errors.ts';
import { trustedLogKeys } from '../../store/format/policy.ts';
import { counted } from '../../store/format/words.ts';
import { oneLine } from '../printable.ts';
import { type Cli, several, text, verb, word } from '../verb.ts';

type Flags = { readonly policy?: readonly string[]; readonly expect?: string };

export const command = verb<Flags, [release: string]>({
  example: 'ashlar verify release\nashlar verify release --policy keys.txt --expect CID',
  about:
    'Re-hashes every file, replays the log, applies every rule again and compares. Every fault is named in one pass. Without\na key or a CID from outside, the release vouches for itself alone and the first line says `self-attested`.',
  flags: {
    policy: several(
      'File of trusted log keys: a vkey, or `log` and a vkey, a line; # begins a comment',
      'FILE',
    ),
    expect: text('CID of the release that was announced', 'CID'),
  },
  args: { kind: 'tuple', parameters: [word('RELEASE', 'Folder of the release')] },
  async run(cli, flags, release) {
    const keys = flags.policy === undefined ? {} : { keys: await keysOf(cli, flags.policy) };
    const expect = flags.expect === undefined ? {} : { expect: parseCid(flags.expect) };
    const verified = await verify(await openFolder(resolve(cli.cwd, release)), { ...keys, ...expect });
    const [first = '', ...rest] = verifiedText(verified).split('\n');
    const colour = verified.result === 'faults' ? 'red' : 'green';
    await cli.out.print(verified, [cli.out.style(colour, first), ...rest].join('\n'));
    if (verified.result === 'faults')
      fail('E_VERIFY', { where: release, wanted: 'no fault', found: String(verified.faults.length) });
  },
});

/** Longest policy file (bytes). */
const POLICY_BYTES = 1 << 20;

async function keysOf({ cwd }: Cli, files: readonly string[]): Promise<string[]> {
  const keys: string[] = [];
  for (const file of files) {
    const path = resolve(cwd, file);
    const bytes = await readBounded(path, { max: POLICY_BYTES, wanted: 'a file of log keys' });
    for (const key of trustedLogKeys(bytes, path)) keys.push(key);
  }
  return keys;
}

/** The first line says all that matters; then what is withheld, and each fault. */
export function verifiedText(verified: Verified): string {
  const { result, trust, release, vkey, files, leaves, records, scrubbed, withheld, faults } = verified;
  const counts = `${counted(files, 'file')}, ${counted(leaves, 'leaf', 'leaves')}, ${counted(records, 'record')} re-derived or checked`;
  const kept = `as recorded: ${verified.asRecorded}; scrubbed: ${scrubbed.changed} of ${scrubbed.of}`;
  const held = withheld.files === 0 ? '' : `withheld: ${withheld.files}`;
  const heads = {
    ok: 'ok',
    'ok except withheld': `ok except ${held}`,
    faults: [counted(faults.length, 'fault'), ...(held === '' ? [] : [held])].join('; '),
  };
  return [
    `${heads[result]}; ${trust}; ${kept}; ${counts}`,
    `release ${release ?? 'unknown'}`,
    `log key ${oneLine(vkey ?? 'unknown')}`,
    ...(held === '' ? [] : [`withheld files: ${listed(withheld.byReason)}`]),
    ...(held === '' ? [] : [`resting on them, in part as recorded: ${listed(withheld.records)}`]),
    ...faults.map(({ kind, at, detail }) => oneLine(`${kind.padEnd(18)} ${at}: ${detail}`)),
  ].join('\n');
}

/** `a 1, b 2`, by name. */
function listed(counts: Readonly<Record<string, number>>): string {
  const parts = Object.keys(counts).sort();
  return parts.length === 0 ? 'none' : parts.map((name) => `${name} ${counts[name]}`).join(', ');
}
