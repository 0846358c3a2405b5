import fc from 'fast-check';
import t from 'tap';
import { toBase64 } from '../../../store/format/base64.ts';
import {
  openCheckpoint,
  parseCheckpoint,
  parseLogProof,
  printCheckpoint,
  printLogProof,
  signCheckpoint,
  verifyLogged,
} from '../../../store/format/checkpoint.ts';
import { leafHash, nodeHash, treeRoot } from '../../../store/format/merkle.ts';
import {
  addSignatures,
  cosigner,
  noteSigner,
  openNote,
  parseNote,
  parseVerifierKey,
  printNote,
  printVerifierKey,
  signNote,
  verifierKey,
} from '../../../store/format/note.ts';
import { openUnderPolicy, parsePolicy, quorumMet } from '../../../store/format/policy.ts';

const E_NOTE = { code: 'E_NOTE' };
const E_SIGNATURE = { code: 'E_SIGNATURE' };
const utf8 = (text: string) => Buffer.from(text);
const seed = (byte: number) => Buffer.alloc(32, byte);

// Published vectors: the verifier key and note of C2SP signed-note, and the keys, text and signatures of
// golang.org/x/mod/sumdb/note, whose seed is public (here without its type byte).
const SPEC_KEY = 'example.com/foo+530d903a+AekyeRrm56hApGFkyQR4ZCbV54Id2LKaANYcrnKv3U2k';
const SPEC_NOTE =
  'This is an example message.\n\n' +
  '— example.com/foo Uw2QOkn8srV1yJGh2VYRlL1Tnagv1YEq6TfXppzi2ONncAlTgK7Ztg1ERYNZXsYjOBH3mFXmRKuwHjG1Yu72IneyaQM=\n';
const PETER_SEED = Buffer.from('AYEKFALVFGyNhPJEMzD1QIDr+Y7hfZx09iUvxdXHKDFz', 'base64').subarray(1);
const PETER_KEY = 'PeterNeumann+c74f20a3+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW';
const ENOCH_KEY = 'EnochRoot+af0cfe78+ATtqJ7zOtqQtYqOo0CpvDXNlMhV3HeJDpjrASKGLWdop';
const TEXT =
  "If you think cryptography is the answer to your problem,\nthen you don't know what your problem is.\n";
const PETER_LINE =
  '— PeterNeumann x08go/ZJkuBS9UG/SffcvIAQxVBtiFupLLr8pAcElZInNIuGUgYN1FFYC2pZSNXgKvqfqdngotpRZb6KE6RyyBwJnAM=\n';
const ENOCH_LINE =
  '— EnochRoot rwz+eBzmZa0SO3NbfRGzPCpDckykFXSdeX+MNtCOXm2/5n2tiOHp+vAF1aGrQ5ovTG01oOTGwnWLox33WWd1RvMc+QQ=\n';
// A cosignature key of the public witness network (transparency-dev/formats).
const WITNESS_KEY = 'remora.n621.de+da77ade7+BOvN63jn/bLvkieywe8R6UYAtVtNbZpXh34x7onlmtw2';

t.test('published notes and keys read, verify, and are written byte for byte', async (t) => {
  for (const key of [SPEC_KEY, PETER_KEY, ENOCH_KEY, WITNESS_KEY]) {
    t.equal(printVerifierKey(parseVerifierKey(key)), key);
  }
  t.equal(openNote(utf8(SPEC_NOTE), [parseVerifierKey(SPEC_KEY)]).text, 'This is an example message.\n');
  const peter = noteSigner('PeterNeumann', PETER_SEED);
  t.equal(printVerifierKey(peter.key), PETER_KEY);
  t.equal(Buffer.from(signNote(TEXT, [peter])).toString(), `${TEXT}\n${PETER_LINE}`);
  const both = utf8(`${TEXT}\n${PETER_LINE}${ENOCH_LINE}`);
  const one = openNote(both, [peter.key]);
  t.same(
    one.verified.map(({ name }) => name),
    ['PeterNeumann'],
  );
  t.same(
    one.unknown.map(({ name, id }) => `${name}+${id}`),
    ['EnochRoot+af0cfe78'],
  );
  t.equal(openNote(both, [parseVerifierKey(ENOCH_KEY), peter.key]).verified.length, 2);
  t.throws(() => openNote(both, []), E_SIGNATURE);
  t.throws(() => openNote(utf8(both.toString().replace('answer', 'anwser')), [peter.key]), E_SIGNATURE);
});

