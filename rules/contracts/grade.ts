/** `grade`: delivery, use and outcome of one receipt, side by side. None implies another. */
import { z } from 'zod';
import { derived, id, link, positive } from './kit.ts';
import { status } from './receipt.ts';

export const grade = derived('grade', {
  receipt: link('receipt'),
  delivery: link('delivery'),
  use: link('use'),
  outcome: link('outcome'),
  arm: id(),
  epoch: positive(),
  attempt: positive(),
  status,
  delivered: z.boolean(),
  used: z.boolean(),
  /** Absent where the status has no outcome. */
  reward: z.union([z.literal(0), z.literal(1)]).exactOptional(),
});
export type Grade = z.infer<typeof grade>;
