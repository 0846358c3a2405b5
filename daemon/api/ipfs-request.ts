/**
 * What a trustless gateway request asks for (IPFS Trustless Gateway, 2026-03).
 * Promises: pure; `format` wins over `Accept`; what is not understood is refused, never guessed.
 * Does not promise: paths below a CID, IPNS, or codecs other than ours.
 */
import { z } from 'zod';
import { type Cid, isForeignCid, parseCid } from '../../store/format/cid.ts';
import { fail, isFault } from '../../store/format/errors.ts';
import type { Range } from '../../store/format/reader.ts';

/** `bafkqaaa`, the identity CID of no bytes, by which clients probe a gateway. */
export const PROBE = 'bafkqaaa';
export const RAW = 'application/vnd.ipld.raw';
export const CAR = 'application/vnd.ipld.car';

export const gatewayQuery = z.strictObject({
  format: z.enum(['raw', 'car']).optional(),
  filename: z.string().max(255).optional(),
  'dag-scope': z.enum(['block', 'entity', 'all']).optional(),
  'entity-bytes': z
    .string()
    .regex(/^-?\d{1,15}:(?:\*|-?\d{1,15})$/)
    .optional(),
  'car-version': z.literal('1').optional(),
  'car-order': z.enum(['dfs', 'unk']).optional(),
  'car-dups': z.enum(['y', 'n']).optional(),
});
export type GatewayQuery = z.infer<typeof gatewayQuery>;

export interface CarRequest {
  readonly format: 'car';
  /** Whether links are followed. */
  readonly all: boolean;
  readonly dups: boolean;
}

export type GatewayRequest = ({ readonly format: 'raw' } | CarRequest) & {
  /** The format came from `Accept`. */
  readonly negotiated: boolean;
};

/** A CID of ours; null for the probe. Throws E_CID for no CID at all, E_NOT_FOUND for one that no store of ours holds. */
export function gatewayCid(text: string): Cid | null {
  if (text === PROBE) return null;
  try {
    return parseCid(text);
  } catch (error) {
    if (!isFault(error, 'E_CID') || !isForeignCid(text)) throw error;
    return fail('E_NOT_FOUND', { where: text, wanted: 'a sha2-256 CIDv1, raw or dag-json' });
  }
}

/** Throws E_REQUEST. */
export function gatewayRequest(query: GatewayQuery, accept: string | undefined): GatewayRequest {
  const chosen = query.format === undefined ? fromAccept(accept ?? '') : null;
  const format = query.format ?? chosen?.format;
  if (format === undefined)
    fail('E_REQUEST', {
      where: 'format',
      wanted: `?format=raw or car, or Accept: ${RAW} or ${CAR}`,
      found: accept ?? 'neither',
    });
  const negotiated = query.format === undefined;
  if (format === 'raw') return { format, negotiated };
  // Parameters of Accept speak only where the query does not.
  const parameters = chosen?.parameters ?? parametersOf(accept ?? '', CAR);
  const { order, dups } = carParameters(query, parameters);
  if (order !== 'dfs' && order !== 'unk')
    fail('E_REQUEST', { where: 'car-order', wanted: 'dfs or unk', found: order });
  const scope = query['dag-scope'] ?? (query['entity-bytes'] === undefined ? 'all' : 'entity');
  // An entity of our codecs is one block: `entity-bytes` selects within it, and a block is never cut.
  const all = scope === 'all' && query['entity-bytes'] === undefined;
  return { format, all, dups: dups === 'y', negotiated };
}

function carParameters(query: GatewayQuery, given: ReadonlyMap<string, string>) {
  const version = query['car-version'] ?? given.get('version') ?? '1';
  const order = query['car-order'] ?? given.get('order') ?? 'dfs';
  const dups = query['car-dups'] ?? given.get('dups') ?? 'n';
  if (version !== '1') fail('E_REQUEST', { where: 'car-version', wanted: '1', found: version });
  if (dups !== 'y' && dups !== 'n') fail('E_REQUEST', { where: 'car-dups', wanted: 'y or n', found: dups });
  return { order, dups };
}

interface MediaRange {
  readonly type: string;
  readonly parameters: ReadonlyMap<string, string>;
  readonly weight: number;
}

function mediaRanges(accept: string): MediaRange[] {
  return accept.split(',').map((part) => {
    const [type = '', ...rest] = part.split(';').map((piece) => piece.trim());
    const parameters = new Map(
      rest.map((pair) => {
        const [name = '', value = ''] = pair.split('=', 2);
        return [name.trim().toLowerCase(), value.trim().replace(/^"(.*)"$/, '$1')] as const;
      }),
    );
    const weight = parameters.has('q') ? Number(parameters.get('q')) : 1;
    return { type: type.toLowerCase(), parameters, weight: Math.max(weight, 0) };
  });
}

const parametersOf = (accept: string, type: string): ReadonlyMap<string, string> =>
  mediaRanges(accept).find((range) => range.type === type)?.parameters ?? new Map();

function fromAccept(accept: string) {
  const known = mediaRanges(accept)
    .filter(({ type, weight }) => weight > 0 && (type === RAW || type === CAR))
    .sort((a, b) => b.weight - a.weight);
  const [best] = known;
  if (best === undefined) return null;
  return { format: best.type === RAW ? ('raw' as const) : ('car' as const), parameters: best.parameters };
}

/**
 * The one range of a `Range` header over `size` bytes (RFC 9110 section 14): null to send the whole (no header, several
 * ranges, another unit, malformed), `unsatisfiable` for a well-formed one beyond the end.
 */
export function byteRange(header: string | undefined, size: number): Range | 'unsatisfiable' | null {
  const [, first = '', last = ''] = /^bytes=(\d{0,15})-(\d{0,15})$/.exec(header?.trim() ?? '') ?? [];
  if (first === '' && last === '') return null;
  if (first === '') {
    const length = Math.min(Number(last), size);
    return length === 0 ? 'unsatisfiable' : { start: size - length, end: size };
  }
  const start = Number(first);
  const end = last === '' ? size : Math.min(Number(last) + 1, size);
  if (last !== '' && Number(last) < start) return null;
  return start >= size ? 'unsatisfiable' : { start, end };
}
