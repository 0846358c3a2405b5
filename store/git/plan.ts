/**
 * `repository.json`: a repository as data.
 * Promises: every field is checked, unknown ones are refused; each fault names its place.
 * Does not promise: that the folders named are there.
 */
import { type ErrorData, fail } from '../format/errors.ts';
import { parseJson } from '../format/json.ts';
import { parsePortable } from '../format/path.ts';

export interface RepositoryStep {
  readonly id: string;
  /** Seconds since the epoch, of author and committer alike. */
  readonly seconds: number;
  readonly message: string;
  readonly folder: string;
  /** Real paths (files or folders) that go before the folder is laid over. */
  readonly delete: readonly string[];
  /** Real paths that are 0755 from this step on; a file keeps its mode when its content changes. */
  readonly executable: readonly string[];
}

export interface RepositoryPlan {
  readonly name: string;
  readonly author: { readonly name: string; readonly email: string };
  readonly steps: readonly RepositoryStep[];
  /** Names that must not stand in a folder of ours are stored under others. */
  realPath(stored: string): string;
}

type Fields = Record<string, unknown>;

/** Reads `repository.json`. Throws E_JSON, E_CONFIG, E_PATH. */
export function parsePlan(bytes: Uint8Array): RepositoryPlan {
  const top = fieldsOf(parseJson(bytes), '', ['v', 'name', 'author', 'steps'], ['stored']);
  if (top.v !== 1) wrong('v', '1', top.v);
  const author = fieldsOf(top.author, 'author', ['name', 'email'], []);
  const stored = Object.entries(fieldsOf(top.stored ?? {}, 'stored', [], undefined));
  return {
    name: line(top.name, 'name'),
    author: { name: person(author.name, 'author.name'), email: person(author.email, 'author.email') },
    steps: stepsOf(top.steps),
    realPath: mapping(
      stored.map(([from, to]) => ({ from: parsePortable(from), to: path(to, `stored.${from}`) })),
    ),
  };
}

function stepsOf(value: unknown): RepositoryStep[] {
  if (!Array.isArray(value) || value.length === 0) return wrong('steps', 'a list of steps', value);
  const steps = value.map((each, i) => stepOf(each, `steps[${i}]`));
  const ids = new Set(steps.map((step) => step.id));
  if (ids.size !== steps.length) wrong('steps', 'each id once', 'a second');
  steps.forEach((step, i) => {
    if (i > 0 && step.seconds < (steps[i - 1] as RepositoryStep).seconds)
      wrong(`steps[${i}].date`, 'a date not before the last one', 'an earlier one');
  });
  return steps;
}

function stepOf(value: unknown, at: string): RepositoryStep {
  const step = fieldsOf(value, at, ['id', 'date', 'message', 'folder'], ['delete', 'executable']);
  const message = step.message;
  if (typeof message !== 'string' || !message.isWellFormed() || /^\s*$|[\0\r]/.test(message))
    return wrong(`${at}.message`, 'a message', message);
  return {
    id: line(step.id, `${at}.id`),
    seconds: secondsOf(step.date, `${at}.date`),
    message,
    folder: path(step.folder, `${at}.folder`),
    delete: paths(step.delete ?? [], `${at}.delete`),
    executable: paths(step.executable ?? [], `${at}.executable`),
  };
}

/** The longest stored path or folder that a path begins with decides. */
function mapping(map: readonly { readonly from: string; readonly to: string }[]): (stored: string) => string {
  const longest = [...map].sort((a, b) => b.from.length - a.from.length);
  return (stored) => {
    const rule = longest.find(({ from }) => stored === from || stored.startsWith(`${from}/`));
    return rule === undefined ? stored : rule.to + stored.slice(rule.from.length);
  };
}

function secondsOf(value: unknown, at: string): number {
  if (typeof value !== 'string' || !/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/.test(value))
    return wrong(at, 'a date like 2024-03-01T10:00:00Z', value);
  const ms = Date.parse(value);
  const spelled = Number.isNaN(ms) ? '' : new Date(ms).toISOString().replace('.000', '');
  return spelled === value && ms >= 0 ? ms / 1000 : wrong(at, 'a date that exists, from 1970 on', value);
}

function fieldsOf(
  value: unknown,
  at: string,
  required: readonly string[],
  optional: readonly string[] | undefined,
): Fields {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return wrong(at, 'a map', value);
  const fields = value as Fields;
  const missing = required.find((key) => !Object.hasOwn(fields, key));
  if (missing !== undefined) wrong(at, `the field ${missing}`, 'none');
  const strange = Object.keys(fields).find(
    (key) => optional !== undefined && !required.concat(optional).includes(key),
  );
  if (strange !== undefined) wrong(at, 'known fields', strange);
  return fields;
}

function line(value: unknown, at: string): string {
  const fits = typeof value === 'string' && value.isWellFormed() && /^[^\p{Cc}]+$/u.test(value);
  return fits ? value : wrong(at, 'a line of text', value);
}

function person(value: unknown, at: string): string {
  const text = line(value, at);
  // What Git itself takes off a name or address (strbuf_addstr_without_crud in git's ident.c).
  return /^[^\s.,:;<>"\\'](?:[^<>]*[^\s.,:;<>"\\'])?$/.test(text)
    ? text
    : wrong(at, 'no < > and no crud at the ends', value);
}

function path(value: unknown, at: string): string {
  return typeof value === 'string' ? parsePortable(value) : wrong(at, 'a path', value);
}

function paths(value: unknown, at: string): string[] {
  if (!Array.isArray(value)) return wrong(at, 'a list of paths', value);
  return value.map((each, i) => path(each, `${at}[${i}]`));
}

function wrong(at: string, wanted: string, found: unknown): never {
  const data: ErrorData = {
    where: `repository.json ${at}`.trim(),
    wanted,
    found: JSON.stringify(found) ?? 'none',
  };
  return fail('E_CONFIG', data);
}
