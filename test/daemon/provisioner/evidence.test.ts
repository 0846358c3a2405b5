/** The evidence as a product gets it: one list, the same bytes for the same corpus, whatever is in it. */
import t from 'tap';
import { evidenceListing } from '../../../daemon/provisioner/evidence.ts';
import { digestOf, link } from '../../../store/format/cid.ts';
import { toBytes } from '../../../store/format/codec.ts';
import { type Entry, treeBlock } from '../../../store/format/tree.ts';
import { corpusOf, dir, file, openBlocks, putTree, submodule, symlink } from '../../rules/kit.ts';

t.test('files by the bytes of their path; what is not UTF-8 as Base64; nothing else', async (t) => {
  const blocks = openBlocks();
  const tree = putTree(blocks, {
    'b/z.md': 'last\n',
    'b.md': 'a dot goes before a slash\n',
    'a é.txt': 'ü\n',
    'odd.bin': new Uint8Array([0xff, 0x00]),
    link: symlink('b.md'),
    empty: '',
    folder: dir({}, 0o755),
    sub: submodule('1'.repeat(40)),
    'run.sh': file('x', 0o755),
  });
  const bytes = await evidenceListing(corpusOf(blocks, tree), blocks.reader);
  t.equal(
    Buffer.from(bytes ?? []).toString(),
    '[{"path":"a é.txt","text":"ü\\n"},{"path":"b.md","text":"a dot goes before a slash\\n"},' +
      '{"path":"b/z.md","text":"last\\n"},{"path":"empty","text":""},{"link":"b.md","path":"link"},' +
      '{"base64":"/wA=","path":"odd.bin"},{"path":"run.sh","text":"x"}]',
  );
  t.same(await evidenceListing(corpusOf(blocks, tree), blocks.reader), bytes);
});

t.test('a name that is not UTF-8 is told as bytes', async (t) => {
  const blocks = openBlocks();
  const name = toBytes(new Uint8Array([0x61, 0xff]));
  const content = { cid: link(blocks.raw('x')), size: 1 };
  const block = treeBlock([{ name, type: 'file', mode: 0o644, ...content } as unknown as Entry]);
  blocks.map.set(digestOf(block.cid), block.bytes);
  const bytes = await evidenceListing(corpusOf(blocks, block.cid), blocks.reader);
  t.equal(Buffer.from(bytes ?? []).toString(), '[{"pathBase64":"Yf8=","text":"x"}]');
});

t.test('no file, no listing; a corpus that was refused is a gate', async (t) => {
  const blocks = openBlocks();
  t.equal(
    await evidenceListing(corpusOf(blocks, putTree(blocks, { a: dir({}, 0o755) })), blocks.reader),
    undefined,
  );
  const derivation = { rule: 'corpus', v: 1, inputs: {} };
  const refused = blocks.record({
    kind: 'corpus',
    v: 1,
    derivation,
    refused: { code: 'E_PATH', detail: 'x' },
  });
  await t.rejects(evidenceListing(refused, blocks.reader), { code: 'E_GATE' });
});
