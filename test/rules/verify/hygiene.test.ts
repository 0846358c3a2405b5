/** What may not be published, in whatever it is wrapped. Shapes are put together here: no file holds one. */
import t from 'tap';
import { findingsIn } from '../../../rules/hygiene/find.ts';

const HOME = ['', 'home'].join('/');
const token = ['gh', 'p_', 'a1B2'.repeat(9)].join('');
const lines = (values: readonly string[]) =>
  Buffer.from(values.map((value) => `${JSON.stringify({ t: value })}\n`).join(''));
const linesOf = (bytes: Uint8Array) => [...new Set(findingsIn(bytes).map(({ line }) => line))];

t.test('host paths and secret shapes of the public reports: seven lines of seven, and no look-alike', (t) => {
  const bad = [
    `${HOME}/alice/work/x.py line 3`,
    'C:\\Users\\alice\\x',
    JSON.stringify({ inner: `${HOME}/bob/.ssh/config` }),
    `file://${HOME}/alice/a`,
    `key ${['AK', 'IA', 'Q3EGRV7N5XKJ2M4P'].join('')}`,
    ['AI', 'zaSy', 'A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q'].join(''),
    `x-api-key: ${'f'.repeat(8)}0123456789abcdef`,
  ];
  t.same(linesOf(lines(bad)), [1, 2, 3, 4, 5, 6, 7]);
  const good = [
    '/workspace/src/a.rs',
    '/usr/lib/node',
    `https://example.com${HOME}/alice`,
    '~/.smb-work/x',
    `sha512-${'a'.repeat(86)}==`,
    'ASIAPACIFIC',
    '/tmp/pytest-of-root/0',
    `${HOME}/agent/.agent/session.jsonl`,
  ];
  t.same(findingsIn(lines(good)), []);
  t.end();
});

t.test('a secret in JSON in JSON, in percent escapes, in Base64 and in all of them', (t) => {
  const json = (text: string) => JSON.stringify({ a: text });
  const percent = (text: string) =>
    [...text].map((c) => `%${c.charCodeAt(0).toString(16).padStart(2, '0')}`).join('');
  const base64 = (text: string) => Buffer.from(text).toString('base64');
  const wrapped = {
    json: json(json(json(token))),
    unicode: [...token].map((c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`).join(''),
    percent: percent(token),
    base64: base64(`the token is ${token}`),
    all: json(base64(json(percent(`token ${token} here`)))),
  };
  for (const [how, text] of Object.entries(wrapped))
    t.same(findingsIn(Buffer.from(text)), [{ line: 1, shape: 'github-token' }], how);
  t.end();
});

t.test('a key of several lines is found; the finding tells its place and never its value', (t) => {
  const label = ['PRIVATE', 'KEY'].join(' ');
  const key = `a\n-----BEGIN ${label}-----\n${'QUJDREVG'.repeat(8)}\n-----END ${label}-----\n`;
  const found = findingsIn(Buffer.from(key));
  t.same(found, [{ line: 2, shape: 'private-key' }]);
  t.notMatch(JSON.stringify(findingsIn(Buffer.from(token))), new RegExp(token));
  t.end();
});
