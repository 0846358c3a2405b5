/**
 * Trust policies (C2SP tlog-policy): which logs are known, which witnesses, and how many must have cosigned.
 * Promises: every name is defined once and before it is used, no key stands twice, exactly one quorum.
 * Does not promise: that a policy is wise. Log keys are Ed25519 (type 01), witness keys cosignature keys (type 04).
 */
import { type OpenedCheckpoint, openCheckpoint, parseCheckpoint } from './checkpoint.ts';
import { fail } from './errors.ts';
import { type KeyType, parseNote, parseVerifierKey, printVerifierKey, type VerifierKey } from './note.ts';

export interface PolicyLog {
  readonly key: VerifierKey;
  readonly url?: string;
}
export interface PolicyWitness extends PolicyLog {
  /** The policy's own name for it, not the key's. */
  readonly name: string;
}
export interface PolicyGroup {
  readonly name: string;
  readonly threshold: number;
  readonly members: readonly string[];
}

export interface Policy {
  readonly logs: readonly PolicyLog[];
  readonly witnesses: readonly PolicyWitness[];
  readonly groups: readonly PolicyGroup[];
  /** A witness, a group, or `none`. */
  readonly quorum: string;
}

interface Draft {
  readonly logs: PolicyLog[];
  readonly witnesses: PolicyWitness[];
  readonly groups: PolicyGroup[];
  readonly members: Set<string>;
  quorum?: string;
}

/** Reads a policy file. Throws E_NOTE with the line. */
export function parsePolicy(bytes: Uint8Array): Policy {
  // Octets above ASCII are opaque by the specification, so they are carried as they are.
  const text = Buffer.from(bytes).toString('latin1');
  const draft: Draft = { logs: [], witnesses: [], groups: [], members: new Set() };
  const lines = text.split('\n');
  if (lines.pop() !== '') refuse(lines.length + 1, 'a newline at the end', 'none');
  lines.forEach((line, i) => {
    if (hasControl(line)) refuse(i + 1, 'no control character but tab and newline', 'one');
    const items = line.split(/[ \t]+/).filter((item) => item !== '');
    if (items.length > 0 && !items[0]?.startsWith('#')) define(draft, items, i + 1);
  });
  const { logs, witnesses, groups, quorum } = draft;
  if (quorum === undefined) refuse(lines.length, 'a quorum line', 'none');
  return { logs, witnesses, groups, quorum };
}

/**
 * The log keys of a file: one verifier key a line, or the `log` lines of a policy file. A policy that asks for witnesses
 * is refused, for whoever asks for keys alone would not count them. Gives each key as its vkey line.
 * Throws E_NOTE with the line, or where there is no key at all.
 */
export function trustedLogKeys(bytes: Uint8Array, where: string): string[] {
  const lines = Buffer.from(bytes).toString('latin1').split('\n');
  const keys = lines.flatMap((line, i) => {
    const items = line.split(/[ \t\r]+/).filter((item) => item !== '');
    const [word = ''] = items;
    if (word === '' || word.startsWith('#') || items.join(' ') === 'quorum none') return [];
    return [logKeyOf(items, `${where} line ${i + 1}`)];
  });
  if (keys.length === 0) fail('E_NOTE', { where, wanted: 'a log key', found: 'none' });
  return [...new Set(keys)];
}

function logKeyOf([word = '', vkey, ...more]: readonly string[], where: string): string {
  const named = word === 'log' && vkey !== undefined && more.length <= 1;
  if (!named && vkey !== undefined)
    fail('E_NOTE', {
      where,
      wanted: '<vkey>, log <vkey> [<url>], or quorum none',
      found: JSON.stringify(shown(word)),
    });
  const text = named ? vkey : word;
  const key = keyAt(text, where);
  if (key.type !== 1) fail('E_NOTE', { where, wanted: 'a key of type 01', found: `0${key.type}` });
  return printVerifierKey(key);
}

function keyAt(text: string, where: string): VerifierKey {
  try {
    return parseVerifierKey(Buffer.from(text, 'latin1').toString('utf8'));
  } catch (cause) {
    const wanted = '<name>+<8 hex>+<base64 of an Ed25519 key>';
    return fail('E_NOTE', { where, wanted, found: JSON.stringify(shown(text)), cause });
  }
}

/** A fault names a line and does not print a megabyte of it. */
const shown = (text: string): string => (text.length > 80 ? `${text.slice(0, 80)}…` : text);

/**
 * Opens a checkpoint under a policy: signed by a listed log of that origin and cosigned by the quorum.
 * Throws E_NOTE when malformed, E_SIGNATURE when the policy is not met or any known key's signature is wrong.
 */
