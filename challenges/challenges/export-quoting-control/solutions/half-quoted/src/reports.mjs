import { berthNames } from './berths.mjs';
import { nights } from './dates.mjs';
import { text } from './refusal.mjs';

function stays(state, wanted) {
  const inside = new Set(wanted);
  const kept = [...state.bookings.values()].filter((booking) => booking.status !== 'cancelled');
  return kept
    .map((booking) => ({
      booking,
      nights: nights(booking.from, booking.to).filter((night) => inside.has(night)),
    }))
    .filter((stay) => stay.nights.length > 0);
}

function occupancy({ state }, request) {
  const wanted = nights(text(request, 'from'), text(request, 'to'));
  const taken = stays(state, wanted).reduce((count, stay) => count + stay.nights.length, 0);
  return { nights: wanted.length * berthNames().length, taken };
}

const COLUMNS = ['booking', 'boat', 'owner', 'berth', 'from', 'to', 'nights'];

/** A field with a comma goes into quotes. */
const field = (value) => (String(value).includes(',') ? `"${value}"` : value);

/** The stays that touch a period, as CSV for the tax office: a head, then one line a stay. */
function csv({ state }, request) {
  const wanted = nights(text(request, 'from'), text(request, 'to'));
  const rows = stays(state, wanted).map(({ booking, nights: within }) => [
    booking.id,
    booking.boat,
    booking.owner,
    booking.berth,
    booking.from,
    booking.to,
    within.length,
  ]);
  return { csv: [COLUMNS, ...rows].map((row) => `${row.map(field).join(',')}\n`).join('') };
}

export const commands = { occupancy, export: csv };
