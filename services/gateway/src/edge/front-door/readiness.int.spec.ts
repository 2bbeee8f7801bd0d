import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { systemClock } from '@tollgate/service-kit';
import { Agent } from 'undici';
import { expect, it, onTestFinished } from 'vitest';
import { readinessOf } from './readiness.ts';

// Behind slow requests it never ended: the front door's own health check timed out as well.
it('is answered in time even if every connection to an instance is busy', async () => {
  const server = createServer((request) => void request.resume());
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const agent = new Agent({ connections: 1, pipelining: 1 });
  onTestFinished(async () => {
    await agent.destroy();
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  agent.request({ origin, path: '/busy', method: 'GET' }).catch(() => undefined);
  expect(await readinessOf({ agent, clock: systemClock }, { notifier: [origin] })).toEqual({
    notReady: ['notifier'],
    degraded: [],
  });
});
