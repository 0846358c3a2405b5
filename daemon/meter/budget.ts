/**
 * What is already spent or promised, in memory, for the runs that share one purse.
 * Promises: the sum of booked and held amounts never passes a cap by taking; taking is atomic (no await inside).
 * Does not promise: to survive the process; the ledger records do, and open it again with what they say.
 */
import { brokenCap, type Cap, type Caps } from '../../rules/cost.ts';

/** One arm's view: its own run, and the stage and total it shares. Amounts are whole micro-units. */
export interface RunBudget {
  /** Holds `worst`, or says which cap forbids it and holds nothing. */
  take(worst: number): Cap | undefined;
  /** Turns a hold into what it really cost. */
  settle(worst: number, cost: number): void;
  /** Booked and held. */
  committed(): Caps;
}

export interface Budget {
  /** The purse of one run, of which `spent` is booked already. */
  run(cap: number, spent?: number): RunBudget;
}

/** `spent`: what the ledger says was booked before, holds of dead processes at their worst case. */
export function openBudget({
  caps,
  spent,
}: {
  caps: Pick<Caps, 'stage' | 'total'>;
  spent: Pick<Caps, 'stage' | 'total'>;
}): Budget {
  const shared = { stage: spent.stage, total: spent.total };
  return {
    run(cap, before = 0) {
      let own = before;
      const add = (amount: number) => {
        own += amount;
        shared.stage += amount;
        shared.total += amount;
      };
      const committed = (): Caps => ({ run: own, ...shared });
      return {
        committed,
        take(worst) {
          const broken = brokenCap(worst, committed(), { run: cap, ...caps });
          if (broken === undefined) add(worst);
          return broken;
        },
        settle: (worst, cost) => add(cost - worst),
      };
    },
  };
}
