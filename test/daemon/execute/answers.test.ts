/** Whose failure an error answer is: every status that a model service gives, and what gateways make of them. */
import t from 'tap';
import { oursIn } from '../../../daemon/execute/answers.ts';

const errorBody = (type: string, message = type) =>
  Buffer.from(JSON.stringify({ type: 'error', error: { type, message } }));
const ours = (status: number, body: Uint8Array = errorBody('x'), complete = true): boolean =>
  oursIn({ status, complete, body }) !== undefined;

t.test('by status alone: a request that is wrong is the agent’s, the rest of the errors ours', (t) => {
  const agents = new Set([
    400, 406, 410, 411, 412, 413, 414, 415, 416, 417, 418, 421, 422, 423, 424, 426, 428, 431, 451,
  ]);
  for (let status = 400; status < 600; status++) {
    if (status > 431 && status < 451) continue;
    if (
      status < 500 &&
      !agents.has(status) &&
      ![401, 402, 403, 404, 405, 407, 408, 409, 425, 429].includes(status)
    )
      continue;
    t.equal(ours(status), !agents.has(status), String(status));
  }
  for (const status of [200, 201, 204]) t.notOk(ours(status), String(status));
  for (const status of [0, 301, 302, 307]) t.ok(ours(status), `${status}: no answer of the model at all`);
  t.end();
});

t.test('by the type of the error, whatever status a gateway gives it', (t) => {
  for (const type of [
    ...['authentication_error', 'permission_error', 'billing_error', 'insufficient_quota', 'not_found_error'],
    ...['rate_limit_error', 'timeout_error', 'api_error', 'overloaded_error'],
  ])
    t.ok(ours(400, errorBody(type)), type);
  for (const type of ['invalid_request_error', 'request_too_large', 'constructor', '__proto__'])
    t.notOk(ours(400, errorBody(type)), type);
  t.end();
});

t.test('an account without money that is told as a bad request', (t) => {
  for (const message of [
    'Your credit balance is too low',
    'You exceeded your current quota',
    'Billing hard limit',
  ])
    t.ok(ours(400, errorBody('invalid_request_error', message)), message);
  t.notOk(ours(400, errorBody('invalid_request_error', 'messages.0: roles must alternate')));
  t.notOk(ours(422, errorBody('invalid_request_error', 'payment')), 'only where services do so');
  t.end();
});

t.test(
  'an answer that broke off is ours whatever it began with; a body that cannot be read says nothing',
  (t) => {
    for (const status of [0, 200, 400, 413, 500]) t.ok(ours(status, errorBody('x'), false), String(status));
    for (const text of [
      '',
      'x',
      '[]',
      'null',
      '{"error":null}',
      '{"error":3}',
      '{"error":{"type":7}}',
      '{"error":',
    ])
      t.notOk(ours(400, Buffer.from(text)), text);
    t.end();
  },
);
