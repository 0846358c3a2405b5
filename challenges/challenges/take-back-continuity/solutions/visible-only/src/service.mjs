import * as berths from './berths.mjs';
import * as bookings from './bookings.mjs';
import * as departures from './departures.mjs';
import * as invoices from './invoices.mjs';
import * as members from './members.mjs';
import * as payments from './payments.mjs';
import * as pricing from './pricing.mjs';
import { Refusal } from './refusal.mjs';
import * as reports from './reports.mjs';
import * as takebacks from './takebacks.mjs';

/** A part brings commands (what may be asked) and events (what they leave behind). */
const parts = [berths, bookings, members, pricing, invoices, payments, departures, reports, takebacks];
const commands = Object.assign(Object.create(null), ...parts.map((part) => part.commands));
const events = Object.assign(Object.create(null), ...parts.map((part) => part.events ?? {}));

/** The service over a store: replays what happened, then answers requests one at a time. */
export function openService(store) {
  const state = {
    bookings: new Map(),
    members: new Map(),
    invoices: new Map(),
    payments: [],
    takebacks: [],
    ledger: [],
  };
  const apply = (event) => events[event.type](state, event);
  const record = (event) => {
    store.append(event);
    apply(event);
  };
  for (const event of store.events) apply(event);
  return {
    handle(request) {
      try {
        const command = commands[request?.cmd];
        if (command === undefined) throw new Refusal('no-command', `no such command: ${request?.cmd}`);
        return { ok: true, ...command({ state, record }, request) };
      } catch (error) {
        if (!(error instanceof Refusal)) throw error;
        return { ok: false, code: error.code, message: error.message };
      }
    },
  };
}
