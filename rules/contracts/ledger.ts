/** `ledger`: money reserved before a request is forwarded, and what was booked for it. */
import { z } from 'zod';
import { deepFreeze } from '../../store/format/codec.ts';
import { evidence, link, micros } from './kit.ts';

const reservation = z.strictObject({
  kind: z.literal('ledger'),
  v: z.literal(1),
  entry: z.literal('reservation'),
  start: link('start'),
  sequence: z.int().min(1),
  request: evidence(),
  /** The worst case of this request. */
  micros: micros(),
});
const booking = z.strictObject({
  kind: z.literal('ledger'),
  v: z.literal(1),
  entry: z.literal('booking'),
  reservation: link('ledger'),
  micros: micros(),
  /** From the usage that came back, or the worst case where none did. */
  basis: z.enum(['usage', 'worst-case']),
});

export const ledger = z.union([reservation, booking]).overwrite(deepFreeze);
export type Ledger = z.infer<typeof ledger>;
export type Reservation = z.infer<typeof reservation>;
export type Booking = z.infer<typeof booking>;