t.test(
  'a key of a known name but another id is unknown, a wrong signature of a known key spoils the note',
  async (t) => {
    const [a, b] = [noteSigner('a', seed(1)), noteSigner('b', seed(2))];
    const otherA = noteSigner('a', seed(3));
    const note = signNote('x\n', [a, b]);
    t.throws(() => openNote(note, [otherA.key]), E_SIGNATURE);
    t.same(openNote(note, [otherA.key, b.key]).verified[0]?.name, 'b');
    const { text, signatures } = parseNote(note);
    const swapped = signatures.map((line, i) => ({
      ...line,
      signature: signatures[1 - i]?.signature as Uint8Array,
    }));
    t.throws(() => openNote(printNote({ text, signatures: swapped }), [a.key, b.key]), E_SIGNATURE);
    const cut = signatures.map((line) => ({ ...line, signature: line.signature.subarray(0, 63) }));
    t.throws(() => openNote(printNote({ text, signatures: cut }), [a.key]), E_SIGNATURE);
    const twice = printNote({ text, signatures: [...signatures, ...signatures] });
    t.equal(openNote(twice, [a.key, b.key]).verified.length, 2, 'a key counts once');
  },
);

t.test('whatever is not the one spelling of a note is refused', async (t) => {
  const bad: Record<string, string | Uint8Array> = {
    empty: '',
    'no signature': 'x\n\n',
    'no blank line': `x\n${PETER_LINE}`,
    'no last newline': `x\n\n${PETER_LINE.slice(0, -1)}`,
    'a carriage return': `x\r\n\r\n${PETER_LINE}`,
    'a control character': `x\t\n\n${PETER_LINE}`,
    'bad UTF-8': Buffer.concat([Buffer.from([0xff]), utf8(`x\n\n${PETER_LINE}`)]),
    'a hyphen for the dash': `x\n\n- a YWJjZGVm\n`,
    'two spaces': `x\n\n—  a YWJjZGVm\n`,
    'a space at the end': `x\n\n— a YWJjZGVm \n`,
    'no name': `x\n\n— YWJjZGVm\n`,
    'an empty name': `x\n\n—  YWJjZGVm\n`,
    'a plus in a name': `x\n\n— a+b YWJjZGVm\n`,
    'a no-break space in a name': `x\n\n— a\u00a0b YWJjZGVm\n`,
    'a line separator in a name': `x\n\n— a\u2028b YWJjZGVm\n`,
    'a key id only': `x\n\n— a YWJjZA==\n`,
    'no padding': `x\n\n— a YWJjZGVmZw\n`,
    'trailing bits': `x\n\n— a YWJjZGVmZx==\n`,
    'the URL alphabet': `x\n\n— a YWJj__-_\n`,
    'text among the signatures': `x\n\n— a YWJjZGVm\nhello\n`,
    'too many': `x\n\n${'— a YWJjZGVm\n'.repeat(101)}`,
  };
  for (const [name, note] of Object.entries(bad))
    t.throws(() => parseNote(Buffer.from(note as string)), E_NOTE, name);
  t.equal(parseNote(utf8(`x\n\n${'— a YWJjZGVm\n'.repeat(100)}`)).signatures.length, 100);
  t.equal(
    parseNote(utf8(`\ufeffx\n\ny\n\n— a YWJjZGVm\n`)).text,
    '\ufeffx\n\ny\n',
    'the last empty line divides',
  );
  t.throws(() => printNote({ text: 'x', signatures: parseNote(utf8(SPEC_NOTE)).signatures }), E_NOTE);
  t.throws(() => printNote({ text: 'x\n', signatures: [] }), E_NOTE);
  t.throws(() => printNote({ text: '\ud800\n', signatures: parseNote(utf8(SPEC_NOTE)).signatures }), E_NOTE);
  // Any one-byte change either is refused, or is another note with one spelling of its own.
  const good = utf8(SPEC_NOTE);
  const key = parseVerifierKey(SPEC_KEY);
  for (let i = 0; i < good.length; i++) {
    for (const byte of [0x20, 0x0a, 0x41, 0x3d, (good[i] as number) ^ 1]) {
      const other = Buffer.from(good);
      other[i] = byte;
      if (byte !== good[i]) t.throws(() => openNote(other, [key]), /E_NOTE|E_SIGNATURE/);
    }
  }
});

