/**
 * What a report says, in order: how it came about before what came out, and what it cannot say at the end.
 * Promises: every number comes from the summary or a record below it (DESIGN section 6, what a report always prints);
 * delivery, use and outcome are three columns beside the control's, and none is said to follow from another.
 */
import { printPath } from '../../store/format/tree.ts';
import type { Claim } from '../contracts/claim.ts';
import type { Close } from '../contracts/close.ts';
import type { Full } from '../contracts/kit.ts';
import type { Redaction } from '../contracts/redaction.ts';
import type { Start } from '../contracts/start.ts';
import type { Study } from '../contracts/study.ts';
import type { Comparison, Summary } from '../contracts/summary.ts';
import { decimalOfMicros } from '../cost.ts';
import { full, type Input } from '../rule.ts';
import { printDifference, printInterval, printP, printShare } from '../statistics/print.ts';
import { comparisonBlocks, type Family, measuredBlocks, perSolvedText, powerText } from './comparison.ts';
import { type Block, type Document, fact, facts, listed, type Section, table, words } from './document.ts';
import { forestFigure } from './figures/forest.ts';
import { matrixFigure } from './figures/matrix.ts';
import { trendFigure } from './figures/trend.ts';

export interface ReportInputs {
  readonly close: Input<Close>;
  readonly summary: Input<Summary>;
  readonly study: Input<Study>;
  readonly redactions: readonly Input<Redaction>[];
  readonly starts: readonly Input<Start>[];
  readonly claims: readonly Input<Claim>[];
}

export function documentOf(inputs: ReportInputs): Document {
  const summary = full(inputs.summary);
  const { study } = inputs;
  const family: Family = {
    registered: summary.multiplicity.registered,
    design: summary.design,
    currency: study.value.prices.currency,
  };
  const sections: (Section | undefined)[] = [
    { id: 'study', title: 'Study', blocks: [header(inputs, summary)] },
    { id: 'setting', title: 'Setting', blocks: [setting(inputs, summary)] },
    designSection(summary),
    decisionsSection(summary),
    runsSection(summary, family),
    outcomesSection(summary),
    comparisonsSection(summary, family),
    measuresSection(summary, family),
    unmixedSection(summary),
    multiplicitySection(summary),
    overridesSection(summary),
    buildsSection(summary),
    claimsSection(inputs),
    limitsSection(study.value),
  ];
  return {
    title: `Report on ${study.value.id}`,
    warning: summary.scripted
      ? 'Scripted model: answers come from data; nothing here measures a model.'
      : undefined,
    sections: sections.filter((section) => section !== undefined),
  };
}

function header({ study, close, summary }: ReportInputs, { scripted }: Full<Summary>): Block {
  const { id, stage, version, hypotheses } = study.value;
  return facts(
    fact('study', `${id}, version ${version}`),
    fact('stage', stage),
    fact(
      'model',
      scripted ? 'SCRIPTED: answers come from data; nothing here measures a model' : 'real model',
    ),
    fact('registration', study.cid),
    fact('close', `${close.cid}, log size ${close.value.size}`),
    fact('summary', summary.cid),
    ...hypotheses.map((text, i) => fact(i === 0 ? 'hypotheses' : '', text)),
  );
}

function setting({ study, redactions, starts }: ReportInputs, { counts }: Full<Summary>): Block {
  const removed = redactions.flatMap((each) => full(each).removed.map(({ path }) => printPath(path)));
  const executors = [...new Set(starts.map(({ value }) => value.executor))].sort();
  const limits = [...new Set(starts.flatMap(({ value }) => value.isolation.limits))].sort();
  const { network, prices, builds, acceptances, isolation, withheld } = study.value;
  const named = Object.entries(builds).map(([name, build]) => `${name} ${build.version}`);
  return facts(
    fact('history', 'Git history is in no arm: a corpus is one commit without its repository'),
    fact('redacted', removed.length === 0 ? 'nothing' : [...new Set(removed)].sort().join(', ')),
    fact('accepted', `${acceptances.length} findings accepted by a person`),
    fact('isolation', `${executors.join(', ') || 'nothing ran'} (registered at least ${isolation})`),
    limits.length === 0 ? undefined : fact('limits kept', limits.join(', ')),
    fact('network', network),
    fact('spend', `${decimalOfMicros(counts.micros)} ${prices.currency}`),
    fact('builds', named.length === 0 ? 'none registered' : named.join(', ')),
    fact('withheld', withheld.length === 0 ? 'no kind of evidence' : withheld.join(', ')),
  );
}

