/**
 * One comparison in words (reference: statistics, section 10). Interval ends are rounded outward, p upward; a percent
 * never stands without its count; `p > alpha` alone prints inconclusive.
 */
import type { Comparison, Design, Measured, Result } from '../contracts/summary.ts';
import { decimalOfMicros } from '../cost.ts';
import {
  printDifference,
  printHigh,
  printInterval,
  printLow,
  printP,
  printShare,
} from '../statistics/print.ts';
import { parse, type Rational } from '../statistics/rational.ts';
import { withinMargin } from '../statistics/verdict.ts';
import { type Block, type Fact, fact, facts, listed } from './document.ts';

/** The registered family around a comparison: how many, and the design of this one. */
export interface Family {
  readonly registered: number;
  readonly design: Design;
  readonly currency: string;
}

const NAMES: Readonly<Record<Comparison['test']['statistic'], string>> = {
  signFlip: 'sign flip',
  mcnemar: 'exact McNemar over pairs',
  wilcoxonSignedRank: 'exact signed rank',
  nonInferiority: 'non-inferiority by the exact interval',
};

export function standingOf(
  { standing, primary }: Pick<Comparison, 'standing' | 'primary'>,
  m: number,
): string {
  if (standing === 'exploratory') return 'not registered: exploratory';
  return `registered, ${primary ? 'primary' : 'secondary'}, 1 of ${m}`;
}

export function comparisonBlocks(each: Comparison, family: Family): Block[] {
  return [
    { type: 'heading', text: headingOf(each) },
    facts(
      fact('verdict', each.verdict),
      fact('standing', standingOf(each, family.registered)),
      fact('keys', each.keys.map((key) => key.slice(0, 12)).join(', ')),
      fact('units', unitsText(each)),
      fact('pass rate', rateText(each)),
      fact('difference', differenceText(each)),
      fact('pairs', tableText(each)),
      fact('test', testText(each, family)),
      each.test.statistic === 'signFlip'
        ? undefined
        : fact(
            'tasks',
            `sign flip over ${plural(each.flip.unit)} (tasks like these): ${resultText(each.flip)}`,
          ),
      fact('these tasks', theseTasksText(each)),
      noWorseFact(each),
      powerFact(each, family),
      fact('order', orderText(each)),
      fact('missing', missingText(each)),
      fact('stop rule', stopText(each)),
      fact('cost', costText(each, family)),
      fact('caveat', caveatText(each)),
    ),
  ];
}

/** An exploratory comparison is named by its arms already. */
const headingOf = ({ id, treatment, control }: Comparison): string =>
  id.includes(`${treatment} beside ${control}`) ? id : `${id}: ${treatment} beside ${control}`;

/**
 * What a number over pairs speaks of. Epochs of one task are not draws of tasks: only one pair a task, each task a unit of
 * its own, speaks of tasks like these.
 */
export const overPairs = ({ pairs, tasks, clusters }: Comparison): string =>
  pairs === tasks && clusters === tasks
    ? 'over pairs, one a task: tasks like these, if tasks are independent'
    : 'over pairs taken as independent: these tasks only';

const plural = (unit: Result['unit']): string => (unit === 'repository' ? 'repositories' : `${unit}s`);

/** `1 task`, `2 tasks`. */
const amount = (n: number, unit: Result['unit']): string => `${n} ${n === 1 ? unit : plural(unit)}`;

function unitsText({ tasks, clusters, pairs, stop, result, flip, test }: Comparison): string {
  const clustered = test.cluster === 'task' ? '' : ` in ${amount(clusters, test.cluster)}`;
  const informative =
    result.unit === 'pair' ? amount(flip.informative, flip.unit) : amount(result.informative, result.unit);
  return `${amount(tasks, 'task')}${clustered}, ${pairs} of ${stop.plannedPairs} planned pairs; ${informative} informative`;
}

function rateText(each: Comparison): string {
  const { treatmentRate: a, controlRate: b } = each;
  const level = percentOf(a.interval.level);
  return `${printShare(a.solved, a.runs)} and ${printShare(b.solved, b.runs)}; ${level} Clopper-Pearson ${printInterval(a.interval)} and ${printInterval(b.interval)} (${overPairs(each)})`;
}

/** 0.95 -> 95%. */
export function percentOf(level: string): string {
  const { num, den } = parse(level) as Rational;
  const exact = (num * 100n) % den === 0n;
  if (exact) return `${(num * 100n) / den}%`;
  // Not a whole percent: one place, rounded down, so that no level is overstated.
  const tenths = (num * 1000n) / den;
  return `${tenths / 10n}.${tenths % 10n}%`;
}