t.test('whatever is not the one spelling of a key is refused', async (t) => {
  const manglings: string[] = [];
  for (let i = 0; i <= PETER_KEY.length; i++) {
    manglings.push(PETER_KEY.slice(0, i), `${PETER_KEY.slice(0, i)}\u00a0${PETER_KEY.slice(i)}`);
  }
  const wrongLength = 'PeterNeumann+cc469956+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TWBADKEY==';
  const unknownType = 'PeterNeumann+173116ae+ZRpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW';
  const wrongId = PETER_KEY.replace('c74f20a3', 'c74f20a4');
  for (const key of [...manglings.filter((key) => key !== PETER_KEY), wrongLength, unknownType, wrongId]) {
    t.throws(() => parseVerifierKey(key), E_NOTE, JSON.stringify(key));
  }
  t.throws(() => parseVerifierKey(PETER_KEY.replace('c74f20a3', 'C74F20A3')), E_NOTE);
  t.throws(() => verifierKey('a b', 1, seed(1)), E_NOTE);
  t.throws(() => verifierKey('a', 1, new Uint8Array(31)), E_NOTE);
  // The base64 of a key may hold a plus sign, which also divides the parts.
  const plus = Array.from({ length: 64 }, (_, i) => printVerifierKey(noteSigner('a', seed(i)).key));
  t.ok(plus.some((key) => (key.split('+')[3] ?? '') !== ''));
  for (const key of plus) t.equal(printVerifierKey(parseVerifierKey(key)), key);
});

t.test('a cosignature binds time and text', async (t) => {
  const log = noteSigner('example.org/log', seed(1));
  const witness = cosigner('w.example', seed(2), 1_679_315_147);
  const checkpoint = { origin: 'example.org/log', size: 7, root: seed(9) };
  const note = addSignatures(signCheckpoint(checkpoint, log), [witness]);
  const opened = openCheckpoint(note, log.key, [witness.key]);
  t.same(
    opened.verified.map(({ name, time }) => ({ name, time })),
    [
      { name: 'example.org/log', time: undefined },
      { name: 'w.example', time: 1_679_315_147 },
    ],
  );
  t.same(opened.checkpoint, { ...checkpoint, root: Buffer.from(seed(9)) });
  t.not(witness.key.id, verifierKey('w.example', 1, witness.key.publicKey).id, 'the type is in the id');
  // The signed message, word for word as C2SP tlog-cosignature has it.
  const line = parseNote(note).signatures[1]?.signature as Uint8Array;
  const message = `cosignature/v1\ntime 1679315147\n${printCheckpoint(checkpoint)}`;
  t.same(line.subarray(8), noteSigner('w.example', seed(2)).sign(message));
  t.equal(Buffer.from(line.subarray(0, 8)).readBigUInt64BE(), 1_679_315_147n);
  const { text, signatures } = parseNote(note);
  const later = Uint8Array.from(line);
  later[7] = (later[7] as number) + 1;
  for (const signature of [later, line.subarray(8), line.subarray(0, 71), Buffer.alloc(72, 255)]) {
    const forged = printNote({ text, signatures: [signatures[0] as never, { ...witness.key, signature }] });
    t.throws(() => openCheckpoint(forged, log.key, [witness.key]), E_SIGNATURE);
  }
  t.throws(() => cosigner('w.example', seed(2), 1.5), E_NOTE);
  t.throws(
    () => openCheckpoint(printNote({ text, signatures: signatures.slice(1) }), log.key, [witness.key]),
    E_SIGNATURE,
  );
});

t.test('a checkpoint has one text, and belongs to its origin', async (t) => {
  const root = toBase64(seed(0));
  const text = `example.com/behind-the-sofa\n20852163\nCsUYapGGPo4dkMgIAUqom/Xajj7h2fB2MPA3j2jxq2I=\n`;
  t.equal(printCheckpoint(parseCheckpoint(text)), text);
  t.equal(parseCheckpoint(text).size, 20_852_163);
  t.same(parseCheckpoint(`o\n0\n${root}\none\ntwo\n`).extensions, ['one', 'two']);
  const bad = [
    `o\n07\n${root}\n`,
    `o\n7\n`,
    `o\n7\nAAAA\n`,
    `o\n7\n${root}\n\next\n`,
    `o\n7\n${root}`,
    `o\n7\n${root}\n\n`,
    `\n7\n${root}\n`,
    `o\n-1\n${root}\n`,
    `o\n9007199254740992\n${root}\n`,
    `o\n7 \n${root}\n`,
    `o\n7\n${root.slice(0, -1)}\n`,
    `o\n7\n${root.slice(0, -2)}B=\n`,
  ];
  for (const other of bad) t.throws(() => parseCheckpoint(other), E_NOTE, JSON.stringify(other));
  const log = noteSigner('example.org/log', seed(1));
  const foreign = { origin: 'example.org/other', size: 0, root: seed(0) };
  t.throws(() => signCheckpoint(foreign, log), E_NOTE);
  t.throws(() => openCheckpoint(signNote(printCheckpoint(foreign), [log]), log.key), E_NOTE);
});

