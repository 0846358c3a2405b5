/**
 * Facts of this machine that every executor puts into the receipt's host facts.
 * Promises: canonical values (integers and strings). Does not promise: to be the same twice.
 */
import { arch, cpus, release, totalmem } from 'node:os';

export function hostFacts() {
  return {
    arch: arch(),
    cpus: cpus().length,
    kernel: release(),
    memoryMb: Math.floor(totalmem() / 2 ** 20),
    node: process.version,
  };
}