export function intervalText(each: Comparison): string {
  const { differenceInterval: interval } = each;
  if ('refused' in interval) return `no exact interval: ${interval.refused}`;
  return `exact ${percentOf(interval.level)} ${printInterval(interval)} (${overPairs(each)})`;
}

function differenceText(each: Comparison): string {
  const { difference, differencePairs } = each;
  const uneven = difference === differencePairs ? '' : `, ${printDifference(differencePairs)} per pair`;
  return `${printDifference(difference)} per task${uneven}; ${intervalText(each)}`;
}

const tableText = ({ table, treatment, control }: Comparison): string =>
  `both ${table.both}, ${treatment} only ${table.treatmentOnly}, ${control} only ${table.controlOnly}, neither ${table.neither}`;

function testText({ test, result, standing }: Comparison, { registered }: Family): string {
  const over =
    test.statistic === 'signFlip' || test.statistic === 'wilcoxonSignedRank'
      ? ` over ${plural(result.unit)}`
      : '';
  const zeros = test.statistic === 'wilcoxonSignedRank' ? `, zeros ${test.zeros}` : '';
  const estimand = result.unit === 'pair' ? '' : ' (tasks like these)';
  const name = `${NAMES[test.statistic]}${over}, ${test.sides}${zeros}${estimand}`;
  const holm =
    standing === 'registered' ? `; ${holmText(result, registered)}` : '; no adjusted p: not registered';
  return `${name}: ${resultText(result)}${holm}`;
}

function holmText({ adjusted }: Result, registered: number): string {
  return adjusted === null ? `Holm x${registered}: no p` : `Holm x${registered} ${printP(adjusted)}`;
}

function resultText({ p, floor, why }: Result): string {
  if (p === null) return `no p: ${why ?? 'not tested'}`;
  const least = floor === null ? '' : `, smallest possible ${printP(floor)}`;
  return `p = ${printP(p)}${least}${why === undefined ? '' : ` (${why})`}`;
}

function theseTasksText({ mcnemar, oddsRatio, table }: Comparison): string {
  const { estimate, lo, hi } = oddsRatio;
  const ratio =
    estimate === null
      ? 'no discordant pair, so no odds ratio'
      : `odds ratio ${ratioText(estimate)} ${printInterval({ lo, hi })}`;
  return `exact McNemar b=${table.treatmentOnly} c=${table.controlOnly}, p = ${printP(mcnemar.p)}; mid-p ${printP(mcnemar.midP)}; ${ratio}`;
}

function ratioText(estimate: string): string {
  const value = parse(estimate);
  if (value === undefined) return estimate;
  return value.den === 1n ? `${value.num}` : `${estimate}`;
}

function noWorseFact(each: Comparison): Fact | undefined {
  const { noWorse, test, control, pairs } = each;
  if (test.statistic !== 'nonInferiority') return undefined;
  if (noWorse === undefined) return fact('margin', 'no exact interval, so nothing is said about the margin');
  const { margin, level, lo, harmed, harmedUpper } = noWorse;
  const rejected = withinMargin(lo, margin) ? 'REJECTED' : 'not rejected';
  const inside = `"worse by ${margin} or more" is ${rejected} by the exact test at one-sided ${printP(noWorse.alpha)}: lower end of the exact ${percentOf(level)} interval ${printLow(lo)} beside -${margin}`;
  const harm = `${control} alone passed ${harmed} of ${pairs} pairs, so its rate is at most ${printHigh(harmedUpper)} (exact, one-sided, same error)`;
  return fact('margin', `${inside}; ${harm}; ${overPairs(each)}`);
}

function powerFact({ id, standing }: Comparison, { design }: Family): Fact | undefined {
  const own = standing === 'registered' ? design.tests.find((test) => test.id === id) : undefined;
  return own === undefined ? undefined : fact('power', powerText(own));
}

/** What the registered design could find. */
export function powerText({
  detectable,
  detectableHarmed,
  size,
  unit,
  note,
}: Design['tests'][number]): string {
  if (note !== undefined) return note;
  const share = (value: string | null) => (value === null ? 'no share' : wholePercent(value));
  const found = `detectable at 80%: ${share(detectable)} of ${plural(unit)} won, ${share(detectableHarmed)} if 5% are lost`;
  return size === null ? found : `${found}; actual size ${printP(size)}`;
}

/** One line of a design: what a registration prints. */
export function designText(test: Design['tests'][number]): string {
  const { tasks, units, pairs, unit, floor, threshold, reaches } = test;
  const least = floor === null ? 'no p' : `smallest p ${printP(floor)}`;
  const reach = reaches ? 'reachable' : 'NOT REACHABLE';
  return `${amount(tasks, 'task')}, ${amount(pairs, 'pair')}, tested over ${amount(units, unit)}; ${least} beside ${printP(threshold)}: ${reach}; ${powerText(test)}`;
}