t.test('a log proof carries all that an offline check needs', async (t) => {
  const leaves = ['a', 'b', 'c'].map((entry) => leafHash(utf8(entry)));
  const [a, b, c] = leaves as [Uint8Array, Uint8Array, Uint8Array];
  const log = noteSigner('example.org/log', seed(1));
  const checkpoint = signCheckpoint({ origin: 'example.org/log', size: 3, root: treeRoot(leaves) }, log);
  const proof = { index: 1, proof: [a, c], checkpoint };
  const bytes = printLogProof(proof);
  t.match(
    Buffer.from(bytes).toString(),
    /^c2sp.org\/tlog-proof@v1\nindex 1\n.{44}\n.{44}\n\nexample.org\/log\n3\n/,
  );
  t.same(printLogProof(parseLogProof(bytes)), bytes);
  t.equal(verifyLogged(parseLogProof(bytes), b, log.key).checkpoint.size, 3);
  t.throws(() => verifyLogged(parseLogProof(bytes), a, log.key), { code: 'E_PROOF' });
  t.throws(() => verifyLogged({ ...proof, proof: [nodeHash(a, b)] }, b, log.key), { code: 'E_PROOF' });
  t.throws(() => verifyLogged(proof, b, noteSigner('example.org/log', seed(2)).key), E_SIGNATURE);
  const extra = printLogProof({ ...proof, extra: utf8('more') });
  t.same(parseLogProof(extra).extra, utf8('more'));
  t.same(printLogProof(parseLogProof(printLogProof({ index: 0, proof: [], checkpoint }))).length > 0, true);
  const text = Buffer.from(bytes).toString();
  const bad = [
    text.replace('@v1', '@v2'),
    text.replace('index 1', 'index 01'),
    text.replace('index 1', 'index  1'),
    text.replace('index 1\n', ''),
    text.replace('index 1\n', 'extra \nindex 1\nindex 1\n'),
    text.replace('index 1\n', 'extra YQ\nindex 1\n'),
    text.replace('\n\n', '\nAAAA\n\n'),
    text.slice(0, 60),
  ];
  for (const other of bad) t.throws(() => parseLogProof(utf8(other)), E_NOTE, other.slice(0, 50));
});

t.test('a policy says which signatures are enough', async (t) => {
  const log = noteSigner('example.org/log', seed(1));
  const witnesses = [2, 3, 4, 5].map((byte) => cosigner(`w${byte}.example`, seed(byte), 1000 + byte));
  const vkeys = witnesses.map(({ key }) => printVerifierKey(key));
  const policy = parsePolicy(
    utf8(`# trust
log ${printVerifierKey(log.key)} https://example.org/log
witness X1 ${vkeys[0]}
witness X2\t${vkeys[1]}  https://x2.example
 witness X3 ${vkeys[2]}

witness Y ${vkeys[3]}
group X 2 X1 X2 X3
group both all X Y
quorum both
`),
  );
  t.same(policy.groups, [
    { name: 'X', threshold: 2, members: ['X1', 'X2', 'X3'] },
    { name: 'both', threshold: 2, members: ['X', 'Y'] },
  ]);
  t.equal(policy.logs[0]?.url, 'https://example.org/log');
  const bare = signCheckpoint({ origin: 'example.org/log', size: 7, root: seed(9) }, log);
  // Which witnesses signed -> whether two of X and Y did: the truth table of the policy above.
  for (let mask = 0; mask < 16; mask++) {
    const signers = witnesses.filter((_, i) => mask & (1 << i));
    const enough = signers.filter((signer) => signer !== witnesses[3]).length >= 2 && (mask & 8) > 0;
    const note = addSignatures(bare, signers);
    if (enough) t.equal(openUnderPolicy(note, policy).verified.length, 1 + signers.length);
    else t.throws(() => openUnderPolicy(note, policy), E_SIGNATURE, `mask ${mask}`);
  }
  const stranger = cosigner('w9.example', seed(9), 9);
  t.throws(() => openUnderPolicy(addSignatures(bare, [stranger]), policy), E_SIGNATURE);
  const again = addSignatures(bare, [
    witnesses[0] as never,
    cosigner('w2.example', seed(2), 77),
    witnesses[3] as never,
  ]);
  t.throws(() => openUnderPolicy(again, policy), E_SIGNATURE, 'one witness twice is one witness');
  const none = parsePolicy(utf8('quorum none\n'));
  t.ok(quorumMet(none, new Set()));
  t.throws(() => openUnderPolicy(bare, none), E_SIGNATURE, 'a log that the policy does not list');
  const old = noteSigner('example.org/log', seed(8));
  const rotated = parsePolicy(
    utf8(`log ${printVerifierKey(old.key)}\nlog ${printVerifierKey(log.key)}\nquorum none\n`),
  );
  t.equal(openUnderPolicy(bare, rotated).checkpoint.size, 7);
});

