/** A store worth mirroring: two families, records beside them, evidence that stays home, names. */
import { type Cid, digestOf, evidence, link } from '../../../store/format/cid.ts';
import type { Store } from '../../../store/store.ts';
import { filled } from '../../suite/blocks.ts';

export interface Origin {
  readonly studies: readonly Cid[];
  /** Blocks of the closures, without records. */
  readonly files: readonly Cid[];
  /** Only referred to by digest. */
  readonly withheld: Cid;
  /** In no closure. */
  readonly loose: Cid;
  readonly named: Cid;
}

/** `count` entries a family; each links a note of the store log that links a file of its own. */
export async function fillOrigin(store: Store, count: number): Promise<Origin> {
  const files: Cid[] = [await store.put(filled((1 << 20) + 77, 5))];
  const withheld = await store.put(Buffer.from('native bytes that stay home'));
  const loose = await store.put(Buffer.from('never published'));
  await store.record({ kind: 'note', text: 'unpublished record', links: [link(loose)] });
  const studies: Cid[] = [];
  for (const text of ['first', 'second']) {
    const plan = await store.record({
      kind: 'note',
      text: `plan ${text}`,
      links: [link(files[0] as Cid)],
      want: ['raw'],
    });
    const { cid } = await store.record({ kind: 'study', text, links: [link(plan.cid)], want: ['note'] });
    studies.push(cid);
    const entries = Array.from({ length: count }, async (_, i) => {
      const file = await store.put(Buffer.from(`file ${text} ${i}`));
      files.push(file);
      const held = [evidence(digestOf(withheld))];
      const note = await store.record({
        kind: 'note',
        text: `${text} ${i}`,
        links: [link(file)],
        evidence: held,
      });
      const links = [link(note.cid)];
      await store.record({ kind: 'entry', study: link(cid), unique: `${i}`, links, want: ['note'] });
    });
    await Promise.all(entries);
  }
  const named = await store.put(Buffer.from('named'));
  await store.setName('files/named', named);
  await store.setName('gone', named);
  await store.setName('gone', null);
  return { studies, files, withheld, loose, named };
}
