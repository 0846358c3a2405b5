import t from 'tap';
import { cidOf, parseCid } from '../../../store/format/cid.ts';
import { decode, encode } from '../../../store/format/codec.ts';

t.test('the CID of no bytes is the well-known one', async (t) => {
  t.equal(cidOf('raw', new Uint8Array()), 'bafkreihdwdcefgh4dqkjv67uzcmw7ojee6xedzdetojuzjevtenxquvyku');
  const hex = `sha256:${'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855'}`;
  t.equal(parseCid(hex), 'bafkreihdwdcefgh4dqkjv67uzcmw7ojee6xedzdetojuzjevtenxquvyku');
});

t.test('a value has one byte string', async (t) => {
  t.equal(Buffer.from(encode({ b: 1, a: [true, null, 'x'] })).toString(), '{"a":[true,null,"x"],"b":1}');
  t.throws(() => decode(Buffer.from('{"b":1,"a":2}')), { code: 'E_CODEC' });
});
