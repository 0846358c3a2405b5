/**
 * What a registered design can find, before any run: the floor of p, the smallest effect with 80% power, the true size.
 * Promises: a pure function of the registration and of which task hangs on what; the `study` verb, the gate that
 * freezes a study and the summary print the same numbers.
 * Does not promise: an effect; nothing here has seen an outcome.
 * Model: units (clusters, or pairs for McNemar) are won, lost or drawn independently (reference: statistics, section 6).
 */
import type { RegisteredTest, Study } from '../contracts/study.ts';
import type { Design } from '../contracts/summary.ts';
import { LEAST_ATTEMPTS } from '../statistics/gate.ts';
import { pairedDifferenceExact } from '../statistics/paired-difference-exact.ts';
import { mcnemarMde, mcnemarPower } from '../statistics/power.ts';
import { multiply, parse, print, type Rational } from '../statistics/rational.ts';
import { sequentialBoundary } from '../statistics/sequential.ts';
import { withinMargin } from '../statistics/verdict.ts';
import { atMost, exactly, floorOfSides, levelOf, thresholdOf } from './sides.ts';

/** A planned task. `lesson` and `repository` are labels that tasks hanging on one thing share. */
export interface DesignTask {
  readonly challenge: string;
  readonly taskFamily: string;
  readonly arms: readonly string[];
  readonly lesson: string;
  readonly repository: string;
}

export type DesignStudy = Pick<Study, 'tests' | 'holmSize' | 'alpha' | 'powerOverride' | 'epochs' | 'stop'>;
type TestDesign = Design['tests'][number];

const TWO: Rational = { num: 2n, den: 1n };
const POWER = '0.8';

/** The design of every registered test. Each task counts once, whatever the number of agents. */
export function designOf(study: DesignStudy, tasks: readonly DesignTask[]): Design {
  const registered = registeredSize(study);
  const distinct = [...new Map(tasks.map((task) => [task.challenge, task])).values()];
  const power = openPower();
  const tests = study.tests.map((test) => testDesign(test, study, distinct, power));
  return {
    alpha: study.alpha,
    registered,
    powerOverride: study.powerOverride,
    reaches: tests.every(({ reaches }) => reaches),
    tests,
  };
}

/** m of Holm: the registered size, never below the number of registered tests. */
export const registeredSize = ({ holmSize, tests }: Pick<Study, 'holmSize' | 'tests'>): number =>
  Math.max(holmSize, tests.length);

/** The label of a task's cluster under a registered cluster field. */
export function clusterOf(
  task: Pick<DesignTask, 'challenge' | 'lesson' | 'repository'>,
  cluster: RegisteredTest['cluster'],
): string {
  return cluster === 'task' ? task.challenge : task[cluster];
}

function testDesign(
  test: RegisteredTest,
  study: DesignStudy,
  tasks: readonly DesignTask[],
  power: PowerOf,
): TestDesign {
  const own = tasks.filter(
    ({ taskFamily, arms }) =>
      (test.families.length === 0 || test.families.includes(taskFamily)) &&
      arms.includes(test.treatment) &&
      arms.includes(test.control),
  );
  const pairs = own.length * study.epochs;
  const threshold = thresholdOf(study.alpha, registeredSize(study));
  const byPair = test.statistic === 'mcnemar' || test.statistic === 'nonInferiority';
  const clusters = new Set(own.map((task) => clusterOf(task, test.cluster))).size;
  const size = {
    id: test.id,
    unit: byPair ? ('pair' as const) : test.cluster,
    tasks: own.length,
    units: byPair ? pairs : clusters,
    pairs,
    threshold: print(threshold),
  };
  return { ...size, ...reachOf(test, study, { size, threshold, power }) };
}

type Size = Pick<TestDesign, 'units' | 'pairs'>;
type Reach = Omit<TestDesign, 'id' | 'unit' | 'tasks' | 'units' | 'pairs' | 'threshold'>;

