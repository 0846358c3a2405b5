/**
 * The executors that need no engine.
 */
import t from 'tap';
import { executorSuite } from '../suite/executor.ts';
import { subject as bwrap } from './executors/bwrap.ts';
import { subject as none } from './executors/none.ts';

// Run alone, tap allows a file 30 s; these start dozens of sandboxes.
t.setTimeout(600_000);

t.test('none keeps the contract of executors', (t) => executorSuite(t, none));

t.test('bwrap keeps the contract of executors', (t) => executorSuite(t, bwrap));
