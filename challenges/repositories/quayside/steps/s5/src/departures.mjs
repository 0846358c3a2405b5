import { bookingOf } from './bookings.mjs';
import { dayNumber } from './dates.mjs';
import { Refusal, text } from './refusal.mjs';

/** `2025-04-13T14:20`, harbour time: the day and the minutes since midnight. */
export function moment(value) {
  const match = /^(\d{4}-\d{2}-\d{2})T([01]\d|2[0-3]):([0-5]\d)$/.exec(value);
  if (match === null) throw new Refusal('bad-time', `must look like 2025-04-13T14:20: ${value}`);
  dayNumber(match[1]);
  return { day: match[1], minutes: Number(match[2]) * 60 + Number(match[3]) };
}

function depart({ state, record }, request) {
  const booking = bookingOf(state, text(request, 'booking'));
  if (booking.status !== 'open') throw new Refusal('not-open', `${booking.id} is ${booking.status}`);
  const at = text(request, 'at');
  if (moment(at).day < booking.from) throw new Refusal('bad-time', 'left before it came');
  record({ type: 'departed', id: booking.id, at });
  return { booking };
}

export const commands = { depart };

export const events = {
  departed: (state, { id, at }) => Object.assign(state.bookings.get(id), { status: 'departed', departed: at }),
};
