import { Refusal } from './refusal.mjs';

const DAY = 86_400_000;

/** A calendar day as whole days since 1970-01-01. We never use local time. */
export function dayNumber(value) {
  const match = /^(\d{4})-(\d{2})-(\d{2})$/.exec(value);
  const time = match === null ? Number.NaN : Date.UTC(Number(match[1]), Number(match[2]) - 1, Number(match[3]));
  if (Number.isNaN(time) || new Date(time).toISOString().slice(0, 10) !== value) {
    throw new Refusal('bad-date', `not a calendar day: ${value}`);
  }
  return time / DAY;
}

/** The calendar day of a day number. */
export function dayName(number) {
  return new Date(number * DAY).toISOString().slice(0, 10);
}

/** Every night of a stay, each named by the day it begins on. */
export function nights(from, to) {
  const first = dayNumber(from);
  const count = dayNumber(to) - first;
  if (count < 1) throw new Refusal('bad-stay', `a stay has at least one night: ${from} to ${to}`);
  return Array.from({ length: count }, (_, index) => dayName(first + index));
}
