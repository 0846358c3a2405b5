/**
 * The surfaces that exist before a study, and what each gives away.
 * Promises: every surface is read or its absence is a finding; findings stand in the order of surfaces and paths.
 * Does not promise: anything on surfaces that exist only at run time; those have their own certificate.
 */
import { z } from 'zod';
import { type Cid, digestOf, evidence } from '../../store/format/cid.ts';
import { decode } from '../../store/format/codec.ts';
import { sha256Hex } from '../../store/format/crypto.ts';
import { isFault } from '../../store/format/errors.ts';
import type { Reader } from '../../store/format/reader.ts';
import { type Entry, parseTree, printPath, type TreePath } from '../../store/format/tree.ts';
import type { Finding } from '../contracts/certificate.ts';
import { isKind, parseRecord } from '../contracts/table.ts';
import { type Detector, hitsIn, hitsInText, PATCH_DETECTORS, wholeWord } from './detect.ts';
import type { CertificationPolicy, NameRules } from './policy.ts';

/** What is asked of every surface, and what was found so far in which content. */
export interface Examiner {
  readonly reader: Reader;
  readonly policy: CertificationPolicy;
  readonly names: NameRules;
  readonly content: readonly Detector[];
  /** Called for content that is not there; gives the findings to put in its place. */
  readonly missing: (surface: string, path: string) => readonly Finding[];
  readonly seen: Map<string, readonly ContentFinding[]>;
}

type ContentFinding = Omit<Finding, 'surface' | 'path'>;

export const missingFinding = (surface: string, path: string, pattern = 'not-there'): Finding => ({
  kind: 'surface-missing',
  surface,
  path,
  pattern,
  by: 'content',
});

/** Every entry of a tree, by name and by content. O(bytes); equal content is read once. */
export async function examineTree(surface: string, root: Cid, examiner: Examiner): Promise<Finding[]> {
  return examineDirectory(surface, root, [], examiner);
}

async function examineDirectory(
  surface: string,
  cid: Cid,
  at: TreePath,
  examiner: Examiner,
): Promise<Finding[]> {
  const bytes = await present(cid, examiner.reader);
  if (bytes === undefined) return [...examiner.missing(surface, printPath(at))];
  const findings: Finding[] = [];
  for (const entry of parseTree(bytes).entries) {
    const path = [...at, entry.name];
    findings.push(...(await examineEntry(surface, entry, path, examiner)));
    if (entry.type === 'dir')
      findings.push(...(await examineDirectory(surface, entry.cid['/'], path, examiner)));
  }
  return findings;
}

async function examineEntry(
  surface: string,
  entry: Entry,
  path: TreePath,
  examiner: Examiner,
): Promise<Finding[]> {
  const place = { surface, path: printPath(path) };
  const named = examiner.names.ofEntry(path, entry.type === 'dir');
  const findings: Finding[] = named.map((each) => ({ ...each, ...place, by: 'name' }));
  if (entry.type !== 'file' && entry.type !== 'link') return findings;
  const content = await contentFindings(entry, examiner);
  if (content === undefined) return [...findings, ...examiner.missing(surface, place.path)];
  if (entry.type === 'link' && (await escapes(entry.cid['/'], path, examiner.reader)))
    findings.push({ kind: 'suspicious-metadata', pattern: 'escaping-link', ...place, by: 'content' });
  // What is a patch by its name is not reported again for what it holds.
  const byName = named.some(({ kind }) => kind === 'patch-or-diff');
  const rest = byName ? content.filter(({ kind }) => kind !== 'patch-or-diff') : content;
  return [...findings, ...rest.map((each) => ({ ...each, ...place }))];
}

/** The findings in a blob, wherever it stands; undefined where it is not there. */
async function contentFindings(
  entry: Extract<Entry, { type: 'file' | 'link' }>,
  examiner: Examiner,
): Promise<readonly ContentFinding[] | undefined> {
  const { reader, content, seen } = examiner;
  const cid = entry.cid['/'];
  const known = seen.get(cid);
  if (known !== undefined) return known;
  if (!(await reader.has(cid))) return undefined;
  const hits = await hitsIn(reader.stream(cid), [...content, ...PATCH_DETECTORS]);
  const findings = hits.map((hit): ContentFinding => withDigest(hit, evidence(digestOf(cid))));
  const kind = entry.type === 'file' ? await recordKind(entry.size, cid, reader) : undefined;
  if (kind !== undefined)
    findings.push({ kind: 'suspicious-metadata', pattern: `record:${kind}`, by: 'content' });
  seen.set(cid, findings);
  return findings;
}

