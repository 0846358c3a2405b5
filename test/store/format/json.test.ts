import fc from 'fast-check';
import t from 'tap';
import { isFault } from '../../../store/format/errors.ts';
import {
  canonicalJson,
  decimalOf,
  isJsonNumber,
  type Json,
  type JsonLimits,
  parseJson,
  prettyJson,
} from '../../../store/format/json.ts';

const read = (text: string | Uint8Array, limits?: JsonLimits) =>
  parseJson(Buffer.from(text as string), limits);

/** The printed fault, which must be E_JSON. */
function refusal(text: string | Uint8Array, limits?: JsonLimits): string {
  try {
    read(text, limits);
  } catch (error) {
    if (isFault(error, 'E_JSON')) return error.message;
    throw error;
  }
  return 'accepted';
}

const REPLY = '{"project":"p1","queue_before_count":0,"restore_seconds":0.5}';
const reply = (count: string) => REPLY.replace(':0,', `:${count},`);

const REFUSED: [string | Uint8Array, RegExp][] = [
  // before, inside and after the text
  [`\ufeff${REPLY}`, /line 1, column 1 \(""\).*a byte order mark/],
  [Buffer.from(REPLY, 'utf16le'), /line 1, column 2.*found "\\u0000"/],
  [
    Buffer.concat([Buffer.from('{"a":"é\n'), Buffer.from([0xff])]),
    /line 2, column 1; wanted UTF-8; found byte 255/,
  ],
  [Buffer.concat([Buffer.from('"\ufffd'), Buffer.from([0xed, 0xa0, 0x80, 0x22])]), /column 3; wanted UTF-8/],
  [Buffer.from([0x22, 0xc0, 0x80, 0x22]), /wanted UTF-8/],
  [`${REPLY}\0`, /wanted nothing after the value; found "\\u0000"/],
  ['{"project":"\\ud800"}', /\("\/project"\).*a lone surrogate/],
  ['{"project":"\\udc00\\ud800"}', /a lone surrogate/],
  ['{"\\ud800":1}', /a lone surrogate/],
  // two values for one name
  [
    '{"project":"p1",\n "project":"p2"}',
    /line 2, column 2 \(""\); wanted each key once; found "project" again/,
  ],
  ['{"project":"p1","proj\\u0065ct":"p2"}', /each key once/],
  ['{"__proto__":1,"\\u005f_proto__":2}', /each key once/],
  ['{"a":[{"b~/c":{"d":1,"d":1}}]}', /\("\/a\/0\/b~0~1c"\)/],
  // exactly one value
  [`${REPLY}\n${REPLY}\n`, /line 2, column 1.*nothing after the value; found "\{"/],
  [`INFO [db] Connected\n${REPLY}`, /column 1.*wanted a value; found "I"/],
  [`${REPLY}\ndone\n`, /nothing after the value/],
  ['', /wanted a value; found the end/],
  [' \n', /found the end/],
  // numbers
  [reply('NaN'), /\("\/queue_before_count"\); wanted a value; found "N"/],
  [reply('Infinity'), /wanted a value/],
  [reply('1e400'), /\("\/queue_before_count"\); wanted a number that reads back; found 1e400/],
  [reply('9007199254740993'), /reads back; found 9007199254740993/],
  [reply('12345678901234567890'), /reads back/],
  [reply('1e-400'), /reads back/],
  [reply('0.1000000000000000055511151231257827'), /reads back/],
  [reply('01'), /a number of JSON/],
  [reply('+1'), /wanted a value/],
  [reply('.5'), /wanted a value/],
  [reply('1.'), /a number of JSON/],
  [reply('-'), /a number of JSON/],
  [reply('1e'), /a number of JSON/],
  [reply('--1'), /a number of JSON/],
  [reply('0x10'), /wanted , or \}/],
  [reply('1_000'), /wanted , or \}/],
  // grammar
  ['[1,]', /\("\/1"\); wanted a value; found "\]"/],
  ['[1 2]', /wanted , or \]/],
  ['[1', /found the end/],
  ['{"a":1,}', /a key in double quotes/],
  ["{'a':1}", /a key in double quotes/],
  ['{a:1}', /a key in double quotes/],
  ['{"a" 1}', /wanted :/],
  ['{"a":1', /wanted , or \}; found the end/],
  ['"abc', /a string that ends; found the end/],
  ['"a\\"', /a string that ends/],
  ['"a\nb"', /a string that ends; found "\\n"/],
  ['"a\tb"', /a string that ends; found "\\t"/],
  ['"\\x41"', /the escapes of JSON/],
  ['"\\u12"', /the escapes of JSON/],
  ['"\\u12g4"', /the escapes of JSON/],
  ['"\\\n"', /the escapes of JSON/],
  ['tru', /wanted a value/],
  ['nulll', /nothing after the value/],
  ['/* a */ 1', /wanted a value/],
  ['1 // b', /nothing after the value/],
  ['\u00a01', /wanted a value/],
  ['\v1', /wanted a value/],
];