interface Bounds {
  readonly size: Size;
  readonly threshold: Rational;
  readonly power: PowerOf;
}

function reachOf(test: RegisteredTest, study: DesignStudy, { size, threshold, power: of }: Bounds): Reach {
  if (test.statistic === 'nonInferiority') return marginReach(test, size, threshold);
  if (test.measure !== 'reward' && size.pairs < LEAST_ATTEMPTS) {
    return { ...NOTHING, note: `a continuous measure has no p below ${LEAST_ATTEMPTS} paired attempts` };
  }
  const power = of(size.units, test.sides, threshold);
  if (test.measure === 'reward' && study.stop.rule === 'spending')
    return { ...power, ...spendingReach(study.stop, size, threshold) };
  const floor = floorOfSides(size.units, test.sides);
  return { floor: print(floor), reaches: atMost(floor, threshold), ...power };
}

const NOTHING = { floor: null, reaches: false, detectable: null, detectableHarmed: null, size: null };

/** The level of a non-inferiority interval: its one-sided error is the threshold (two-sided: half of it). */
export function marginLevel(sides: RegisteredTest['sides'], threshold: Rational): string {
  return levelOf(sides === 'two-sided' ? threshold : multiply(threshold, TWO));
}

function marginReach(test: RegisteredTest, { pairs }: Size, threshold: Rational): Reach {
  const level = marginLevel(test.sides, threshold);
  const best = exactly(() => pairedDifferenceExact({ b: 0, c: 0, n: pairs, level }));
  if ('refused' in best) return { ...NOTHING, note: best.refused };
  const margin = test.margin ?? '0';
  const reaches = withinMargin(best.lo, margin);
  const word = reaches ? 'can' : 'cannot';
  const note = `if no pair differs the lower end is ${best.lo}: it ${word} support a margin of ${margin}`;
  return { ...NOTHING, reaches, note };
}

type Power = Pick<Reach, 'detectable' | 'detectableHarmed' | 'size'>;

type PowerOf = (units: number, sides: RegisteredTest['sides'], threshold: Rational) => Power;

/** Tests of equal size have equal power: it is computed once. */
function openPower(): PowerOf {
  const known = new Map<string, Power>();
  return (units, sides, threshold) => {
    const name = `${units} ${sides} ${print(threshold)}`;
    const found = known.get(name) ?? powerOf(units, sides, threshold);
    known.set(name, found);
    return found;
  };
}

function powerOf(pairs: number, sides: RegisteredTest['sides'], threshold: Rational): Power {
  // A test that looks for losses is the mirror of one that looks for wins.
  const alternative = sides === 'less' ? 'greater' : sides;
  const alpha = print(threshold);
  const found = exactly(() => ({
    detectable: mcnemarMde({ pairs, p01: 0, alpha, power: POWER, alternative }).p10Exact,
    detectableHarmed: mcnemarMde({ pairs, p01: '0.05', alpha, power: POWER, alternative }).p10Exact,
    size: mcnemarPower({ pairs, p10: '0.1', p01: '0.1', alpha, alternative }).rejectAny,
  }));
  return 'refused' in found ? { detectable: null, detectableHarmed: null, size: null } : found;
}

function spendingReach(
  stop: Extract<Study['stop'], { rule: 'spending' }>,
  { pairs }: Size,
  threshold: Rational,
): Pick<Reach, 'floor' | 'reaches' | 'note'> {
  const { looks, spend } = stop;
  const { upper, cumulativeExact } = sequentialBoundary({ looks, cumulativeAlpha: spend });
  const first = upper.findIndex((count, i) => count !== null && (looks[i] ?? 0) <= pairs);
  const floor = first < 0 ? undefined : parse(cumulativeExact[first] ?? '1/1');
  if (floor === undefined)
    return { floor: null, reaches: false, note: 'no registered look can stop within the planned pairs' };
  return { floor: print(floor), reaches: atMost(floor, threshold) };
}
