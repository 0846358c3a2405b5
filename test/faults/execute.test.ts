/** A daemon under the executor `none`, killed after every step of an execution: the study ends as it should. */
import t from 'tap';
import { killTest } from './execute-scenario.ts';

t.setTimeout(600_000);

t.test('none', (t) => killTest(t, 'none'));
