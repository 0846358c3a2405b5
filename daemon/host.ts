/**
 * Host configuration: what this machine offers. It is in no record; a build's version and digest are in the study.
 * Promises: read strictly; a relative path is relative to the file; no key stands in it (see meter/key.ts).
 */
import { dirname, resolve } from 'node:path';
import { z } from 'zod';
import { readBounded } from '../store/bounded.ts';
import { fail } from '../store/format/errors.ts';
import { parseJson } from '../store/format/json.ts';

const provisioner = z.strictObject({
  /** Program and leading arguments; the verb is added. No shell. */
  argv: z.array(z.string()).min(1),
  timeoutSeconds: z.int().min(1).max(86_400).default(60),
  /** The product has the optional verb `recall`. */
  recall: z.boolean().default(false),
});

const model = z.discriminatedUnion('kind', [
  /** Answers from behaviour files: no network and no key. */
  z.strictObject({ kind: z.literal('scripted'), behaviours: z.array(z.string()).min(1) }),
  z.strictObject({
    kind: z.literal('http'),
    url: z.string(),
    paths: z.array(z.string()).min(1),
    keyHeader: z.enum(['x-api-key', 'authorization']).default('x-api-key'),
    /** A git-ignored file of `NAME=value` lines, where the environment has no key. */
    envFile: z.string().optional(),
    timeoutSeconds: z.int().min(1).max(86_400).default(600),
  }),
]);

const schema = z.strictObject({
  v: z.literal(1),
  executor: z.enum(['none', 'bwrap', 'docker']),
  provisioners: z.record(z.string(), provisioner).default({}),
  model,
});

export type Host = z.infer<typeof schema>;

/** Reads a configuration file. Throws E_CONFIG, E_JSON, E_NOT_FOUND. */
export async function readHost(path: string): Promise<Host> {
  const bytes = await readBounded(path, { max: 1 << 20, wanted: 'a host configuration' });
  return parseHost(bytes, dirname(resolve(path)), path);
}

/** The same from bytes; `base` is what relative paths are relative to. */
export function parseHost(bytes: Uint8Array, base: string, where = 'host configuration'): Host {
  const result = schema.safeParse(parseJson(bytes));
  if (!result.success) {
    const issue = result.error.issues[0];
    fail('E_CONFIG', {
      where: `${where} /${issue?.path.join('/') ?? ''}`,
      found: issue?.message ?? 'another shape',
    });
  }
  return absolute(result.data, base);
}

/** Arguments that begin with `./` or `../` are paths. */
function absolute(host: Host, base: string): Host {
  const at = (text: string) => (/^\.\.?\//.test(text) ? resolve(base, text) : text);
  const provisioners = Object.fromEntries(
    Object.entries(host.provisioners).map(([name, each]) => [name, { ...each, argv: each.argv.map(at) }]),
  );
  const files = host.model;
  if (files.kind === 'scripted') {
    return {
      ...host,
      provisioners,
      model: { ...files, behaviours: files.behaviours.map((path) => resolve(base, path)) },
    };
  }
  if (files.envFile === undefined) return { ...host, provisioners };
  return { ...host, provisioners, model: { ...files, envFile: resolve(base, files.envFile) } };
}
