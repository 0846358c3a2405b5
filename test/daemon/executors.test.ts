/**
 * The executor that needs nothing but this host.
 */
import t from 'tap';
import { executorSuite } from '../suite/executor.ts';
import { subject } from './executors/none.ts';

// Run alone, tap allows a file 30 s; these start dozens of sandboxes.
t.setTimeout(600_000);

t.test('none keeps the contract of executors', (t) => executorSuite(t, subject));
