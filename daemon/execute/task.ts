/**
 * What one start is executed with (fixed), and what its steps have found so far (growing).
 * Promises: a step reads `Task` and `State` and returns what it adds; it changes neither.
 */

import type { Agent } from '../../rules/contracts/agent.ts';
import type { Challenge } from '../../rules/contracts/challenge.ts';
import type { Condition } from '../../rules/contracts/condition.ts';
import type { Corpus } from '../../rules/contracts/corpus.ts';
import type { Fixture } from '../../rules/contracts/fixture.ts';
import type { Full } from '../../rules/contracts/kit.ts';
import type { Plan } from '../../rules/contracts/plan.ts';
import type { Receipt, Status, StopReason, Verdict } from '../../rules/contracts/receipt.ts';
import type { Study } from '../../rules/contracts/study.ts';
import type { Input, View } from '../../rules/rule.ts';
import type { Cid, Evidence } from '../../store/format/cid.ts';
import type { Value } from '../../store/format/codec.ts';
import type { Store } from '../../store/store.ts';
import type { Adapter } from '../agents/adapter.ts';
import type { Executor, Paths, Sandbox } from '../executors/executor.ts';
import type { Images } from '../images.ts';
import type { RunBudget } from '../meter/budget.ts';
import type { Meter } from '../meter/meter.ts';
import type { UpstreamConfig } from '../meter/upstream.ts';
import type { Provisioner } from '../provisioner/provisioner.ts';

/** The hand of the world: everything that a step may touch beside the store. */
export interface World {
  readonly executor: Executor;
  /** Role -> image, for executors that need one. */
  readonly images: Images;
  readonly provisioner: Provisioner | undefined;
  /** Its name in the host configuration. */
  readonly product?: string;
  /** Folder that the provisioner reads artifacts from. */
  readonly fixtureRoot: string;
  readonly upstream: UpstreamConfig;
  readonly purse: (cap: number) => RunBudget;
  /** Empty folder of this start; removed after it. */
  readonly scratch: string;
  /** Label of this store's sandboxes. */
  readonly owner: string;
  /** Seconds from an arbitrary beginning; never goes back. */
  readonly seconds: () => number;
  /** Asked between steps and while the agent runs: a reason stops the run as `aborted`. */
  readonly aborted: () => string | undefined;
}

export interface Task {
  readonly store: Store;
  readonly view: View;
  readonly world: World;
  readonly adapter: Adapter;
  readonly study: Input<Study>;
  readonly plan: Input<Full<Plan>>;
  readonly arm: string;
  readonly attempt: number;
  readonly token: string;
  readonly challenge: Input<Challenge>;
  readonly fixture: Input<Fixture>;
  readonly agent: Input<Agent>;
  readonly condition: Input<Condition>;
  readonly corpus: Input<Full<Corpus>>;
}

/** How the run ends, once something has decided it. */
export interface Ending {
  readonly status: Status;
  readonly stopReason?: StopReason;
  readonly fault?: NonNullable<Receipt['fault']>;
}

/** What the meter's callbacks leave behind for the receipt. */
export interface Accounts {
  readonly exchanges: Cid[];
  readonly injections: Cid[];
  /** Which prompt the agent is working on, from 1. */
  turn: number;
  micros: number;
  inputTokens: number;
  outputTokens: number;
  /** How the model answered the last request: HTTP status, 0 for none; whether the answer came whole; its body. */
  last?: { readonly status: number; readonly complete: boolean; readonly response: Cid };
}

export interface State {
  readonly start?: Cid;
  readonly prebuild?: Cid;
  readonly sandbox?: Sandbox;
  readonly project?: string;
  /** The provisioner's queue at restore. */
  readonly queueBefore?: number;
  readonly before?: Cid;
  readonly after?: Cid;
  readonly meter?: Meter;
  readonly socket?: string;
  /** Filled by the meter's callbacks while the agent runs. */
  readonly books?: Accounts;
  readonly audit?: { readonly cid: Cid; readonly outside: number };
  readonly verdict?: Verdict;
  readonly report?: Evidence;
  /** Where the verifier's sandboxes stood: its report may name them. */
  readonly verifierPaths?: readonly Paths[];
  readonly surface?: Evidence;
  readonly hostFacts?: Evidence;
  readonly receipt?: Cid;
  readonly injections: readonly Cid[];
  readonly exchanges: readonly Cid[];
  readonly natives: Receipt['natives'];
  readonly replies: Receipt['replies'];
  readonly timings: Readonly<Record<string, string>>;
  readonly spend: Receipt['spend'];
  readonly ending?: Ending;
}

export const EMPTY: State = {
  injections: [],
  exchanges: [],
  natives: [],
  replies: [],
  timings: {},
  spend: { micros: 0, requests: 0, inputTokens: 0, outputTokens: 0 },
};

export interface Step {
  /** Its name in receipts and timings. */
  readonly name: string;
  /** `ok`: only while nothing has decided the end. `always`: also after. `outcome`: also where the agent ran. */
  readonly when: 'ok' | 'always' | 'outcome';
  /** The status of a fault of ours in this step; absent: the step's fault ends the execution without a receipt. */
  readonly voids?: Status;
  run(task: Task, state: State): Promise<Partial<State>>;
  /** Undoes what the step opened; called in reverse order, whatever happened. */
  readonly close?: (task: Task, state: State) => Promise<void>;
}

/** Puts a record and gives its cid. */
export async function put(task: Pick<Task, 'store'>, value: unknown): Promise<Cid> {
  return (await task.store.record(value as Value)).cid;
}
