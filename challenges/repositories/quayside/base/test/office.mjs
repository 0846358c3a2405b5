import { openService } from '../src/service.mjs';
import { openStore } from '../src/store.mjs';

/** A service without a file, and a short way to ask it. */
export function office(store = openStore()) {
  const service = openService(store);
  return (cmd, fields = {}) => service.handle({ cmd, ...fields });
}

export const STAY = { boat: 'Alma', owner: 'Ines Roth', berth: 'E1', from: '2025-04-10', to: '2025-04-13', length: 11 };
