/**
 * What a scripted model does, as data: read and judged here, played by play.ts.
 * Promises: a behaviour that loads can be played; texts named by `contentFile` are inside the challenge's own folder.
 * Does not promise: that the steps solve anything; validation shows that.
 *
 *   {"v": 1, "match": "words only this prompt holds", "turns": [{"variants": [
 *     {"name": "informed", "when": ["words of the memory"], "steps": [
 *       {"tool": "read", "input": {"path": "src/app.js"}},
 *       {"tool": "write", "input": {"path": "src/app.js"}, "contentFile": "solutions/oracle/app.js"},
 *       {"say": "Done."}]},
 *     {"name": "plain", "when": [], "steps": [...]}]}]}
 *
 * One turn for every prompt of the session; of its variants the first whose words all stand in the request is played.
 */
import { readdirSync, readFileSync, realpathSync } from 'node:fs';
import { join, sep } from 'node:path';
import { z } from 'zod';
import { fail } from '../../store/format/errors.ts';
import { parseJson } from '../../store/format/json.ts';

const call = z.strictObject({
  tool: z.string().min(1),
  input: z.record(z.string(), z.unknown()),
  /** A file of the challenge's folder whose text becomes `input.content`. */
  contentFile: z.string().optional(),
  /** Words said along with the call. */
  say: z.string().optional(),
});
const say = z.strictObject({ say: z.string() });
/** Ends the turn as a model that will not go on. */
const stop = z.strictObject({ stop: z.enum(['refusal', 'max_tokens']), say: z.string().optional() });
/** An error answer of the API. */
const error = z.strictObject({
  error: z.strictObject({ status: z.int().min(400).max(599), type: z.string(), message: z.string() }),
});
/** Never answers: for deadlines. */
const hang = z.strictObject({ hang: z.literal(true) });
/** The connection is lost: before the answer begins, or in the middle of it. */
const cut = z.strictObject({ cut: z.enum(['before', 'within']) });

const step = z.union([call, say, stop, error, hang, cut]);
const variant = z.strictObject({
  name: z.string().regex(/^[a-z][a-z0-9-]{0,40}$/),
  when: z.array(z.string().min(1)),
  steps: z.array(step).min(1),
});
const behaviour = z.strictObject({
  v: z.literal(1),
  match: z.string().min(8),
  turns: z.array(z.strictObject({ variants: z.array(variant).min(1) })).min(1),
});

export type Step = z.infer<typeof step>;
export type Variant = z.infer<typeof variant>;
export type Behaviour = z.infer<typeof behaviour>;

/** Reads `<root>/<challenge>/behaviour.json` of every challenge that has one, in order of name. Throws E_JSON, E_CONFIG. */
export function loadBehaviours(root: string): Behaviour[] {
  const found: Behaviour[] = [];
  for (const entry of readdirSync(root, { withFileTypes: true }).sort((a, b) => (a.name < b.name ? -1 : 1))) {
    const folder = join(root, entry.name);
    if (entry.isDirectory() && readdirSync(folder).includes('behaviour.json'))
      found.push(loadBehaviour(folder));
  }
  if (found.length === 0)
    fail('E_CONFIG', { where: root, wanted: 'a behaviour.json in some folder', found: 'none' });
  return found;
}

/** Reads `<folder>/behaviour.json` and the files that it names. Throws E_JSON and E_CONFIG. */
export function loadBehaviour(folder: string): Behaviour {
  const file = join(folder, 'behaviour.json');
  const read = parseBehaviour(parseJson(readFileSync(file)), file);
  const turns = read.turns.map((turn) => ({
    variants: turn.variants.map((each) => ({
      ...each,
      steps: each.steps.map((one) => inlined(one, folder)),
    })),
  }));
  return { ...read, turns };
}

/** Judges a behaviour that is already a value. Throws E_CONFIG; `where` is for the message. */
export function parseBehaviour(value: unknown, where = 'behaviour'): Behaviour {
  const read = behaviour.safeParse(value);
  if (!read.success) fail('E_CONFIG', { where, found: z.prettifyError(read.error) });
  for (const [index, turn] of read.data.turns.entries()) {
    for (const { name, steps } of turn.variants) {
      const ends = steps.map((one) => !('tool' in one));
      if (ends.indexOf(true) !== steps.length - 1) {
        const wanted = 'exactly one step without a tool, the last';
        fail('E_CONFIG', { where: `${where}, turn ${index + 1}, ${name}`, wanted, found: 'another order' });
      }
    }
  }
  return read.data;
}

function inlined(one: Step, folder: string): Step {
  if (!('tool' in one) || one.contentFile === undefined) return one;
  const { contentFile, ...rest } = one;
  return { ...rest, input: { ...rest.input, content: textInside(folder, contentFile) } };
}

function textInside(folder: string, name: string): string {
  try {
    const real = realpathSync(join(folder, name));
    if (real.startsWith(realpathSync(folder) + sep)) return readFileSync(real, 'utf8');
  } catch (cause) {
    fail('E_CONFIG', { where: join(folder, name), wanted: 'a readable file', cause });
  }
  return fail('E_CONFIG', { where: name, wanted: `a file inside ${folder}`, found: 'one outside' });
}
