import t from 'tap';
import { committed, generate } from './tools/vectors.ts';

t.test(
  'the committed vectors are what the code gives: run `npm run vectors` and look at the diff',
  async (t) => {
    const [now, then] = [await generate(), committed()];
    t.same([...then.keys()], [...now.keys()].sort(), 'no file too many or too few');
    for (const [name, text] of now) t.equal(then.get(name), text, name);
    t.ok(now.size > 0);
  },
);