t.test('a policy file that is not exactly understood is refused, with its line', async (t) => {
  const log = printVerifierKey(noteSigner('l', seed(1)).key);
  const w = printVerifierKey(cosigner('w', seed(2), 0).key);
  const v = printVerifierKey(cosigner('v', seed(3), 0).key);
  const sameKey = printVerifierKey(cosigner('other', seed(2), 0).key);
  const bad: Record<string, string> = {
    'no quorum': `log ${log}\n`,
    'two quorums': 'quorum none\nquorum none\n',
    'no newline at the end': 'quorum none',
    'unknown word': 'logs x\nquorum none\n',
    'a word of Object.prototype': 'constructor x\nquorum none\n',
    'a witness key as a log': `log ${w}\nquorum none\n`,
    'a log key as a witness': `witness W ${log}\nquorum W\n`,
    'a log twice': `log ${log}\nlog ${log}\nquorum none\n`,
    'a witness key twice': `witness A ${w}\nwitness B ${sameKey}\nquorum A\n`,
    'a name twice': `witness A ${w}\nwitness A ${v}\nquorum A\n`,
    'the name none': `witness none ${w}\nquorum none\n`,
    'a quorum before its name': `quorum A\nwitness A ${w}\n`,
    'a member before its name': `group G any A\nwitness A ${w}\nquorum G\n`,
    'a group in itself': `group G any G\nquorum G\n`,
    'none as a member': `group G any none\nquorum G\n`,
    'no member': 'group G all\nquorum G\n',
    'a threshold of 0': `witness A ${w}\ngroup G 0 A\nquorum G\n`,
    'a threshold over n': `witness A ${w}\ngroup G 2 A\nquorum G\n`,
    'a leading zero': `witness A ${w}\ngroup G 01 A\nquorum G\n`,
    'a member in two groups': `witness A ${w}\nwitness B ${v}\ngroup G any A\ngroup H any A B\nquorum H\n`,
    'a member twice': `witness A ${w}\ngroup G 2 A A\nquorum G\n`,
    'a carriage return': 'quorum none\r\n',
    'too many words': 'quorum none none\n',
  };
  for (const [name, text] of Object.entries(bad)) t.throws(() => parsePolicy(utf8(text)), E_NOTE, name);
  t.throws(() => parsePolicy(utf8('# a\n\nquorum x\n')), /policy line 3/);
  // Names are opaque octets, never decoded into one another.
  const octets = Buffer.concat([
    utf8('witness '),
    Buffer.from([0xff]),
    utf8(` ${w}\nquorum `),
    Buffer.from([0xff, 0x0a]),
  ]);
  t.equal(parsePolicy(octets).quorum.length, 1);
});

t.test('property: every note that is written is read back the same', async (t) => {
  const line = fc.string({ unit: 'grapheme' }).filter((text) => text.isWellFormed() && !/\p{Cc}/u.test(text));
  const text = fc.array(line, { minLength: 1 }).map((lines) => `${lines.join('\n')}\n`);
  const signers = [noteSigner('a', seed(1)), cosigner('b', seed(2), 5)];
  fc.assert(
    fc.property(text, (text) => {
      const note = signNote(text, signers);
      const opened = openNote(
        note,
        signers.map(({ key }) => key),
      );
      return (
        opened.text === text &&
        opened.verified.length === 2 &&
        Buffer.compare(printNote(parseNote(note)), note) === 0
      );
    }),
    { numRuns: 200 },
  );
  t.pass('200 notes');
});
