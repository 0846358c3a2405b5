/**
 * What a registration must hold before it is frozen: tests that fit the study, and a design that can reach its alpha.
 * Promises: every problem is found in one look; nothing is repaired.
 */
import { fail } from '../../store/format/errors.ts';
import type { RegisteredTest } from '../contracts/study.ts';
import type { Design } from '../contracts/summary.ts';
import { compare, parse, type Rational, ZERO } from '../statistics/rational.ts';
import { type DesignStudy, type DesignTask, designOf } from './design.ts';
import { alphaOf } from './sides.ts';

/** Every way in which the registered tests contradict themselves or the tasks; empty where none does. */
export function registrationProblems(study: DesignStudy, tasks: readonly DesignTask[]): string[] {
  const ids = study.tests.map(({ id }) => id);
  const alpha = alphaOf(study.alpha);
  return [
    ...(compare(alpha, ZERO) > 0 && 2n * alpha.num < alpha.den
      ? []
      : [`alpha ${study.alpha} is not in (0, 1/2)`]),
    ...ids.filter((id, i) => ids.indexOf(id) !== i).map((id) => `two tests are called ${id}`),
    ...(study.holmSize < ids.length ? [`holmSize ${study.holmSize} is below the ${ids.length} tests`] : []),
    ...study.tests.flatMap((test) => testProblems(test, tasks).map((text) => `${test.id}: ${text}`)),
    ...stopProblems(study),
  ];
}

function testProblems(test: RegisteredTest, tasks: readonly DesignTask[]): string[] {
  const { treatment, control, statistic, measure, margin, sides } = test;
  const both = tasks.filter(
    ({ arms, taskFamily }) =>
      arms.includes(treatment) &&
      arms.includes(control) &&
      (test.families.length === 0 || test.families.includes(taskFamily)),
  );
  const positive = margin !== undefined && compare(parse(margin) as Rational, ZERO) > 0;
  return [
    ...(treatment === control ? ['an arm is compared with itself'] : []),
    ...(both.length === 0 ? [`no task of its families has both ${treatment} and ${control}`] : []),
    ...(statistic === 'nonInferiority' && !positive ? ['a non-inferiority test needs a margin above 0'] : []),
    ...(statistic === 'nonInferiority' && sides === 'less' ? ['a non-inferiority test looks upward'] : []),
    ...(statistic !== 'nonInferiority' && margin !== undefined
      ? ['only a non-inferiority test has a margin']
      : []),
    ...((statistic === 'mcnemar' || statistic === 'nonInferiority') && measure !== 'reward'
      ? [`${statistic} is for the reward`]
      : []),
  ];
}

function stopProblems({ stop, tests }: DesignStudy): string[] {
  if (stop.rule === 'fixed') return [];
  const other = tests.filter(({ measure, statistic }) => measure === 'reward' && statistic !== 'mcnemar');
  const counted = other.map(({ id }) => `${id}: stop rule ${stop.rule} counts pairs, so its test is mcnemar`);
  if (stop.rule === 'curtailment') return counted;
  const twoSided = tests.filter(({ measure, sides }) => measure === 'reward' && sides !== 'two-sided');
  return [
    ...counted,
    ...twoSided.map(({ id }) => `${id}: the spending boundary is two-sided`),
    ...(stop.spend.length === stop.looks.length ? [] : ['spend needs one value for each look']),
    ...(stop.looks.every((look, i) => i === 0 || look > (stop.looks[i - 1] ?? 0))
      ? []
      : ['looks must ascend']),
  ];
}

/**
 * The gate of a registration: gives its design. Throws E_DESIGN with every problem, or where a test cannot reach its
 * own threshold and the study does not say `powerOverride`.
 */
export function admitDesign(study: DesignStudy, tasks: readonly DesignTask[]): Design {
  const problems = registrationProblems(study, tasks);
  if (problems.length > 0)
    fail('E_DESIGN', { wanted: 'a registration without contradictions', found: problems.join('; ') });
  const design = designOf(study, tasks);
  const [short] = design.tests.filter(({ reaches }) => !reaches);
  if (short !== undefined && !study.powerOverride) {
    const { id, units, unit, floor, threshold, note } = short;
    fail('E_DESIGN', {
      where: `test ${id}`,
      wanted: `p <= ${threshold} to be possible`,
      found: note ?? `${units} units (${unit}) give p >= ${floor}`,
      hint: 'More tasks, fewer registered tests, or powerOverride: true, which every report will show',
    });
  }
  return design;
}
