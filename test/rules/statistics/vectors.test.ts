import { readFileSync } from 'node:fs';
import t from 'tap';
import { statistics } from '../../../rules/statistics/index.ts';
import {
  absolute,
  compare,
  parse,
  type Rational,
  rational,
  subtract,
} from '../../../rules/statistics/rational.ts';

// Reference values from programs that are not ours (R, exact2x2, exactRankTests, coin, scipy, mpmath, brute force).
interface Case {
  readonly id: string;
  readonly function: string;
  readonly input: unknown;
  readonly expected: unknown;
  readonly tolerance: 'exact' | { readonly rel: number } | { readonly abs: number };
}

const file = new URL('../../../../test/vectors/cases/stats.json', import.meta.url);
const { cases, meta } = JSON.parse(readFileSync(file, 'utf8')) as { cases: Case[]; meta: { count: number } };
const table: Record<string, (input: unknown) => unknown> = statistics;

/** Whether two decimals agree, compared as rationals of any size. */
function near(found: string, wanted: string, tolerance: Case['tolerance']): boolean {
  const [a, b] = [parse(found), parse(wanted)];
  if (a === undefined || b === undefined) return found === wanted;
  const difference = subtract(a, b);
  const limit = (value: number | string): Rational => parse(String(value))!;
  const size = { num: absolute(difference.num), den: difference.den };
  if (tolerance !== 'exact' && 'abs' in tolerance) return compare(size, limit(tolerance.abs)) <= 0;
  const { num, den } = limit(tolerance === 'exact' ? '1e-15' : tolerance.rel);
  return compare(size, rational(num * absolute(b.num), den * b.den)) <= 0;
}

function agrees(found: unknown, wanted: unknown, tolerance: Case['tolerance'], exact: boolean): boolean {
  if (Array.isArray(wanted))
    return (
      Array.isArray(found) &&
      found.length === wanted.length &&
      wanted.every((item, index) => agrees(found[index], item, tolerance, exact))
    );
  if (typeof wanted === 'object' && wanted !== null)
    return Object.entries(wanted).every(([key, value]) =>
      agrees((found as Record<string, unknown> | null)?.[key], value, tolerance, key.endsWith('Exact')),
    );
  if (typeof wanted !== 'string' || exact) return found === wanted;
  return typeof found === 'string' && near(found, wanted, tolerance);
}

t.equal(cases.length, meta.count, 'the vector file is whole');
for (const name of new Set(cases.map((item) => item.function))) {
  t.test(`${name} gives the reference values`, async (t) => {
    for (const { id, input, expected, tolerance } of cases.filter((item) => item.function === name)) {
      const found = table[name]?.(input);
      if (!agrees(found, expected, tolerance, false)) t.match(found, expected as object, id);
      else t.pass(id);
    }
  });
}
