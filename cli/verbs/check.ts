/** `check`: looks at a whole store and names everything that is wrong. */
import { KIND_TABLE } from '../../rules/contracts/table.ts';
import { checkStore } from '../../store/check.ts';
import { fail } from '../../store/format/errors.ts';
import { counted } from '../../store/format/words.ts';
import { type StoreFlag, storePath } from '../open.ts';
import { oneLine } from '../printable.ts';
import { NO_ARGS, STORE_FLAG, verb } from '../verb.ts';

export const command = verb<StoreFlag, []>({
  example: 'ashlar check',
  about: 'Nothing is changed, and the store need not be one that opens. Exit status 4 when there is a fault.',
  flags: { store: STORE_FLAG },
  args: NO_ARGS,
  async run(cli, flags) {
    const path = storePath(cli, flags);
    const onFault = (fault: { kind: string; where: string; found?: string }) =>
      cli.out.say({ fault }, oneLine(`${fault.kind.padEnd(12)} ${fault.where}: ${fault.found ?? ''}`));
    const { faults, ...counts } = await checkStore(path, { kinds: KIND_TABLE, onFault });
    const { blocks, bytes, leaves } = counts;
    const line = `${counted(faults.length, 'fault')}; ${counted(blocks, 'sound block')} of ${counted(bytes, 'byte')}, ${counted(leaves, 'leaf', 'leaves')}`;
    cli.out.say({ faults: faults.length, ...counts }, line);
    if (faults.length > 0)
      fail('E_STORE_DAMAGED', { where: path, wanted: 'no fault', found: String(faults.length) });
  },
});
