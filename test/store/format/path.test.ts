import fc from 'fast-check';
import t from 'tap';
import { toBytes } from '../../../store/format/codec.ts';
import {
  isPortable,
  join,
  parsePortable,
  portableOf,
  treePathOf,
  under,
} from '../../../store/format/path.ts';

t.test('a portable path has one spelling', async (t) => {
  for (const path of ['a', 'a/b', '.a', '...', 'a..b', 'a b', 'é/ü', 'ab:c/d', '~', 'a/C:', '-', 'a\nb']) {
    t.equal(parsePortable(path), path);
    t.ok(isPortable(path));
  }
  const bad = [
    '',
    '/',
    '/a',
    'a/',
    'a//b',
    '.',
    '..',
    './a',
    'a/.',
    'a/../b',
    '../a',
    'a\\b',
    'C:',
    'c:/a',
    'C:a',
  ];
  for (const path of [...bad, 'a\0b', 'a\ud800', '\\\\server\\share', '//server/share']) {
    t.throws(() => parsePortable(path), { code: 'E_PATH' }, JSON.stringify(path));
    t.notOk(isPortable(path));
  }
  for (const other of [null, undefined, 1, ['a']]) t.notOk(isPortable(other));
  t.throws(() => parsePortable('a/../b'), /found \.\. in "a\/\.\.\/b"/);
});

t.test('below means by whole segments', async (t) => {
  const [src, deep, near] = [parsePortable('src'), parsePortable('src/a/b'), parsePortable('src2')];
  t.ok(under(src, deep));
  t.ok(under(src, src));
  t.notOk(under(src, near));
  t.notOk(under(deep, src));
  t.equal(join(src, parsePortable('a/b')), 'src/a/b');
  t.equal(join(src), 'src');
});

t.test('a found path is portable only where an author could write it', async (t) => {
  t.equal(portableOf(['a', 'b']), 'a/b');
  t.equal(portableOf([]), undefined);
  t.equal(portableOf(['a\\b']), undefined);
  t.equal(portableOf(['C:', 'x']), undefined);
  t.equal(portableOf(['a', toBytes(Buffer.from([0xff]))]), undefined);
  t.equal(portableOf(['a/b']), undefined, 'a name is not a path');
  const name = fc
    .string({ unit: 'grapheme', minLength: 1 })
    .filter((text) => isPortable(text) && !text.includes('/'));
  fc.assert(
    fc.property(fc.array(name, { minLength: 1 }), (names) => {
      const path = portableOf(names);
      return path !== undefined && treePathOf(path).join('\0') === names.join('\0') && isPortable(path);
    }),
  );
});
