/**
 * The executor that needs nothing of the machine.
 */
import t from 'tap';
import { executorSuite } from '../suite/executor.ts';
import { subject as none } from './executors/none.ts';

// Run alone, tap allows a file 30 s; these start dozens of sandboxes.
t.setTimeout(600_000);

t.test('none keeps the contract of executors', (t) => executorSuite(t, none));
