import { berthNamed } from './berths.mjs';
import { nights } from './dates.mjs';
import { Refusal, text } from './refusal.mjs';

/** The booking of that id. */
export function bookingOf(state, id) {
  const booking = state.bookings.get(id);
  if (booking === undefined) throw new Refusal('no-booking', `no such booking: ${id}`);
  return booking;
}

function refuseIfTaken(state, berth, stay) {
  const wanted = new Set(stay);
  for (const other of state.bookings.values()) {
    if (other.berth !== berth || other.status === 'cancelled') continue;
    const night = nights(other.from, other.to).find((one) => wanted.has(one));
    if (night !== undefined) throw new Refusal('taken', `${berth} is taken on ${night}`);
  }
}

function book({ state, record }, request) {
  const berth = berthNamed(text(request, 'berth'));
  const length = Number(request.length);
  if (!(length > 0)) throw new Refusal('bad-field', 'length must be in metres');
  if (length > berth.length) throw new Refusal('too-long', `${berth.name} takes up to ${berth.length} m`);
  const from = text(request, 'from');
  const to = text(request, 'to');
  refuseIfTaken(state, berth.name, nights(from, to));
  const id = `B${state.bookings.size + 1}`;
  const boat = text(request, 'boat');
  const owner = text(request, 'owner');
  record({ type: 'booked', id, boat, owner, berth: berth.name, from, to });
  return { booking: state.bookings.get(id) };
}

function cancel({ state, record }, request) {
  const booking = bookingOf(state, text(request, 'booking'));
  if (booking.status !== 'open') throw new Refusal('not-open', `${booking.id} is ${booking.status}`);
  record({ type: 'cancelled', id: booking.id });
  return { booking };
}

function list({ state }, request) {
  const all = [...state.bookings.values()];
  return { bookings: request.owner === undefined ? all : all.filter((one) => one.owner === request.owner) };
}

export const commands = { book, cancel, bookings: list };

export const events = {
  booked: (state, { id, boat, owner, berth, from, to }) =>
    state.bookings.set(id, { id, boat, owner, berth, from, to, status: 'open' }),
  cancelled: (state, { id }) => {
    state.bookings.get(id).status = 'cancelled';
  },
};
