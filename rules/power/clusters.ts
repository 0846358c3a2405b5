/**
 * Which tasks are one unit: those that share a lesson, directly or through others, and those of one repository.
 * Promises: labels do not depend on the order of the tasks. Sources without a repository name are taken as one
 * repository: too few units is the safe side.
 */

export interface Hanging {
  readonly challenge: string;
  readonly lessons: readonly string[];
  readonly repository: string | undefined;
}

export interface Labels {
  readonly lesson: string;
  readonly repository: string;
}

const UNNAMED = 'unnamed repository';

/** challenge -> labels. A lesson cluster is named by its first challenge. O(tasks² x lessons). */
export function clusterLabels(tasks: readonly Hanging[]): ReadonlyMap<string, Labels> {
  const sorted = [...tasks].sort((a, b) => (a.challenge < b.challenge ? -1 : 1));
  const lessonOf = new Map<string, string>();
  for (const task of sorted) {
    if (!lessonOf.has(task.challenge)) spread(task, task.challenge, sorted, lessonOf);
  }
  return new Map(
    sorted.map(({ challenge, repository }) => [
      challenge,
      { lesson: lessonOf.get(challenge) ?? challenge, repository: repository ?? UNNAMED },
    ]),
  );
}

function spread(from: Hanging, label: string, all: readonly Hanging[], into: Map<string, string>): void {
  into.set(from.challenge, label);
  for (const other of all) {
    const shared = other.lessons.some((lesson) => from.lessons.includes(lesson));
    if (shared && !into.has(other.challenge)) spread(other, label, all, into);
  }
}
