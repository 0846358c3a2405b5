/**
 * New records of a store at the other end of an API, as calls.
 * Promises: one connection however many listen; it keeps no process alive and is made again when it ends.
 * Does not promise: one call a batch: a listener may be called when there is nothing new.
 */
import { type Connection, lines } from './http.ts';

export interface News {
  onRecords(listener: () => void): () => void;
  close(): void;
}

/** Between two connections (milliseconds). */
const PAUSE = 1000;

export function remoteNews(connection: Connection): News {
  const listeners = new Set<() => void>();
  let listening = false;
  let drop: () => void = () => undefined;
  const told = () => {
    for (const listener of listeners) listener();
  };
  const listen = async () => {
    while (listeners.size > 0) {
      try {
        const answer = await connection.call({ path: '/v1/events', patience: 0, background: true });
        drop = answer.drop;
        for await (const line of lines(answer.body)) if (line.toString() === 'event: news') told();
      } catch {
        // The other side ended or is not there; whoever writes will hear of it.
      }
      if (listeners.size > 0) await new Promise<void>((resolve) => void setTimeout(resolve, PAUSE).unref());
    }
    listening = false;
  };
  return {
    onRecords(listener) {
      listeners.add(listener);
      if (!listening) {
        listening = true;
        void listen();
      }
      return () => {
        listeners.delete(listener);
        if (listeners.size === 0) drop();
      };
    },
    close() {
      listeners.clear();
      drop();
    },
  };
}
