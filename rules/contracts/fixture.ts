/** `fixture`: the frozen world of a challenge: its corpus, the evidence of earlier work, and a graph per arm. */
import { z } from 'zod';
import { count, epochs, id, link, map, record, sentence } from './kit.ts';

/** What each named probe over a restored graph must return: ids in the provisioner's own spelling. */
export const probes = z.strictObject({
  fulltext: z.array(z.string()),
  semantic: z.array(z.string()),
  graph: z.array(z.string()),
});
export type Probes = z.infer<typeof probes>;

export const graphArm = z.strictObject({
  project: sentence(),
  workspace: sentence(),
  branch: sentence(),
  /** The provisioner's own state file. */
  state: link('raw'),
  /** Every text that the state holds, as canonical JSON `[{id, text}]`: what certification reads. */
  surface: link('raw'),
  /** Phrases whose presence in a non-agent record shows that this graph's memory was delivered. */
  markers: z.array(sentence()),
  expect: z.strictObject({ state: map(count()), probes }),
});
export type GraphArm = z.infer<typeof graphArm>;

export const fixture = record('fixture', {
  id: id(),
  /** Ids of the challenges that start from this fixture. */
  serves: z.array(id()).min(1),
  corpus: link('corpus'),
  evidence: link('corpus', 'memory_corpus'),
  graphs: map(graphArm),
  /** With this, a certified corpus and a served challenge yield an exploratory study of their own. */
  explore: z
    .strictObject({ agent: link('agent'), conditions: z.array(link('condition')).min(1), epochs: epochs() })
    .exactOptional(),
});
export type Fixture = z.infer<typeof fixture>;
