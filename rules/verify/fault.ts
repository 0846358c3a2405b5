/**
 * What a verifier finds. A closed list of fault kinds; every fault names its place.
 * Promises: looking goes on after a fault, so that one pass names them all.
 */

export const FAULT_KINDS = [
  /** A file of the manifest is not there. */
  'file-missing',
  /** A file that no manifest lists. */
  'file-extra',
  /** A file's bytes do not have the digest or size of the manifest. */
  'file-changed',
  /** Two entries of one path, or a path that is no plain file. */
  'file-irregular',
  /** The manifest itself cannot be read, or is not the record that the log names. */
  'manifest',
  /** A signature, checkpoint, root, inclusion or consistency proof that does not hold. */
  'log',
  /** A leaf without its record, or of another kind. */
  'leaf',
  /** A record that breaks its contract, or a link to something of another kind. */
  'record',
  /** Something stands before what it follows from. */
  'order',
  /** A planned, started or decided run without its counterpart. */
  'bijection',
  /** A run that is not what its plan says, or that holds parts of another run. */
  'run',
  /** A derived record that its rule does not give again. */
  'derivation',
  /** A record that a rule gives and the release does not hold. */
  'derivation-missing',
  /** A derived record that follows from nothing. */
  'derivation-extra',
  /** A claim that is not its field, or does not stand in its page. */
  'claim',
  /** A secret, a path of a machine, or something that may not be published. */
  'hygiene',
  /** Spend that the exchanges do not give. */
  'accounts',
  /** The log key or the release is not the one asked for. */
  'trust',
] as const;
export type FaultKind = (typeof FAULT_KINDS)[number];

export interface Fault {
  readonly kind: FaultKind;
  /** A path, CID, leaf number or field. */
  readonly at: string;
  readonly detail: string;
}

/** Collects faults; `add` is all that a check may do with them. */
export interface Faults {
  add(kind: FaultKind, at: string, detail: string): void;
  readonly all: readonly Fault[];
}

export function collectFaults(): Faults {
  const all: Fault[] = [];
  return { all, add: (kind, at, detail) => void all.push({ kind, at, detail }) };
}

/** Runs a check; what it throws becomes a fault of this kind. */
export async function guarded<T>(
  faults: Faults,
  kind: FaultKind,
  at: string,
  check: () => Promise<T> | T,
): Promise<T | undefined> {
  try {
    return await check();
  } catch (error) {
    faults.add(kind, at, error instanceof Error ? error.message : String(error));
    return undefined;
  }
}
