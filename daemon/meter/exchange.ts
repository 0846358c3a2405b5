/**
 * One request and its answer: judged, held, reserved, forwarded, recorded, booked.
 * Promises: the steps stand in that order; every hold becomes a booking, at the worst case where no usage came back.
 * Does not promise: more than one attempt.
 */
import type { EventEmitter } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { PassThrough } from 'node:stream';
import { costOf, type Price, worstCaseOf } from '../../rules/cost.ts';
import type { Cid } from '../../store/format/cid.ts';
import { type Ask, readAsk } from './ask.ts';
import { type Booking, type Desk, noteFault } from './desk.ts';
import { holds, openGuard } from './guard.ts';
import { usageReader } from './usage.ts';
import { apiError, BUDGET_LIMIT, badRequest, COST_LIMIT, readBody, refuse } from './wire.ts';

const NOTHING = new Uint8Array();
/** Request headers that are passed on; everything else of the agent's, its key first, stays behind. */
const PASSED = ['anthropic-version', 'accept'] as const;

export async function exchange(
  desk: Desk,
  path: string,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const body = await readBody(request, desk.maxRequestBytes).catch(() => undefined);
  if (body === undefined) return refuse(response, { ...badRequest('request too large'), status: 413 });
  if (holds(body, desk.key)) {
    noteFault(desk, 'request', new Error('the model key stands in a request body'));
    return refuse(response, apiError('not available'));
  }
  const ask = readAsk(body, Object.keys(desk.prices));
  if ('why' in ask) return refuse(response, badRequest(ask.why));
  const price = desk.prices[ask.model] as Price;
  const worstCaseMicros = worstCaseOf({ bytes: body.length, maxTokens: ask.maxTokens }, price);
  // Once a cap was met this run is over: a smaller request would only spend more on it.
  const broken = desk.seen.refusedBy ?? desk.budget.take(worstCaseMicros);
  if (broken !== undefined) {
    desk.seen.refusedBy = broken;
    return refuse(response, broken === 'run' ? COST_LIMIT : BUDGET_LIMIT);
  }
  try {
    await pay(desk, { path, request, body, response, ask, price, worstCaseMicros });
  } catch (cause) {
    noteFault(desk, 'exchange', cause);
    refuse(response, apiError('not available'));
  }
}

interface Going {
  readonly path: string;
  readonly request: IncomingMessage;
  readonly body: Uint8Array;
  readonly response: ServerResponse;
}
interface Held extends Going {
  readonly ask: Ask;
  readonly price: Price;
  readonly worstCaseMicros: number;
}

/** From the hold to the booking. Rejects where recording failed; then the hold stays, and the ledger's too. */
async function pay(desk: Desk, held: Held): Promise<void> {
  const { body, response, worstCaseMicros } = held;
  desk.seen.sent += 1;
  const sequence = desk.seen.sent;
  const request = await desk.emit(body);
  desk.seen.first ??= request;
  // Dead here: the request is a block without a reservation; nothing was sent.
  const { model, maxTokens } = held.ask;
  const reservation = await desk.reserve({
    sequence,
    request,
    bytes: body.length,
    model,
    maxTokens,
    worstCaseMicros,
  });
  // Dead here, and until the booking: the reservation stands alone and counts as its worst case.
  const { complete, ...got } = await forward(desk, held);
  const micros = got.usage === undefined ? worstCaseMicros : costOf(got.usage, held.price);
  const basis = got.usage === undefined ? 'worst-case' : 'usage';
  await desk.book({ reservation, sequence, request, ...got, micros, basis, complete });
  desk.budget.settle(worstCaseMicros, micros);
  desk.seen.exchanges += 1;
  // Only now may the agent go on: an answer it has is an answer we have.
  if (complete) response.end();
  else refuse(response, apiError('no answer'));
}

type Got = Pick<Booking, 'response' | 'status' | 'usage' | 'complete'>;

