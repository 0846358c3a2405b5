/** Pulls a mirror in few-block steps and says so after each: its parent kills it. Arguments: URL, store, key. */
import { argv, stdout } from 'node:process';
import { pullMirror } from '../../../daemon/mirror/pull.ts';
import { openSource } from '../../../daemon/mirror/source.ts';
import { testKinds } from '../../store/kinds.ts';
import { placeAt } from '../../store/place.ts';

const [, , url = '', path = '', key = ''] = argv;
const store = await placeAt(path, key).open();
await pullMirror(store, openSource(url), {
  mirror: 'm',
  kinds: testKinds,
  batch: 10,
  onBlocks: () => stdout.write('blocks\n'),
});
stdout.write('done\n');
