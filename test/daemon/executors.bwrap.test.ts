/**
 * The executor that needs bubblewrap.
 */
import t from 'tap';
import { executorSuite } from '../suite/executor.ts';
import { subject as bwrap } from './executors/bwrap.ts';

// Run alone, tap allows a file 30 s; these start dozens of sandboxes.
t.setTimeout(600_000);

t.test('bwrap keeps the contract of executors', (t) => executorSuite(t, bwrap));