/** Rejects only where recording failed: what the upstream does wrong is an incomplete answer. */
async function forward(desk: Desk, { path, request, body, response }: Going): Promise<Got> {
  const headers: Record<string, string> = {
    'content-type': 'application/json',
    'accept-encoding': 'identity',
  };
  for (const name of PASSED) {
    const value = request.headers[name];
    if (typeof value === 'string') headers[name] = value;
  }
  const answer = await desk.upstream.send(path, headers, body).catch(() => undefined);
  if (answer === undefined) return { status: 0, response: await desk.emit(NOTHING), complete: false };
  const status = answer.statusCode ?? 502;
  if ((answer.headers['content-encoding'] ?? 'identity') !== 'identity') {
    answer.destroy();
    return { status, response: await desk.emit(NOTHING), complete: false };
  }
  return { status, ...(await relay(desk, answer, response)) };
}

/** Passes the body on while it is searched, counted and recorded. */
async function relay(
  desk: Desk,
  answer: IncomingMessage,
  response: ServerResponse,
): Promise<Omit<Got, 'status'>> {
  const guard = openGuard(desk.key);
  const reader = usageReader(answer.headers['content-type'] ?? '', desk.maxResponseBytes);
  const sink = openSink(desk, answer, response);
  const pass = async (bytes: Uint8Array) => {
    reader.feed(bytes);
    await sink.pass(bytes);
  };
  let whole = false;
  try {
    for await (const chunk of answer) {
      await pass(guard.feed(chunk as Buffer));
      if (guard.tripped() || sink.size() > desk.maxResponseBytes) break;
    }
    whole = answer.complete && !guard.tripped() && sink.size() <= desk.maxResponseBytes;
    if (whole) await pass(guard.rest());
  } catch {
    // The upstream broke off: what came so far is kept as evidence, and the answer counts as incomplete.
    whole = false;
  }
  answer.destroy();
  const cid = await sink.end(whole);
  if (guard.tripped()) noteFault(desk, 'response', new Error('the model key stands in a response body'));
  const usage = whole ? reader.end() : undefined;
  return { response: cid, complete: whole, ...(usage === undefined ? {} : { usage }) };
}

/** Clean bytes go to the agent and to the store, at the pace of the slower one. */
function openSink(desk: Desk, answer: IncomingMessage, response: ServerResponse) {
  const copy = new PassThrough();
  const stored = desk.emit(copy);
  // Awaited in `end`; here a failing store only stops being waited for while the body still streams.
  stored.catch(() => copy.resume());
  // A store that gives up destroys its end; what it says is in `stored`.
  copy.on('error', () => {});
  let size = 0;
  const head = () => {
    if (!response.headersSent) response.writeHead(answer.statusCode ?? 502, passedBack(answer, desk.key));
  };
  return {
    size: () => size,
    async pass(bytes: Uint8Array): Promise<void> {
      if (bytes.length === 0) return;
      head();
      size += bytes.length;
      const waits: Promise<void>[] = [];
      // Listened for at once: a drain that comes while the other side is waited for would be missed.
      if (!response.destroyed && !response.write(bytes)) waits.push(anyOf(response, ['drain', 'close']));
      if (!copy.destroyed && !copy.write(bytes)) waits.push(anyOf(copy, ['drain', 'close']));
      await Promise.all(waits);
    },
    end(whole: boolean): Promise<Cid> {
      if (whole) head();
      copy.end();
      return stored;
    },
  };
}

/** Resolves at the first of these events, and leaves no listener behind. */
function anyOf(emitter: EventEmitter, names: readonly string[]): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      for (const name of names) emitter.off(name, done);
      resolve();
    };
    for (const name of names) emitter.on(name, done);
  });
}

/** Response headers the agent needs; none that could carry the key. */
function passedBack(answer: IncomingMessage, key: string | undefined): Record<string, string> {
  const back: Record<string, string> = { connection: 'close' };
  for (const name of ['content-type', 'retry-after'] as const) {
    const value = answer.headers[name];
    if (value !== undefined && !holds(Buffer.from(value), key)) back[name] = value;
  }
  return back;
}
