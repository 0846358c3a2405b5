/**
 * How many subsets of weights have each sum, for all sums up to a limit: the dense method (Streitberg and Roehmel's shift
 * algorithm) modulo coprime numbers, put together by the Chinese remainder theorem.
 * Promises: exact counts, because there are fewer than 2^k subsets and the moduli multiply to more than that.
 * Does not promise: small memory; `denseCost` says what a question costs.
 */

/** Moduli are just below 2^41, so residues may double twelve times before a double stops being exact. */
const TOP = 2 ** 41;
const BITS = 40.99;
const DOUBLINGS = 12;
/** Residues that may be held at a time, 8 bytes each. */
const MAX_CELLS = 3e7;

export interface SubsetCounts {
  /** Subsets with a sum of at most `sum`, 0 <= sum <= limit. */
  readonly upTo: (sum: number) => bigint;
}

/** Additions that a question costs, about a nanosecond each; Infinity where memory would not do. */
export function denseCost(weights: readonly number[], limit: number): number {
  const planes = moduliCount(weights.length);
  if (!(planes * (limit + 1) <= MAX_CELLS)) return Number.POSITIVE_INFINITY;
  let cost = 0;
  let reach = 0;
  for (const weight of weights) {
    reach = Math.min(limit, reach + weight);
    cost += Math.max(0, reach - weight);
  }
  return cost * planes;
}

/** Counts for positive weights in ascending order. */
export function subsetCounts(weights: readonly number[], limit: number): SubsetCounts {
  const moduli = coprimesBelow(TOP, moduliCount(weights.length));
  const planes = moduli.map((modulus) => cumulativeCounts(weights, limit, modulus));
  const lift = remainders(moduli);
  return { upTo: (sum) => lift(planes.map((plane) => plane[sum]!)) };
}

/** Each modulus is above 2^40.99. */
function moduliCount(k: number): number {
  return Math.ceil((k + 1) / BITS);
}

/** Multiplies by (1 + x^w) one weight at a time, in place from above; then sums up. */
function cumulativeCounts(weights: readonly number[], limit: number, modulus: number): Float64Array {
  const counts = new Float64Array(limit + 1);
  counts[0] = 1;
  let reach = 0;
  for (const [index, weight] of weights.entries()) {
    reach = Math.min(limit, reach + weight);
    for (let sum = reach; sum >= weight; sum -= 1) counts[sum]! += counts[sum - weight]!;
    if (index % DOUBLINGS === DOUBLINGS - 1) reduce(counts, reach, modulus);
  }
  reduce(counts, reach, modulus);
  for (let sum = 1; sum <= limit; sum += 1) {
    const ways = counts[sum]! + counts[sum - 1]!;
    counts[sum] = ways >= modulus ? ways - modulus : ways;
  }
  return counts;
}

/** Residues of whole numbers below 2^53; the quotient may be one off, which the last step puts right. */
function reduce(counts: Float64Array, reach: number, modulus: number): void {
  const inverse_ = 1 / modulus;
  for (let sum = 0; sum <= reach; sum += 1) {
    const rest = counts[sum]! - Math.floor(counts[sum]! * inverse_) * modulus;
    counts[sum] = rest < 0 ? rest + modulus : rest >= modulus ? rest - modulus : rest;
  }
}

/** The `howMany` largest odd numbers below `top` that share no divisor with a larger one of them. */
function coprimesBelow(top: number, howMany: number): readonly number[] {
  const found: number[] = [];
  for (let candidate = top - 1; found.length < howMany; candidate -= 2)
    if (found.every((other) => commonDivisor(other, candidate) === 1)) found.push(candidate);
  return found;
}

function commonDivisor(a: number, b: number): number {
  let [x, y] = [a, b];
  while (y !== 0) [x, y] = [y, x % y];
  return x;
}

/** From residues to the one whole number below the product of the moduli (Garner's mixed radix). */
function remainders(moduli: readonly number[]): (residues: readonly number[]) => bigint {
  const products: bigint[] = [];
  const inverses: bigint[] = [];
  let product = 1n;
  for (const modulus of moduli) {
    products.push(product);
    inverses.push(inverse(product % BigInt(modulus), BigInt(modulus)));
    product *= BigInt(modulus);
  }
  return (residues) => {
    let value = 0n;
    for (const [index, residue] of residues.entries()) {
      const modulus = BigInt(moduli[index]!);
      const gap = (((BigInt(residue) - value) % modulus) + modulus) % modulus;
      value += ((gap * inverses[index]!) % modulus) * products[index]!;
    }
    return value;
  };
}

/** Inverse modulo a number without a common divisor, by Euclid. */
function inverse(value: bigint, modulus: bigint): bigint {
  let [a, b, x, y] = [modulus, value, 0n, 1n];
  while (b > 1n) [a, b, x, y] = [b, a % b, y, x - (a / b) * y];
  return ((y % modulus) + modulus) % modulus;
}
