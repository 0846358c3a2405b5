/** A daemon under the executor `docker`, killed after every step of an execution: the study ends as it should. */
import t from 'tap';
import { killTest } from './execute-scenario.ts';

t.setTimeout(600_000);

t.test('docker', (t) => killTest(t, 'docker'));
