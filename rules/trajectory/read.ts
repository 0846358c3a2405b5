/** A trajectory's document read back, wherever its bytes are. */
import { parseJson } from '../../store/format/json.ts';
import type { Reader } from '../../store/format/reader.ts';
import type { Full } from '../contracts/kit.ts';
import type { Trajectory } from '../contracts/trajectory.ts';
import { blockOf } from '../scrub/published.ts';
import { type AtifStep, fromAtif } from './atif.ts';

type Document = Pick<Full<Trajectory>, 'atif'>;

/** The steps of a trajectory. Throws E_NOT_FOUND where they are held back, E_JSON. */
export async function stepsOf({ atif }: Document, reader: Reader): Promise<AtifStep[]> {
  return fromAtif(parseJson(await reader.get(blockOf(atif)), { maxBytes: 1 << 30 }));
}

/** Whether the document is held back and not here: a published one that is missing is not `unseen` but a fault. */
export async function isUnseen({ atif }: Document, reader: Reader): Promise<boolean> {
  return typeof atif === 'string' && !(await reader.has(blockOf(atif)));
}
