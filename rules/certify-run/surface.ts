/**
 * The run-time surface as texts with their places.
 * Promises: every string of the surface, keys included, with its JSON pointer; a surface of the list that is not
 * there, or has another shape, is named.
 * Does not promise: that the daemon saw everything an agent can see.
 */
import { z } from 'zod';

const strings = z.array(z.string());

/** What must be there. */
const SHAPES: Readonly<Record<string, z.ZodType>> = {
  home: z.array(z.looseObject({ path: z.string(), text: z.string() })),
  workspacePath: z.string(),
  parents: strings,
  env: z.record(z.string(), z.string()),
  hostname: z.string(),
  mounts: strings,
  argv: z.array(strings),
  tools: z.array(z.looseObject({ name: z.string(), description: z.string() })),
  project: z.union([z.string(), z.null()]),
  memoryIds: strings,
};

export interface Place {
  /** JSON pointer from the root of the surface or request. */
  readonly pointer: string;
  readonly text: string;
  /** Prose or file content: names of arms are ordinary words there. */
  readonly isBody: boolean;
}

interface Missing {
  readonly name: string;
  readonly pattern: 'not-there' | 'unreadable';
}

export interface RuntimeSurface {
  /** Names of the surfaces that were read. */
  readonly names: readonly string[];
  readonly missing: readonly Missing[];
  readonly places: readonly (Place & { readonly surface: string })[];
  readonly homePaths: readonly { readonly pointer: string; readonly path: string }[];
  readonly parents: readonly { readonly pointer: string; readonly path: string }[];
  readonly project: string | null;
}

/** Names that the daemon gives its surfaces. */
const KEY = /^[A-Za-z0-9_.:-]{1,64}$/;
const BODY = /^\/(?:home\/\d+\/text|tools\/\d+\/description)$/;

/** Reads the surface blob; undefined where it is no JSON object. */
export function readSurface(bytes: Uint8Array): RuntimeSurface | undefined {
  const value = parsedJson(bytes);
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined;
  const fields = value as Readonly<Record<string, unknown>>;
  if (!Object.keys(fields).every((name) => KEY.test(name))) return undefined;
  const missing = Object.entries(SHAPES).flatMap(([name, shape]): Missing[] => {
    if (!Object.hasOwn(fields, name)) return [{ name, pattern: 'not-there' }];
    return shape.safeParse(fields[name]).success ? [] : [{ name, pattern: 'unreadable' }];
  });
  const lost = new Set(missing.map(({ name }) => name));
  const home = lost.has('home') ? [] : (fields.home as { path: string }[]);
  const parents = lost.has('parents') ? [] : (fields.parents as string[]);
  return {
    names: Object.keys(fields).filter((name) => !lost.has(name)),
    missing,
    places: Object.entries(fields).flatMap(([surface, part]) =>
      textsIn(part, `/${escaped(surface)}`).map((each) => ({
        ...each,
        isBody: BODY.test(each.pointer),
        surface,
      })),
    ),
    homePaths: home.map(({ path }, i) => ({ pointer: `/home/${i}/path`, path })),
    parents: parents.map((path, i) => ({ pointer: `/parents/${i}`, path })),
    project: lost.has('project') ? null : (fields.project as string | null),
  };
}

/** Every string of a request body; the whole text where it is no JSON. All of it is body. */
export function requestPlaces(bytes: Uint8Array): readonly Place[] {
  const value = parsedJson(bytes);
  const texts =
    value === undefined ? [{ pointer: '', text: Buffer.from(bytes).toString('latin1') }] : textsIn(value, '');
  return texts.map((each) => ({ ...each, isBody: true }));
}

function textsIn(value: unknown, pointer: string): { pointer: string; text: string }[] {
  if (typeof value === 'string') return [{ pointer, text: value }];
  if (Array.isArray(value)) return value.flatMap((part, i) => textsIn(part, `${pointer}/${i}`));
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, part]) => {
    const at = `${pointer}/${escaped(key)}`;
    return [{ pointer: at, text: key }, ...textsIn(part, at)];
  });
}

/** RFC 6901, section 3. */
const escaped = (key: string): string => key.replaceAll('~', '~0').replaceAll('/', '~1');

function parsedJson(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
  } catch {
    return undefined;
  }
}