/** Only a patch told by content carries a digest: it is what an acceptance names. */
function withDigest(
  hit: { kind: Finding['kind']; pattern: string; line: number },
  digest: string,
): ContentFinding {
  return hit.kind === 'patch-or-diff' ? { ...hit, by: 'content', digest } : { ...hit, by: 'content' };
}

/** Larger files are no record of ours (bytes). */
const LARGEST_RECORD = 1 << 20;

/** The kind of one of our own records lying about as a file. */
async function recordKind(size: number, cid: Cid, reader: Reader): Promise<string | undefined> {
  if (size < 16 || size > LARGEST_RECORD) return undefined;
  const bytes = await reader.get(cid);
  if (bytes[0] !== 0x7b || !Buffer.from(bytes).includes('"kind":"')) return undefined;
  try {
    const value = decode(bytes) as { readonly kind?: unknown };
    if (!isKind(value.kind)) return undefined;
    return parseRecord(value as never).kind;
  } catch (error) {
    if (isFault(error)) return undefined;
    throw error;
  }
}

/** Whether a link's target leaves the tree, on its text alone. */
async function escapes(cid: Cid, path: TreePath, reader: Reader): Promise<boolean> {
  const target = Buffer.from(await reader.get(cid)).toString('latin1');
  if (target.startsWith('/') || /^[A-Za-z]:|^\\/.test(target)) return true;
  let depth = path.length - 1;
  for (const name of target.split('/')) {
    if (name === '..') depth--;
    else if (name !== '' && name !== '.') depth++;
    if (depth < 0) return true;
  }
  return false;
}

const graphTexts = z.array(z.strictObject({ id: z.string(), text: z.string() }));

/** The texts of a graph: bodies, whatever their words, never identity. */
export async function examineGraph(surface: string, cid: Cid, examiner: Examiner): Promise<Finding[]> {
  const bytes = await present(cid, examiner.reader);
  if (bytes === undefined) return [...examiner.missing(surface, '')];
  const texts = graphTexts.safeParse(parsedJson(bytes));
  if (!texts.success) return [missingFinding(surface, '', 'unreadable')];
  const findings: Finding[] = [];
  for (const [i, { id, text }] of texts.data.entries()) {
    findings.push(...(await examineText(surface, `/${i}/id`, id, examiner)));
    findings.push(...(await examineText(surface, `/${i}/text`, text, examiner)));
  }
  return findings;
}

/** One text at a pointer of its surface. */
export async function examineText(
  surface: string,
  path: string,
  text: string,
  examiner: Pick<Examiner, 'content'>,
): Promise<Finding[]> {
  const hits = await hitsInText(text, [...examiner.content, ...PATCH_DETECTORS]);
  const digest = `sha256:${sha256Hex(Buffer.from(text, 'utf8'))}`;
  return hits.map((hit) => ({ surface, path, ...withDigest(hit, digest) }));
}

/** One raw blob of text, as a prompt is. */
export async function examineBlob(surface: string, cid: Cid, examiner: Examiner): Promise<Finding[]> {
  if (!(await examiner.reader.has(cid))) return [...examiner.missing(surface, '')];
  const hits = await hitsIn(examiner.reader.stream(cid), [...examiner.content, ...PATCH_DETECTORS]);
  return hits.map((hit) => ({ surface, path: '', ...withDigest(hit, evidence(digestOf(cid))) }));
}

/** Fields that the benchmark writes itself: here, and by position only, the strict words count too. */
export async function examineIdentity(
  surface: string,
  fields: Readonly<Record<string, string>>,
  examiner: Pick<Examiner, 'content' | 'policy'>,
): Promise<Finding[]> {
  const findings: Finding[] = [];
  for (const [name, value] of Object.entries(fields)) {
    findings.push(...(await examineText(surface, `/${name}`, value, examiner)));
    const spelled = value.replace(/([a-z0-9])([A-Z])/g, '$1-$2');
    const term = examiner.policy.awareness.graphFields.find(
      (each) =>
        wholeWord(each)(spelled, 0, spelled.length) !== undefined ||
        wholeWord(`${each}s`)(spelled, 0, spelled.length) !== undefined,
    );
    if (term !== undefined)
      findings.push({ kind: 'benchmark-awareness', surface, path: `/${name}`, pattern: term, by: 'content' });
  }
  return findings;
}

function parsedJson(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
  } catch {
    return undefined;
  }
}

async function present(cid: Cid, reader: Reader): Promise<Uint8Array | undefined> {
  return (await reader.has(cid)) ? reader.get(cid) : undefined;
}
