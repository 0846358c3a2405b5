/**
 * Everything that is wrong, in one pass: faults are gathered and then thrown as one.
 * Promises: a fault of ours (not an AshlarError) is never gathered.
 */
import { AshlarError, type ErrorCode, fail, isFault } from '../../store/format/errors.ts';

export interface Gathered {
  /** What the step gives, or undefined where it had a fault, which is kept. */
  of<T>(step: () => Promise<T> | T): Promise<T | undefined>;
  add(code: ErrorCode, data: AshlarError['data']): void;
  readonly none: boolean;
  /** Throws the one fault, or all of them as one: under their code where they share it, else as E_GATE. */
  refuse(where: string, wanted: string): void;
}

export function gatherFaults(): Gathered {
  const all: AshlarError[] = [];
  return {
    async of(step) {
      try {
        return await step();
      } catch (error) {
        if (!isFault(error)) throw error;
        all.push(error);
        return undefined;
      }
    },
    add: (code, data) => void all.push(new AshlarError(code, data)),
    get none() {
      return all.length === 0;
    },
    refuse(where, wanted) {
      const [first, ...more] = all;
      if (first === undefined) return;
      if (more.length === 0) throw first;
      const code = more.every((each) => each.code === first.code) ? first.code : 'E_GATE';
      const found = `${all.length} problems\n${all.map(({ message }) => `  ${message}`).join('\n')}`;
      fail(code, { where, wanted, found });
    },
  };
}