function designSection({ design }: Full<Summary>): Section {
  const { alpha, registered, powerOverride, reaches, tests } = design;
  const override = powerOverride ? ' The author registered powerOverride.' : '';
  const reach = reaches ? 'every test can reach its threshold' : 'a test cannot reach its threshold';
  const rows = tests.map((each) => [
    each.id,
    `${each.units} (${each.unit})`,
    each.floor === null ? '-' : printP(each.floor),
    printP(each.threshold),
    each.reaches ? 'yes' : 'NO',
    powerText(each),
  ]);
  const head = ['test', 'units', 'smallest p', 'threshold', 'reachable', 'power'];
  const none = words('No test is registered: everything below is exploratory.');
  return {
    id: 'design',
    title: 'Design',
    blocks: [
      facts(fact('alpha', `${alpha} over ${registered} registered tests (Holm); ${reach}.${override}`)),
      tests.length === 0 ? none : table(head, rows),
    ],
  };
}

function decisionsSection({ decisions }: Full<Summary>): Section {
  const rows = decisions.map(({ leaf, at, kind, who, why, what }) => [
    String(leaf),
    at,
    kind,
    who,
    what,
    why,
  ]);
  return {
    id: 'decisions',
    title: 'Decisions, in the order of the log',
    blocks: [table(['leaf', 'date', 'kind', 'who', 'what', 'why'], rows)],
  };
}

function runsSection({ counts }: Full<Summary>, { currency }: Family): Section {
  const arms = Object.entries(counts.arms);
  const rows = arms.map(([arm, each]) => [
    arm,
    ...[each.planned, each.started, each.counted, each.admitted].map(String),
    ...[each.voided, each.undecided, each.open, each.withdrawn].map(String),
    excludedText(each),
    listed(each.statuses),
  ]);
  const costs = arms.map(([arm, { resources }]) => [
    arm,
    printShare(resources.solved, resources.runs),
    `${decimalOfMicros(resources.micros)} ${currency}`,
    perSolvedText(resources.perSolved, currency),
    String(resources.tokens),
    resources.seconds,
  ]);
  const head = ['arm', 'planned', 'started', 'counted', 'admitted', 'void', 'undecided', 'open', 'withdrawn'];
  return {
    id: 'runs',
    title: 'Runs',
    blocks: [
      words(`${counts.planned} planned, ${counts.started} started.`),
      table([...head, 'excluded', 'statuses'], rows),
      words('Void: of an attempt that a fault of ours ended. Open: started, and without a receipt.'),
      words('Cost of the counted runs. Totals and ratios, no test.'),
      table(['arm', 'solved', 'spend', 'cost', 'tokens', 'agent seconds'], costs),
    ],
  };
}

function excludedText({ excluded, excludedByOverride }: Full<Summary>['counts']['arms'][string]): string {
  return listed(excludedByOverride === 0 ? excluded : { ...excluded, 'by override': excludedByOverride });
}

function outcomesSection(summary: Full<Summary>): Section {
  const { tasks, controls } = summary;
  const rows = tasks.flatMap(({ challenge, arms }) =>
    Object.entries(arms).map(([arm, each]) => {
      const control = controls.find((name) => name !== arm && Object.hasOwn(arms, name));
      const beside = control === undefined || controls.includes(arm) ? undefined : arms[control];
      return [
        challenge,
        arm,
        ...layers(each).flatMap((own, i) => [own, beside === undefined ? '-' : (layers(beside)[i] ?? '-')]),
        each.outcomes.map((outcome) => (outcome === null ? '.' : String(outcome))).join(' '),
      ];
    }),
  );
  const head = ['task', 'arm', 'delivered', 'control', 'used', 'control', 'solved', 'control'];
  return {
    id: 'outcomes',
    title: 'Outcomes by task',
    blocks: [
      words(
        'Delivery, use and outcome are three separate observations, each beside the same of the control arm. A dot by epoch: no run counts.',
      ),
      { type: 'figure', figure: matrixFigure(summary) },
      table([...head, 'by epoch'], rows),
    ],
  };
}

const layers = (arm: Full<Summary>['tasks'][number]['arms'][string]): string[] =>
  [arm.delivered, arm.used, arm.solved].map((count) => `${count}/${arm.runs}`);

