/**
 * McNemar over tasks, both ways a reader may ask for: all pairs pooled (these tasks only), and whole tasks flipped
 * (tasks like these).
 * Promises: pPooled is the exact conditional test of a common discordant odds ratio of 1; both are always given.
 * Does not promise: a fair task weight where tasks have unequal numbers of epochs; use signFlip on means there.
 */
import { count, fields, list } from './input.ts';
import { mcnemarTest } from './mcnemar.ts';
import { signFlipOf } from './sign-flip.ts';

export interface StratifiedResult {
  readonly b: number;
  readonly c: number;
  readonly pPooled: string;
  readonly pPooledExact?: string;
  readonly nTasksNonzero: number;
  readonly pTaskFlip: string;
  readonly pTaskFlipExact: string;
}

/** {strata: [{b, c}]} -> both two-sided tests. */
export function stratifiedMcnemar(input: unknown): StratifiedResult {
  const given = fields(input, ['strata']);
  const strata = list(given.strata, 'strata').map((stratum, index) => {
    const where = `strata[${index}]`;
    const { b, c } = fields(stratum, ['b', 'c']);
    return { b: count(b, `${where}.b`), c: count(c, `${where}.c`) };
  });
  const b = strata.reduce((sum, stratum) => sum + stratum.b, 0);
  const c = strata.reduce((sum, stratum) => sum + stratum.c, 0);
  const pooled = mcnemarTest(b, c, 'two-sided');
  const differences = strata.map((stratum) => ({ num: BigInt(stratum.b - stratum.c), den: 1n }));
  const flip = signFlipOf(differences, 'two-sided');
  return {
    b,
    c,
    pPooled: pooled.p,
    ...(pooled.pExact === undefined ? {} : { pPooledExact: pooled.pExact }),
    nTasksNonzero: flip.nNonzero,
    pTaskFlip: flip.p,
    pTaskFlipExact: flip.pExact,
  };
}
