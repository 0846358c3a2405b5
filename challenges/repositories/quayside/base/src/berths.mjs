import { Refusal } from './refusal.mjs';

const BERTHS = [
  { name: 'N1', class: 'A', length: 8 },
  { name: 'N2', class: 'A', length: 8 },
  { name: 'E1', class: 'B', length: 12 },
  { name: 'E2', class: 'B', length: 12 },
  { name: 'S1', class: 'C', length: 18 },
];

/** The berth of that name. */
export function berthNamed(name) {
  const berth = BERTHS.find((one) => one.name === name);
  if (berth === undefined) throw new Refusal('no-berth', `no such berth: ${name}`);
  return berth;
}

export const commands = {
  berths: () => ({ berths: BERTHS }),
};
