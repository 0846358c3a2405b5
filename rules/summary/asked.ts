/**
 * Which comparisons a summary makes: every registered test, and every other arm beside the control as exploratory.
 * Promises: results are pooled only under one agent, one model and one condition for each of the two arms, and only
 * where a challenge stands under one comparability key; else the fields that differ are named and nothing is pooled.
 */
import { keyDifferences } from '../compare/key.ts';
import type { RegisteredTest, Study } from '../contracts/study.ts';
import type { TestChoice, Unmixed } from '../contracts/summary.ts';
import type { PlannedTask } from './tasks.ts';

export interface Asked {
  readonly id: string;
  readonly treatment: string;
  readonly control: string;
  readonly standing: 'registered' | 'exploratory';
  readonly primary: boolean;
  readonly test: TestChoice;
  readonly tasks: readonly PlannedTask[];
}

/** What stands for a registration where there is none. */
export const UNREGISTERED: TestChoice = {
  statistic: 'signFlip',
  measure: 'reward',
  sides: 'two-sided',
  zeros: 'pratt',
  cluster: 'task',
};

export interface Question {
  readonly asked: readonly Asked[];
  readonly unmixed: readonly Unmixed[];
}

/** `controls`: the arms whose condition holds no memory. */
export function questions(
  study: Study,
  tasks: readonly PlannedTask[],
  controls: readonly string[],
): Question {
  const registered = study.tests
    .map((test) => registeredAs(test, tasks))
    .filter(({ tasks: own }) => own.length > 0);
  const beside = exploratory(tasks, controls).filter(
    (each) => !registered.some((test) => covers(test, each)),
  );
  const asked: Asked[] = [];
  const unmixed: Unmixed[] = [];
  for (const each of [...registered, ...beside]) {
    const fields = mixedFields(each);
    if (fields.length === 0) asked.push(each);
    else {
      unmixed.push(refusal(each, fields));
      asked.push(...bySetting(each));
    }
  }
  return { asked, unmixed };
}

function registeredAs(test: RegisteredTest, tasks: readonly PlannedTask[]): Asked {
  const { id, treatment, control, families, primary, ...choice } = test;
  const own = tasks.filter(
    ({ taskFamily, arms }) =>
      (families.length === 0 || families.includes(taskFamily)) &&
      arms.includes(treatment) &&
      arms.includes(control),
  );
  return { id, treatment, control, standing: 'registered', primary, test: choice, tasks: own };
}

function exploratory(tasks: readonly PlannedTask[], controls: readonly string[]): Asked[] {
  const families = [...new Set(tasks.map(({ taskFamily }) => taskFamily))].sort();
  return families.flatMap((family) => {
    const own = tasks.filter(({ taskFamily }) => taskFamily === family);
    const arms = [...new Set(own.flatMap((task) => task.arms))].sort();
    return arms.flatMap((treatment) =>
      controls
        .filter((control) => control !== treatment && !controls.includes(treatment) && arms.includes(control))
        .map((control) => besides(`${family}: ${treatment} beside ${control}`, treatment, control, own)),
    );
  });
}

function besides(id: string, treatment: string, control: string, tasks: readonly PlannedTask[]): Asked {
  const both = tasks.filter(({ arms }) => arms.includes(treatment) && arms.includes(control));
  return { id, treatment, control, standing: 'exploratory', primary: false, test: UNREGISTERED, tasks: both };
}

/** A registered test of the reward makes the exploratory one of the same arms over a part of its tasks needless. */
const covers = (test: Asked, other: Asked): boolean =>
  other.tasks.length === 0 ||
  (test.test.measure === 'reward' &&
    test.treatment === other.treatment &&
    test.control === other.control &&
    other.tasks.every((task) => test.tasks.includes(task)));

/** What must be equal over all tasks of one comparison. */
const settingOf = ({ fields }: PlannedTask, { treatment, control }: Asked) => ({
  agent: fields.agent,
  model: fields.model,
  [`condition ${treatment}`]: fields.conditions[treatment] ?? '',
  [`condition ${control}`]: fields.conditions[control] ?? '',
});

const settingKey = (task: PlannedTask, asked: Asked): string => JSON.stringify(settingOf(task, asked));

function mixedFields(asked: Asked): string[] {
  const differing = new Set<string>();
  const [first, ...rest] = asked.tasks;
  if (first === undefined) return [];
  const wanted: Readonly<Record<string, string>> = settingOf(first, asked);
  for (const task of rest) {
    const found: Readonly<Record<string, string>> = settingOf(task, asked);
    for (const name of Object.keys(wanted)) if (wanted[name] !== found[name]) differing.add(name);
    for (const other of asked.tasks) {
      if (other.challenge === task.challenge && other.key !== task.key)
        for (const name of keyDifferences(task.fields, other.fields)) differing.add(name);
    }
  }
  return [...differing].sort();
}

function refusal({ id, treatment, control, standing, tasks }: Asked, fields: readonly string[]): Unmixed {
  const challenges = [...new Set(tasks.map(({ challenge }) => challenge))];
  return { id, treatment, control, standing, challenges, fields: [...fields] };
}

/** The same question within each setting, as exploratory: what was registered was one comparison, not these. */
function bySetting(asked: Asked): Asked[] {
  const settings = [...new Set(asked.tasks.map((task) => settingKey(task, asked)))].sort();
  return settings.flatMap((setting, i) => {
    const tasks = asked.tasks.filter((task) => settingKey(task, asked) === setting);
    const part: Asked = {
      ...asked,
      id: `${asked.id}, setting ${i + 1} of ${settings.length}`,
      standing: 'exploratory',
      primary: false,
      tasks,
    };
    return mixedFields(part).length === 0 ? [part] : [];
  });
}