function wholePercent(rate: string): string {
  const { num, den } = parse(rate) as Rational;
  return `${(num * 100n + den - 1n) / den}%`;
}

function orderText({ order }: Comparison): string {
  return `of the discordant pairs the arm that ran first passed ${order.firstWon}, the later one ${order.secondWon}; sign test p = ${printP(order.p)}`;
}

function missingText({ missing, treatment, control }: Comparison): string {
  if (missing.pairs === 0) return 'nothing';
  const { range } = missing;
  const why = `${treatment} (${listed(missing.treatment)}), ${control} (${listed(missing.control)})`;
  const between =
    range === null ? '' : `; had they gone each way the difference lies in ${printInterval(range)}`;
  return `${missing.pairs} planned ${missing.pairs === 1 ? 'pair' : 'pairs'}: ${why}${between}`;
}

const DECISIONS: Readonly<Record<Comparison['stop']['decision'], string>> = {
  complete: 'every planned pair is there',
  incomplete: 'planned pairs are missing, and no rule allowed to stop early',
  'stop-reject':
    'stopped: the boundary is crossed. The plain estimate is biased away from zero after an early stop',
  'stop-no-reject': 'stopped: no completion could reject',
  continue: 'not yet allowed to stop',
  'not-a-look': 'this number of discordant pairs is no registered look',
};

function stopText({ stop }: Comparison): string {
  const { rule, plannedPairs, completedPairs, discordant, decision, cumulative } = stop;
  const spent =
    rule === 'spending' ? `; exact type I error by look ${cumulative.map(printP).join(', ')}` : '';
  return `${rule}, ${completedPairs} of ${plannedPairs} pairs, ${discordant} discordant: ${DECISIONS[decision]}${spent}`;
}

function costText({ treatmentResources: a, controlResources: b }: Comparison, { currency }: Family): string {
  const one = ({ micros, perSolved, tokens, seconds }: typeof a) =>
    `${decimalOfMicros(micros)} ${currency}, ${perSolvedText(perSolved, currency)}, ${tokens} tokens, ${seconds} s`;
  return `${one(a)} beside ${one(b)} (totals over these pairs; exploratory)`;
}

/** Money for each solved run, rounded up to a millionth. */
export function perSolvedText(perSolved: string | null, currency: string): string {
  if (perSolved === null) return 'none solved';
  const { num, den } = parse(perSolved) as Rational;
  return `${decimalOfMicros(Number((num + den - 1n) / den))} ${currency} per solved run`;
}

function caveatText({ test, clusters, tasks }: Comparison): string {
  const cluster =
    test.cluster === 'task'
      ? 'tasks are taken as independent'
      : `${amount(tasks, 'task')} on ${amount(clusters, test.cluster)}: units of the test are ${plural(test.cluster)}`;
  return `exact if swapping the arms' labels within a unit changes nothing; ${cluster}`;
}

const missingPairs = ({ pairs, treatment, control }: Measured['missing']): string =>
  pairs === 0
    ? 'nothing'
    : `${pairs} planned ${pairs === 1 ? 'pair' : 'pairs'}: treatment (${listed(treatment)}), control (${listed(control)})`;

export function measuredBlocks(each: Measured, { registered, currency }: Family): Block[] {
  const unit =
    each.test.measure === 'cost' ? ` ${currency}` : each.test.measure === 'seconds' ? ' s' : ' tokens';
  const mean = (value: string | null) => (value === null ? 'no data' : `${printLow(value)}${unit}`);
  const { hodgesLehmann: shift } = each;
  const location =
    'refused' in shift
      ? shift.refused
      : `Hodges-Lehmann ${printLow(shift.estimate)}${unit} ${shift.lo === null || shift.hi === null ? 'and no interval at this level from so few units' : printInterval({ lo: shift.lo, hi: shift.hi })}`;
  return [
    { type: 'heading', text: `${each.id}: ${each.test.measure}, ${each.treatment} beside ${each.control}` },
    facts(
      fact('verdict', each.verdict),
      fact('standing', standingOf(each, registered)),
      fact(
        'units',
        `${amount(each.tasks, 'task')}, ${each.test.cluster === 'task' ? '' : `${amount(each.clusters, each.test.cluster)}, `}${amount(each.pairs, 'pair')}`,
      ),
      fact('means', `${mean(each.treatmentMean)} and ${mean(each.controlMean)}`),
      fact('difference', location),
      fact(
        'test',
        `${NAMES[each.test.statistic]}, ${each.test.sides}: ${resultText(each.result)}; ${holmText(each.result, registered)}`,
      ),
      fact('missing', missingPairs(each.missing)),
    ),
  ];
}
