import type { IndexBuilding } from '@tollgate/lists';
import type { Position } from '@tollgate/event-store';
import Fastify from 'fastify';
import { expect, it } from 'vitest';
import { answerSchemas } from '@tollgate/gateway-api/http';
import { registerHealthRoutes } from './health-routes.ts';

async function readyz(notReady: string[], building?: IndexBuilding) {
  const app = Fastify();
  registerHealthRoutes(app, { notReady: () => notReady, degraded: () => [], building: () => building });
  const answer = await app.inject({ url: '/readyz' });
  answerSchemas.Readiness.parse(answer.json());
  return [answer.statusCode, answer.json<unknown>()];
}

it('is ready if nothing is missing', async () => {
  expect(await readyz([])).toEqual([200, { ready: true, notReady: [], degraded: [] }]);
});

it('is not ready while the index is being built, and reports the progress', async () => {
  const index = {
    followed: '0000000000000007' as Position,
    head: '0000000000000009' as Position,
    events: 7,
  };
  expect(await readyz([], index)).toEqual([503, { ready: false, notReady: ['index'], degraded: [], index }]);
});

it('names all that is missing', async () => {
  const index = { followed: '' as Position, head: '' as Position, events: 0 };
  const [statusCode, body] = await readyz(['projector'], index);
  expect(statusCode).toBe(503);
  expect(body).toMatchObject({ notReady: ['projector', 'index'] });
});
