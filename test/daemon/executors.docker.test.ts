/**
 * The executor over a container engine. It needs one that answers, at DOCKER_HOST or the local socket, and fails
 * without.
 */
import t from 'tap';
import { executorSuite } from '../suite/executor.ts';
import { subject } from './executors/docker.ts';

// Run alone, tap allows a file 30 s; this one starts dozens of containers.
t.setTimeout(1_200_000);

t.test('docker keeps the contract of executors', (t) => executorSuite(t, subject));
