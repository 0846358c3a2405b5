/**
 * A bound on work under way: puts run side by side so that a store can flush them together, memory stays flat.
 * Promises: at most `count` pieces and about `bytes` bytes wait at once; the first failure is thrown, once, to the
 * one who adds or ends; no rejection goes unhandled.
 * Does not promise: an order among the pieces.
 */
export interface Window {
  /**
   * Takes a piece of work of this weight; `done` gets its result. Undefined: there is room for the next; a promise:
   * there is, once it resolves.
   */
  add<T>(bytes: number, work: Promise<T>, done?: (result: T) => void): Promise<void> | undefined;
  /** Resolves when nothing is under way. */
  done(): Promise<void>;
}

export function openWindow(count = 1024, bytes = 32 << 20): Window {
  let pieces = 0;
  let held = 0;
  let failure: { readonly error: unknown } | undefined;
  let wake: (() => void) | undefined;
  const settle = (weight: number) => {
    pieces -= 1;
    held -= weight;
    wake?.();
  };
  const until = async (fits: () => boolean) => {
    while (failure === undefined && !fits()) await new Promise<void>((resolve) => (wake = resolve));
    if (failure !== undefined) throw failure.error;
  };
  return {
    add(weight, work, done) {
      pieces += 1;
      held += weight;
      work.then(
        (result) => {
          done?.(result);
          settle(weight);
        },
        (error: unknown) => {
          failure ??= { error };
          settle(weight);
        },
      );
      const full = failure !== undefined || pieces >= count || held >= bytes;
      return full ? until(() => pieces < count && held < bytes) : undefined;
    },
    done: () => until(() => pieces === 0),
  };
}
