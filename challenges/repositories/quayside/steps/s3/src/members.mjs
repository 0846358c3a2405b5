import { dayNumber } from './dates.mjs';
import { text } from './refusal.mjs';

function join({ state, record }, request) {
  const owner = text(request, 'owner');
  const since = text(request, 'since');
  dayNumber(since);
  record({ type: 'joined', owner, since });
  return { member: { owner, since: state.members.get(owner) } };
}

/** Whether that owner is a member of the harbour club on that day. */
export function isMember(state, owner, day) {
  const since = state.members.get(owner);
  return since !== undefined && since <= day;
}

export const commands = { join };

export const events = {
  joined: (state, { owner, since }) => state.members.set(owner, since),
};