t.test('each refusal says where and why', async (t) => {
  for (const [text, reason] of REFUSED)
    t.match(refusal(text), reason, JSON.stringify(Buffer.from(text as string).toString()));
});

t.test('what is accepted is what the text says', async (t) => {
  const good: [string, Json][] = [
    [REPLY, { project: 'p1', queue_before_count: 0, restore_seconds: 0.5 }],
    [` ${REPLY}\r\n\n`, { project: 'p1', queue_before_count: 0, restore_seconds: 0.5 }],
    ['[]', []],
    [' { } ', {}],
    ['[ true , false , null ]', [true, false, null]],
    ['"\\u00e9\\n\\ud83d\\ude00\\/\\"\\\\"', 'é\n😀/"\\'],
    ['"\u007f\u0085\u2028😀\ufeff"', '\u007f\u0085\u2028😀\ufeff'],
    [
      '{"constructor":1,"hasOwnProperty":2,"":3}',
      { constructor: 1, hasOwnProperty: 2, '': 3 } as unknown as Json,
    ],
    ['0.1', 0.1],
    ['1e2', 100],
    ['100.0', 100],
    ['-1.50E-3', -0.0015],
    ['9007199254740992', 9007199254740992],
    ['1e22', 1e22],
    ['5e-324', 5e-324],
    ['1.7976931348623157e308', Number.MAX_VALUE],
    ['0.30000000000000004', 0.1 + 0.2],
    ['0e999999', 0],
  ];
  // Names are kept to ASCII: U+0085 and U+2028 would break the lines of the test protocol.
  for (const [text, value] of good) t.strictSame(read(text), value, encodeURI(text));
  t.ok(Object.is(read('-0'), 0), 'minus zero is zero');
  t.ok(Object.is(read('-0.0e5'), 0));
  const odd = read('{"__proto__":{"x":1},"a":2}') as Record<string, Json>;
  t.same(Object.keys(odd), ['__proto__', 'a'], '__proto__ is a key like any other');
  t.equal(Object.getPrototypeOf(odd), Object.prototype);
  t.equal((odd as { x?: unknown }).x, undefined);
});

t.test('numbers can be kept as they were written', async (t) => {
  const values = read('{"a":0.10,"b":12345678901234567890,"c":{"number":"0.1"},"d":1e400}', {
    numbers: 'text',
  });
  const { a, b, c, d } = values as Record<string, Json>;
  t.same(a, { number: '0.10' });
  t.match(b, { number: '12345678901234567890' });
  t.match(d, { number: '1e400' });
  t.ok(isJsonNumber(a) && isJsonNumber(b));
  t.notOk(isJsonNumber(c), 'a map of the same shape is a map');
  t.notOk([null, 1, 'x', []].some(isJsonNumber));
  t.throws(() => canonicalJson(values), { code: 'E_JSON' });
  const decimals: [string, string | undefined][] = [
    ['0.10', '0.1'],
    ['-0', '0'],
    ['-0.0e9', '0'],
    ['1e2', '100'],
    ['1.25E+1', '12.5'],
    ['-1.50e-3', '-0.0015'],
    ['12345678901234567890', '12345678901234567890'],
    ['120', '120'],
    ['0.000001', '0.000001'],
    ['1e-7', '0.0000001'],
    ['1e400', undefined],
    ['1e-500', undefined],
    ['1e99999999999999999999', undefined],
  ];
  for (const [text, decimal] of decimals) t.equal(decimalOf(text), decimal, text);
});

