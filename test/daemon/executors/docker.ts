/** The executor `docker` as a subject of the suite, with the image made of this host's Node. */
import { fileURLToPath } from 'node:url';
import { openDocker } from '../../../daemon/executors/docker/docker.ts';
import { makeHostImage } from '../../../daemon/executors/docker/image.ts';
import type { Subject } from '../../suite/executor.ts';

export const subject: Subject = {
  async open(blocks) {
    return { executor: openDocker(), image: await makeHostImage(blocks.emit) };
  },
  module: fileURLToPath(import.meta.url),
  isolated: true,
  leftovers: (executor, owner) => executor.reap(owner),
};