export function openUnderPolicy(bytes: Uint8Array, policy: Policy): OpenedCheckpoint {
  const { origin } = parseCheckpoint(parseNote(bytes).text);
  const logs = policy.logs.map(({ key }) => key).filter(({ name }) => name === origin);
  if (logs.length === 0) {
    fail('E_SIGNATURE', { where: 'checkpoint', wanted: 'an origin that the policy lists', found: origin });
  }
  const opened = openCheckpoint(bytes, logs, witnessKeys(policy));
  const signed = new Set(opened.verified.map(({ key }) => key));
  if (!quorumMet(policy, signed)) {
    const found = opened.verified.map(({ name }) => name).join(', ');
    fail('E_SIGNATURE', { where: 'checkpoint', wanted: `the quorum ${policy.quorum}`, found });
  }
  return opened;
}

export function witnessKeys(policy: Policy): readonly VerifierKey[] {
  return policy.witnesses.map(({ key }) => key);
}

/** Whether these witness keys, whose cosignatures were verified, make the quorum. */
export function quorumMet(
  { witnesses, groups, quorum }: Policy,
  cosigned: ReadonlySet<VerifierKey>,
): boolean {
  if (quorum === 'none') return true;
  const met = new Map(witnesses.map(({ name, key }) => [name, cosigned.has(key)]));
  // Members stand before the group that names them, so one pass decides all.
  for (const { name, threshold, members } of groups) {
    met.set(name, members.filter((member) => met.get(member)).length >= threshold);
  }
  return met.get(quorum) === true;
}

const DEFINERS = { log: defineLog, witness: defineWitness, group: defineGroup, quorum: defineQuorum };

function define(draft: Draft, [word = '', ...rest]: readonly string[], line: number): void {
  if (!Object.hasOwn(DEFINERS, word)) refuse(line, 'log, witness, group or quorum', word);
  DEFINERS[word as keyof typeof DEFINERS](draft, rest, line);
}

function defineLog({ logs }: Draft, [vkey = '', url, more]: readonly string[], line: number): void {
  if (more !== undefined) refuse(line, 'log <vkey> [<url>]', more);
  const key = newKey(vkey, 1, logs, line);
  logs.push(url === undefined ? { key } : { key, url });
}

function defineWitness(
  draft: Draft,
  [name = '', vkey = '', url, more]: readonly string[],
  line: number,
): void {
  if (more !== undefined) refuse(line, 'witness <name> <vkey> [<url>]', more);
  newName(draft, name, line);
  const key = newKey(vkey, 4, draft.witnesses, line);
  draft.witnesses.push(url === undefined ? { name, key } : { name, key, url });
}

function defineGroup(draft: Draft, [name = '', k = '', ...members]: readonly string[], line: number): void {
  newName(draft, name, line);
  const threshold = k === 'any' ? 1 : k === 'all' ? members.length : /^[1-9]\d*$/.test(k) ? Number(k) : 0;
  if (threshold < 1 || threshold > members.length) {
    refuse(line, 'group <name> all|any|1..n <member>...', [k, ...members].join(' '));
  }
  for (const member of members) {
    if (!isDefined(draft, member)) refuse(line, 'a member defined above', member);
    if (draft.members.has(member)) refuse(line, 'a member of no other group', member);
    draft.members.add(member);
  }
  draft.groups.push({ name, threshold, members });
}

function defineQuorum(draft: Draft, [name = '', more]: readonly string[], line: number): void {
  if (more !== undefined || draft.quorum !== undefined) refuse(line, 'one quorum <name>', more ?? name);
  if (name !== 'none' && !isDefined(draft, name)) refuse(line, 'a name defined above, or none', name);
  draft.quorum = name;
}

function newName(draft: Draft, name: string, line: number): void {
  if (name === '' || name === 'none' || isDefined(draft, name)) refuse(line, 'a new name', name);
}

function isDefined({ witnesses, groups }: Draft, name: string): boolean {
  return [...witnesses, ...groups].some((known) => known.name === name);
}

function newKey(vkey: string, type: KeyType, known: readonly PolicyLog[], line: number): VerifierKey {
  const key = parseVerifierKey(Buffer.from(vkey, 'latin1').toString('utf8'));
  if (key.type !== type) refuse(line, `a key of type 0${type}`, `0${key.type}`);
  if (known.some((other) => Buffer.compare(other.key.publicKey, key.publicKey) === 0)) {
    refuse(line, 'a key that stands once', vkey);
  }
  return key;
}

function hasControl(line: string): boolean {
  for (let i = 0; i < line.length; i++) {
    const code = line.charCodeAt(i);
    if ((code < 0x20 && code !== 0x09) || code === 0x7f) return true;
  }
  return false;
}

function refuse(line: number, wanted: string, found: string): never {
  fail('E_NOTE', { where: `policy line ${line}`, wanted, found: JSON.stringify(found) });
}
