/**
 * How a memory looks when it is put before a prompt: one grammar, written and read by the same file.
 *
 *   block   = section *( LF section )
 *   section = "[memory " id "]" LF text LF "[end " id "]"
 *   id      = "mem_" 12HEX        the first 12 digits of the SHA-256 of the UTF-8 text
 *
 * Promises: a block says which memories it holds and gives their exact text back; the id survives HTML escaping.
 * Does not promise: that a model reads it, or that an id is unique beyond its 48 bits.
 */
import { sha256Hex } from '../../store/format/crypto.ts';
import { fail } from '../../store/format/errors.ts';

/** One remembered text and the id that stands for it in transcripts and requests. */
export interface Memory {
  readonly id: string;
  readonly text: string;
}

/** What an id looks like; the name space is our own, so that it can be searched for anywhere. */
export const MEMORY_ID = /^mem_[0-9a-f]{12}$/;

/** The id of a text: it depends on nothing but the text. O(length). */
export function memoryId(text: string): string {
  return `mem_${sha256Hex(Buffer.from(text, 'utf8')).slice(0, 12)}`;
}

/** The block of these memories, in the order given. Throws E_RULE_INPUT where an id is not that of its text. */
export function memoryBlock(memories: readonly Memory[]): string {
  return memories.map(section).join('\n');
}

function section({ id, text }: Memory): string {
  if (id !== memoryId(text)) fail('E_RULE_INPUT', { where: 'memory', wanted: memoryId(text), found: id });
  return `[memory ${id}]\n${text}\n[end ${id}]`;
}

/** The memories of a block, or nothing where `block` is any other text. O(length). */
export function readMemoryBlock(block: string): Memory[] | undefined {
  const found: Memory[] = [];
  let at = 0;
  while (at < block.length) {
    const head = /^\[memory (mem_[0-9a-f]{12})\]\n/.exec(block.slice(at, at + 32));
    const id = head?.[1];
    if (head === null || id === undefined) return undefined;
    const from = at + head[0].length;
    const tail = `\n[end ${id}]`;
    const end = block.indexOf(tail, from);
    if (end < 0) return undefined;
    const text = block.slice(from, end);
    if (memoryId(text) !== id) return undefined;
    found.push({ id, text });
    at = end + tail.length;
    if (at < block.length && block[at++] !== '\n') return undefined;
  }
  return block.endsWith(']') ? found : undefined;
}
