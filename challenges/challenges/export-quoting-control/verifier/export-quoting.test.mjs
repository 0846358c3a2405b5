import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ask } from './program.mjs';

const HEAD = 'booking,boat,owner,berth,from,to,nights\n';

/** The export of one night for a boat and an owner of these names. */
function exportOf(boat, owner) {
  const stay = { berth: 'E2', from: '2025-05-03', to: '2025-05-04' };
  const [booked, exported] = ask(
    { cmd: 'book', boat, owner, length: 9, ...stay },
    { cmd: 'export', from: stay.from, to: stay.to },
  );
  assert.equal(booked.ok, true, JSON.stringify(booked));
  assert.equal(exported.ok, true, JSON.stringify(exported));
  return exported.csv;
}

const rowOf = (boat, owner) => `${HEAD}B1,${boat},${owner},E2,2025-05-03,2025-05-04,1\n`;

test('comma-is-quoted', () => {
  assert.equal(exportOf('Tern, the Elder', 'Jon Hale'), rowOf('"Tern, the Elder"', 'Jon Hale'));
});

test('quote-is-doubled', () => {
  assert.equal(exportOf('Tern', 'Jon "Jo" Hale'), rowOf('Tern', '"Jon ""Jo"" Hale"'));
});

test('line-breaks-are-quoted', () => {
  assert.equal(exportOf('Tern\nof Hull', 'Jon\r\nHale'), rowOf('"Tern\nof Hull"', '"Jon\r\nHale"'));
});

test('several-at-once', () => {
  assert.equal(exportOf('"A", "B"\n', 'x"'), rowOf('"""A"", ""B"""', '"x"""'));
});

test('others-stay-bare', () => {
  assert.equal(exportOf("Tern's; Nest", 'Åsa Öhman'), rowOf("Tern's; Nest", 'Åsa Öhman'));
});

test('must-fail-bare-comma', () => {
  assert.equal(exportOf('Tern, the Elder', 'Jon Hale'), rowOf('Tern; the Elder', 'Jon Hale'));
});

test('must-fail-all-quoted', () => {
  assert.equal(exportOf('Tern', 'Jon Hale'), rowOf('"Tern"', '"Jon Hale"'));
});
