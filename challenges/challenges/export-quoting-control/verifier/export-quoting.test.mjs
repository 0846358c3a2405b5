import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ask } from './program.mjs';

/** Names of a boat and its owner, and how the two fields look in the export. */
const NAMES = {
  comma: { boat: 'Tern, the Elder', owner: 'Jon Hale', fields: '"Tern, the Elder",Jon Hale' },
  quote: { boat: 'Tern', owner: 'Jon "Jo" Hale', fields: 'Tern,"Jon ""Jo"" Hale"' },
  breaks: { boat: 'Tern\nof Hull', owner: 'Jon\r\nHale', fields: '"Tern\nof Hull","Jon\r\nHale"' },
  several: { boat: '"A", "B"', owner: 'x"\n,y', fields: '"""A"", ""B""","x""\n,y"' },
  others: { boat: "Tern's; Nest", owner: 'Åsa Öhman', fields: "Tern's; Nest,Åsa Öhman" },
};

/** The export of the one night in which the boat of that name lies at its berth. */
function exportOf(name) {
  const requests = Object.values(NAMES).flatMap(({ boat, owner }, index) => {
    const stay = { from: `2025-05-0${index + 1}`, to: `2025-05-0${index + 2}` };
    return [
      { cmd: 'book', boat, owner, berth: 'E2', length: 9, ...stay },
      { cmd: 'export', ...stay },
    ];
  });
  return ask(...requests)[Object.keys(NAMES).indexOf(name) * 2 + 1].csv;
}

function expected(name, fields = NAMES[name].fields) {
  const at = Object.keys(NAMES).indexOf(name) + 1;
  const row = `B${at},${fields},E2,2025-05-0${at},2025-05-0${at + 1},1\n`;
  return `booking,boat,owner,berth,from,to,nights\n${row}`;
}

test('comma-is-quoted', () => {
  assert.equal(exportOf('comma'), expected('comma'));
});

test('quote-is-doubled', () => {
  assert.equal(exportOf('quote'), expected('quote'));
});

test('line-breaks-are-quoted', () => {
  assert.equal(exportOf('breaks'), expected('breaks'));
});

test('several-at-once', () => {
  assert.equal(exportOf('several'), expected('several'));
});

test('others-stay-bare', () => {
  assert.equal(exportOf('others'), expected('others'));
});

test('must-fail-other-sign', () => {
  assert.equal(exportOf('comma'), expected('comma', '"Tern; the Elder",Jon Hale'));
});

test('must-fail-all-quoted', () => {
  assert.equal(exportOf('others'), expected('others', '"Tern\'s; Nest","Åsa Öhman"'));
});
