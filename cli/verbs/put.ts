/** `put`: bytes, a folder or a record -> its CID. */
import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import { readBounded, wholeOf } from '../../store/bounded.ts';
import { folderToTree } from '../../store/folder.ts';
import { type Cid, parseCid } from '../../store/format/cid.ts';
import type { Value } from '../../store/format/codec.ts';
import { fail } from '../../store/format/errors.ts';
import { parseJson } from '../../store/format/json.ts';
import { checkName } from '../../store/names.ts';
import type { Store } from '../../store/store.ts';
import { type Cli, storeVerb, text, toggle, word } from '../verb.ts';

type Flags = {
  readonly expect?: string;
  readonly name?: string;
  readonly record?: boolean;
};

export const command = storeVerb<Flags, [path: string]>({
  access: 'write',
  example: 'ashlar put README.md\necho hello | ashlar put -',
  about:
    'A file becomes one raw block; a folder becomes a snapshot of tree nodes. Links are stored, not followed. The CID\nalone is printed.',
  flags: {
    expect: text('Refuse, and keep nothing, unless this is the CID (files only)', 'CID'),
    name: text('Point this name at it', 'NAME'),
    record: toggle('PATH is a record as JSON: give it a leaf in its log'),
  },
  args: { kind: 'tuple', parameters: [word('PATH', 'File, folder, or - for standard input')] },
  async run(cli, store, flags, path) {
    if (flags.name !== undefined) checkName(flags.name);
    const { cid, size } = await stored(cli, store, flags, path);
    if (flags.name !== undefined) await store.setName(flags.name, cid);
    else if (flags.record !== true)
      cli.out.note('unnamed: kept for 14 days at least; ashlar name NAME CID keeps it');
    if (size === 0) cli.out.note('empty: there was not one byte');
    await cli.out.print(size === undefined ? { cid } : { cid, size }, cid);
  },
});

/** Longest record as JSON (bytes): what `parseJson` takes. */
const RECORD_BYTES = 16 << 20;

interface Put {
  readonly cid: Cid;
  readonly size?: number;
}

async function stored(cli: Cli, store: Store, flags: Flags, path: string): Promise<Put> {
  const at = resolve(cli.cwd, path);
  if (flags.record === true) {
    const limits = { max: RECORD_BYTES, wanted: 'a record as JSON' };
    const bytes =
      path === '-'
        ? await wholeOf(cli.stdin, { ...limits, where: 'standard input' })
        : await readBounded(at, limits);
    const value = parseJson(bytes);
    return { cid: (await store.record(value as Value)).cid };
  }
  const expect = flags.expect === undefined ? {} : { expect: parseCid(flags.expect) };
  if (path === '-') return store.putStream(cli.stdin, expect);
  const found = await stat(at);
  if (!found.isDirectory()) return store.putStream(createReadStream(at, { highWaterMark: 1 << 20 }), expect);
  if (flags.expect !== undefined) fail('E_USAGE', { where: '--expect', wanted: 'a file', found: 'a folder' });
  return { cid: (await folderToTree(at, store.put)).snapshot };
}
