import { appendFileSync, existsSync, readFileSync } from 'node:fs';

/**
 * What happened, in order. With a file, every event is one line of it; events are never changed,
 * so a correction is one more event.
 */
export function openStore(file) {
  const events =
    file === undefined || !existsSync(file)
      ? []
      : readFileSync(file, 'utf8')
          .split('\n')
          .filter((line) => line !== '')
          .map((line) => JSON.parse(line));
  return {
    events,
    append(event) {
      if (file !== undefined) appendFileSync(file, `${JSON.stringify(event)}\n`);
      events.push(event);
    },
  };
}
