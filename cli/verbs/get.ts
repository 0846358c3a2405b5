/** `get`: an object's bytes, each re-hashed before it is handed out; a tree becomes a folder. */
import { createWriteStream } from 'node:fs';
import { link, rm } from 'node:fs/promises';
import { resolve } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { treeToFolder } from '../../store/folder.ts';
import { type Cid, codecOf } from '../../store/format/cid.ts';
import { random } from '../../store/format/crypto.ts';
import { fail } from '../../store/format/errors.ts';
import type { Store } from '../../store/store.ts';
import { checkTarget } from '../../store/target.ts';
import { objectOf } from '../objects.ts';
import { shapeOf } from '../shape.ts';
import { storeVerb, text, word } from '../verb.ts';

export const command = storeVerb<{ out?: string }, [object: string]>({
  access: 'read',
  example: 'ashlar get bafkreigh2akiscaildcqabsyg3dfr6chu3fgpregiymsck7e7aqa4s52zy > file',
  about:
    'A file or a record is written as its exact bytes. A tree or a snapshot needs --out and becomes a folder there.\nNo byte is written that was not checked against its digest.',
  flags: { out: text('File or folder to write; must not exist', 'PATH') },
  args: { kind: 'tuple', parameters: [word('OBJECT', 'CID, sha256:<hex> or name')] },
  async run({ out, cwd }, store, flags, object) {
    const cid = await objectOf(store, object);
    if (flags.out === undefined) return out.bytes(store.stream(cid));
    const target = resolve(cwd, flags.out);
    await checkTarget(target);
    const shape = codecOf(cid) === 'raw' ? 'raw' : (await shapeOf(store, cid)).shape;
    if (shape === 'tree' || shape === 'snapshot') await treeToFolder(store, cid, target);
    else await writeFile(store, cid, target);
  },
});

async function writeFile(store: Store, cid: Cid, target: string): Promise<void> {
  const part = `${target}.${Buffer.from(random(6)).toString('hex')}.part`;
  try {
    await pipeline(Readable.from(store.stream(cid)), createWriteStream(part, { flags: 'wx' })).catch(
      (cause: NodeJS.ErrnoException) => {
        // A parent that stands, and takes no file: of /proc, say.
        if (cause.syscall !== 'open') throw cause;
        fail('E_IO', { where: target, wanted: 'a file that can be written', found: cause.code ?? '', cause });
      },
    );
    // A link does not replace what came there meanwhile. Dying before it leaves the part, and no file of that name.
    await link(part, target);
  } finally {
    await rm(part, { force: true });
  }
}