function comparisonsSection(summary: Full<Summary>, family: Family): Section {
  const { comparisons } = summary;
  if (comparisons.length === 0)
    return { id: 'comparisons', title: 'Comparisons', blocks: [words('No two arms can be compared.')] };
  return {
    id: 'comparisons',
    title: 'Comparisons',
    blocks: [
      { type: 'figure', figure: forestFigure(comparisons) },
      ...comparisons.flatMap((each) => comparisonBlocks(each, family)),
    ],
  };
}

function measuresSection({ measures }: Full<Summary>, family: Family): Section | undefined {
  if (measures.length === 0) return undefined;
  return {
    id: 'measures',
    title: 'Continuous measures',
    blocks: measures.flatMap((each) => measuredBlocks(each, family)),
  };
}

function unmixedSection({ unmixed }: Full<Summary>): Section | undefined {
  if (unmixed.length === 0) return undefined;
  const rows = unmixed.map(({ id, treatment, control, challenges, fields }) => [
    id,
    `${treatment} beside ${control}`,
    challenges.join(', '),
    fields.join(', '),
  ]);
  return {
    id: 'unmixed',
    title: 'Not pooled',
    blocks: [
      words(
        'These tasks do not stand under one comparability key. What differs is named; nothing is pooled.',
      ),
      table(['comparison', 'arms', 'tasks', 'fields that differ'], rows),
    ],
  };
}

function multiplicitySection({ multiplicity }: Full<Summary>): Section | undefined {
  const { tests, registered, alpha } = multiplicity;
  if (registered === 0) return undefined;
  const rows = tests.map(({ id, p, adjusted }) => [
    id,
    p === null ? 'no p' : printP(p),
    adjusted === null ? 'no p' : printP(adjusted),
  ]);
  return {
    id: 'multiplicity',
    title: 'Multiplicity',
    blocks: [
      words(`Holm over ${registered} registered tests at ${alpha}. A test without p stays in the family.`),
      table(['test', 'p', 'Holm'], rows),
    ],
  };
}

function overridesSection({ comparisons, withoutOverrides }: Full<Summary>): Section {
  const title = 'With and without overrides';
  if (withoutOverrides.length === 0)
    return { id: 'overrides', title, blocks: [words('No decision was overridden: both are the same.')] };
  const cells = (each: Comparison | undefined) =>
    each === undefined
      ? ['-', '-', '-']
      : [
          `${printDifference(each.difference)} of ${each.pairs} pairs`,
          each.result.p === null ? 'no p' : printP(each.result.p),
          each.verdict,
        ];
  const rows = comparisons.map((each) => [
    each.id,
    ...cells(each),
    ...cells(withoutOverrides.find(({ id }) => id === each.id)),
  ]);
  const head = [
    'comparison',
    'difference',
    'p',
    'verdict',
    'difference without',
    'p without',
    'verdict without',
  ];
  return { id: 'overrides', title, blocks: [table(head, rows)] };
}

function buildsSection({ trends }: Full<Summary>): Section {
  const rows = trends.flatMap(({ arm, points }) =>
    points.map(({ build, rate, differs }, i) => [
      arm,
      build,
      printShare(rate.solved, rate.runs),
      printInterval(rate.interval),
      i === 0 ? '-' : differs.length === 0 ? 'yes' : `no, other ${differs.join(', ')}`,
    ]),
  );
  const several = trends.some(({ points }) => points.length > 1);
  const none = words('No receipt names a build under test.');
  const single = words('One build under test in each arm: there is no trend to draw.');
  return {
    id: 'builds',
    title: 'Builds under test',
    blocks: [
      rows.length === 0
        ? none
        : table(['arm', 'build', 'solved', 'interval', 'joined to the one before'], rows),
      ...(several
        ? [{ type: 'figure' as const, figure: trendFigure(trends) }]
        : rows.length === 0
          ? []
          : [single]),
    ],
  };
}

function claimsSection({ claims }: ReportInputs): Section | undefined {
  const pages = [...new Set(claims.map(({ value }) => value.name))].sort();
  if (pages.length === 0) return undefined;
  return {
    id: 'claims',
    title: 'Pages with bound numbers',
    blocks: [
      {
        type: 'list',
        items: pages.map((name) => {
          const own = claims.filter(({ value }) => value.name === name).length;
          return `${name}: ${own} numbers, each stands in the text as bound to its record, and none is unbound`;
        }),
      },
    ],
  };
}

function limitsSection({ scopeLimits }: Study): Section {
  return {
    id: 'limits',
    title: 'Limits',
    blocks: [
      {
        type: 'list',
        items: [
          ...scopeLimits,
          'The log shows that logged runs were not dropped, not that nobody ran outside it.',
        ],
      },
    ],
  };
}
