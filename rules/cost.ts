/**
 * What a model call costs, in whole millionths ("micros") of the price table's currency.
 * Promises: exact integer arithmetic with one rounding, upwards, per exchange.
 * Does not promise: that a vendor bills by this table; the table is what a study registered.
 */
import { fail } from '../store/format/errors.ts';

/** Micros for one million tokens. Cached input costs like other input where nothing is said. */
export interface Price {
  readonly inputMicros: number;
  readonly outputMicros: number;
  readonly cacheReadMicros?: number;
  readonly cacheWriteMicros?: number;
}

/** Tokens of one exchange, as the upstream counted them. The three input numbers do not overlap. */
export interface Usage {
  readonly input: number;
  readonly output: number;
  readonly cacheRead: number;
  readonly cacheWrite: number;
}

/** The three ceilings, in micros. */
export interface Caps {
  readonly run: number;
  readonly stage: number;
  readonly total: number;
}
export type Cap = keyof Caps;

/** Tokens an upstream may add to a request by itself (its own tool instructions); part of every worst case. */
export const UPSTREAM_OVERHEAD_TOKENS = 2048;

const MILLION = 1_000_000n;
const DECIMAL = /^(0|[1-9][0-9]{0,8})(?:\.([0-9]{1,6}))?$/;

/** '12.5' -> 12500000. Throws E_CONFIG for anything but a plain non-negative decimal of at most 6 places. */
export function microsOf(decimal: string): number {
  const match = DECIMAL.exec(decimal);
  if (match === null) {
    fail('E_CONFIG', { where: 'amount', wanted: 'a decimal with at most 6 places', found: decimal });
  }
  return Number(match[1]) * 1_000_000 + Number((match[2] ?? '').padEnd(6, '0'));
}

/** 12500000 -> '12.5', without trailing zeros. */
export function decimalOfMicros(micros: number): string {
  const value = BigInt(micros);
  const size = value < 0n ? -value : value;
  const places = (size % MILLION).toString().padStart(6, '0').replace(/0+$/, '');
  return `${value < 0n ? '-' : ''}${size / MILLION}${places === '' ? '' : `.${places}`}`;
}

/** The cost of `usage` in micros, rounded up. Throws E_BUDGET beyond 2^53-1. */
export function costOf(usage: Usage, price: Price): number {
  return rounded([
    { tokens: usage.input, each: price.inputMicros },
    { tokens: usage.output, each: price.outputMicros },
    { tokens: usage.cacheRead, each: price.cacheReadMicros ?? price.inputMicros },
    { tokens: usage.cacheWrite, each: price.cacheWriteMicros ?? price.inputMicros },
  ]);
}

/**
 * No exchange of this request can cost more: a token is at least one byte, every input token is taken at the dearest
 * input price, and the answer is as long as it may be. Micros, rounded up.
 */
export function worstCaseOf(request: { bytes: number; maxTokens: number }, price: Price): number {
  const { inputMicros, cacheReadMicros = 0, cacheWriteMicros = 0 } = price;
  return rounded([
    {
      tokens: request.bytes + UPSTREAM_OVERHEAD_TOKENS,
      each: Math.max(inputMicros, cacheReadMicros, cacheWriteMicros),
    },
    { tokens: request.maxTokens, each: price.outputMicros },
  ]);
}

function rounded(parts: readonly { tokens: number; each: number }[]): number {
  let sum = 0n;
  for (const { tokens, each } of parts) sum += BigInt(tokens) * BigInt(each);
  const cost = Number((sum + MILLION - 1n) / MILLION);
  if (!Number.isSafeInteger(cost)) fail('E_BUDGET', { wanted: 'a cost below 2^53 micros', found: `${cost}` });
  return cost;
}

/**
 * The first cap that `cost` would break on top of what is `committed` (booked and still reserved), or nothing. The
 * run's own cap is asked first: it would stop this run whatever the others say. What costs nothing breaks no cap, even
 * one that others have overdrawn.
 */
export function brokenCap(cost: number, committed: Caps, caps: Caps): Cap | undefined {
  const order: readonly Cap[] = ['run', 'stage', 'total'];
  return order.find((cap) => cost > 0 && committed[cap] + cost > caps[cap]);
}
