import { Refusal } from './refusal.mjs';

/** Outside, money is a text in euros with two digits; inside, it is whole cents. */
export function cents(value, field = 'amount') {
  const match = /^(\d{1,7})\.(\d{2})$/.exec(String(value));
  if (match === null) throw new Refusal('bad-amount', `${field} must look like 12.50`);
  return Number(match[1]) * 100 + Number(match[2]);
}

/** Cents as a text in euros. */
export function euros(amount) {
  const whole = Math.trunc(Math.abs(amount) / 100);
  return `${amount < 0 ? '-' : ''}${whole}.${String(Math.abs(amount) % 100).padStart(2, '0')}`;
}

/** So many thousandths of an amount, rounded to the nearest cent, halves up. */
export function share(amount, thousandths) {
  return Math.floor((amount * thousandths + 500) / 1000);
}

export const sum = (amounts) => amounts.reduce((total, amount) => total + amount, 0);