t.test('size and depth have limits', async (t) => {
  const deep = (levels: number) => '['.repeat(levels) + ']'.repeat(levels);
  t.doesNotThrow(() => read(deep(128)));
  t.match(refusal(deep(129)), /at most 128 levels/);
  t.match(refusal('{"a":'.repeat(200_000)), /at most 128 levels/, 'and no stack overflow');
  t.match(refusal(deep(3), { maxDepth: 2 }), /column 3 \("\/0\/0"\); wanted at most 2 levels/);
  t.doesNotThrow(() => read('1', { maxDepth: 0 }));
  t.match(refusal('[1,2]', { maxBytes: 4 }), /at most 4 bytes; found 5/);
  t.doesNotThrow(() => read('"é"', { maxBytes: 4 }));
});

t.test('canonical text is RFC 8785', async (t) => {
  // The sample of RFC 8785 section 3.2.2 and its canonical form, section 3.2.3.
  const sample = {
    numbers: [Number('333333333.33333329'), 1e30, 4.5, 2e-3, 0.000000000000000000000000001],
    string: '\u20ac$\u000F\u000aA\'\u0042\u0022\u005c\\"/',
    literals: [null, true, false],
  };
  const wanted =
    '{"literals":[null,true,false],"numbers":[333333333.3333333,1e+30,4.5,0.002,1e-27],' +
    '"string":"€$\\u000f\\nA\'B\\"\\\\\\\\\\"/"}';
  t.equal(canonicalJson(sample), wanted);
  // Section 3.2.3, sorting: by UTF-16 code units, not by code points.
  const keys = { '\u20ac': 1, '\r': 2, '\ufb33': 3, '1': 4, '😀': 5, '\u0080': 6, ö: 7 };
  t.equal(canonicalJson(keys), '{"\\r":2,"1":4,"\u0080":6,"ö":7,"€":1,"😀":5,"\ufb33":3}');
  t.equal(
    prettyJson({ b: [1, {}, []], a: 'x' }),
    '{\n  "b": [\n    1,\n    {},\n    []\n  ],\n  "a": "x"\n}\n',
  );
  const odd = [
    undefined,
    Number.NaN,
    Number.POSITIVE_INFINITY,
    '\ud800',
    { a: undefined },
    { '\ud800': 1 },
    [() => 1],
    1n,
  ];
  for (const value of odd) {
    t.throws(() => canonicalJson(value as unknown as Json), { code: 'E_JSON' });
    t.throws(() => prettyJson(value as unknown as Json), { code: 'E_JSON' });
  }
});

t.test(
  'property: we agree with JSON.parse wherever we accept, and accept all that we and it write',
  async (t) => {
    const seed = fc.sample(fc.integer(), 1)[0] as number;
    t.comment(`seed ${seed}`);
    const wellFormed = fc.jsonValue().filter((value) => JSON.stringify(value).isWellFormed());
    fc.assert(
      fc.property(wellFormed, (value) => {
        // JSON.stringify writes minus zero as 0.
        const plain = JSON.parse(JSON.stringify(value)) as Json;
        for (const text of [
          JSON.stringify(value),
          JSON.stringify(value, null, 3),
          canonicalJson(plain),
          prettyJson(plain),
        ]) {
          t.strictSame(read(text, { maxDepth: 1000 }), plain);
          if (canonicalJson(read(text, { maxDepth: 1000 })) !== canonicalJson(plain)) return false;
        }
        return prettyJson(plain) === `${JSON.stringify(plain, null, 2)}\n`;
      }),
      { seed, numRuns: 200 },
    );
    const broken = fc.tuple(
      fc.json(),
      fc.nat(),
      fc.constantFrom('', '"', '\\', ',', '0', ' ', '{', ']', '\u0001', '-'),
    );
    fc.assert(
      fc.property(broken, ([text, at, insert]) => {
        const cut = at % (text.length + 1);
        const other = text.slice(0, cut) + insert + text.slice(cut + 1);
        if (!other.isWellFormed()) return true;
        let theirs: unknown;
        try {
          theirs = JSON.parse(other);
        } catch {
          return refusal(other) !== 'accepted';
        }
        // Where JSON.parse accepts, we refuse with a reason of ours or say the same.
        return (
          /reads back|once|surrogate|levels/.test(refusal(other)) ||
          canonicalJson(read(other)) === canonicalJson(theirs as Json)
        );
      }),
      { seed, numRuns: 2000 },
    );
  },
);
