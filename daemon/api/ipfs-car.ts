/** The CAR that a gateway sends: depth first, links in the order of the canonical bytes. */
import { exportBlocks, exportCar, type SizedReader } from '../../store/car.ts';
import { type Cid, codecOf, digestOf } from '../../store/format/cid.ts';
import { linksOf } from '../../store/format/closure.ts';
import { decode } from '../../store/format/codec.ts';
import { carHeader, sectionHead } from '../../store/frame.ts';
import type { CarRequest } from './ipfs-request.ts';

/** Throws what reading throws, where it gets to. */
export function gatewayCar(
  reader: SizedReader,
  root: Cid,
  { all, dups }: Pick<CarRequest, 'all' | 'dups'>,
): AsyncIterable<Uint8Array> {
  if (!all) return exportBlocks(reader, [root], [root]);
  return dups ? withDuplicates(reader, root) : exportCar(reader, [root]);
}

/** Each block as often as it is linked. Its length can grow beyond the store's: the reader of the stream sets the pace. */
async function* withDuplicates(reader: SizedReader, root: Cid): AsyncGenerator<Uint8Array> {
  yield carHeader([root]);
  const stack: Cid[] = [root];
  for (let cid = stack.pop(); cid !== undefined; cid = stack.pop()) {
    if (codecOf(cid) === 'raw') {
      yield sectionHead('raw', digestOf(cid), await reader.size(cid));
      yield* reader.stream(cid);
      continue;
    }
    const bytes = await reader.get(cid);
    yield Buffer.concat([sectionHead('dag-json', digestOf(cid), bytes.length), bytes]);
    stack.push(...[...linksOf(decode(bytes))].reverse());
  }
}
