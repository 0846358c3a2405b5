/** `GET /healthz`, `GET /metrics` (OpenMetrics text), and `GET /v1/store` (what kind of store this is). */
import { memoryUsage } from 'node:process';
import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import { z } from 'zod';
import type { Parts } from './parts.ts';
import { noQuery } from './query.ts';

export const health: FastifyPluginAsyncZod<Parts> = async (app, { store, owner }) => {
  app.get(
    '/healthz',
    { schema: { querystring: noQuery, response: { 200: z.strictObject({ ok: z.literal(true) }) } } },
    async () => ({ ok: true as const }),
  );
  const described = z.strictObject({ path: z.string().nullable(), writable: z.boolean() });
  app.get(
    '/v1/store',
    { schema: { querystring: noQuery, response: { 200: described }, summary: 'Whether it can be written' } },
    async () => ({ path: owner ? store.path : null, writable: store.writable }),
  );
};

/** Counts answers by route and status, for the routes registered after it. */
export const metrics: FastifyPluginAsyncZod<Parts> = async (app, { store }) => {
  const answers = new Map<string, number>();
  app.addHook('onResponse', async (request, reply) => {
    const route = request.routeOptions.url ?? 'none';
    const labels = `route="${route}",method="${request.method}",status="${reply.statusCode}"`;
    answers.set(labels, (answers.get(labels) ?? 0) + 1);
  });
  app.get('/metrics', { schema: { querystring: noQuery } }, async (_request, reply) => {
    const lines = [
      '# TYPE ashlar_answers counter',
      ...[...answers].sort().map(([labels, count]) => `ashlar_answers_total{${labels}} ${count}`),
      '# TYPE ashlar_resident_bytes gauge',
      `ashlar_resident_bytes ${memoryUsage.rss()}`,
      '# TYPE ashlar_log_leaves gauge',
    ];
    for (const { family, size } of await store.logs.list())
      if (family !== null) lines.push(`ashlar_log_leaves{family="${family}"} ${size}`);
    const type = 'application/openmetrics-text; version=1.0.0; charset=utf-8';
    return reply.type(type).send(`${[...lines, '# EOF'].join('\n')}\n`);
  });
};
