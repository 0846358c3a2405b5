/**
 * The evidence of a fixture as one file for a memory product: canonical JSON, a list of the corpus' files by path.
 * `[{"path":"chat/2025-06.jsonl","text":"..."}]`; a file that is not UTF-8 has `base64` instead of `text`, a symbolic link
 * has `link` (or `linkBase64`) with its target, a path that is not UTF-8 has `pathBase64` instead of `path`.
 * Promises: the same corpus gives the same bytes everywhere, sorted by the bytes of the path; nothing in it but the redacted
 * files. Memory: the whole corpus.
 */
import { readAs } from '../../rules/rule.ts';
import type { Cid } from '../../store/format/cid.ts';
import { fail } from '../../store/format/errors.ts';
import { canonicalJson, type Json } from '../../store/format/json.ts';
import type { Reader } from '../../store/format/reader.ts';
import { nameBytes, type TreePath, walkTree } from '../../store/format/tree.ts';

/** The listing of an evidence corpus; undefined where it holds no file. Throws E_GATE for a refused one. */
export async function evidenceListing(corpus: Cid, reader: Reader): Promise<Uint8Array | undefined> {
  const value = await readAs('corpus', corpus, reader);
  if (!('tree' in value))
    fail('E_GATE', { where: corpus, wanted: 'a readable corpus', found: 'a refused one' });
  const files: { path: Buffer; entry: Json }[] = [];
  for await (const { path, entry } of walkTree(reader, value.tree['/'])) {
    if (entry.type !== 'file' && entry.type !== 'link') continue;
    const bytes = await reader.get(entry.cid['/']);
    const content = contentOf(bytes, entry.type);
    files.push({ path: bytesOf(path), entry: { ...pathOf(bytesOf(path)), ...content } });
  }
  if (files.length === 0) return undefined;
  files.sort((a, b) => Buffer.compare(a.path, b.path));
  return Buffer.from(canonicalJson(files.map(({ entry }) => entry)), 'utf8');
}

const bytesOf = (path: TreePath): Buffer =>
  Buffer.concat(path.flatMap((name, i) => [...(i === 0 ? [] : [Buffer.from('/')]), nameBytes(name)]));

function pathOf(bytes: Buffer): { [name: string]: string } {
  const text = utf8(bytes);
  return text === undefined ? { pathBase64: bytes.toString('base64') } : { path: text };
}

function contentOf(bytes: Uint8Array, type: 'file' | 'link'): { [name: string]: string } {
  const text = utf8(bytes);
  const [plain, encoded] = type === 'file' ? ['text', 'base64'] : ['link', 'linkBase64'];
  return text === undefined ? { [encoded]: Buffer.from(bytes).toString('base64') } : { [plain]: text };
}

/** Undefined for bytes that are not UTF-8: encoding them again would give others. */
function utf8(bytes: Uint8Array): string | undefined {
  const text = Buffer.from(bytes).toString('utf8');
  return Buffer.compare(Buffer.from(text, 'utf8'), bytes) === 0 ? text : undefined;
}
