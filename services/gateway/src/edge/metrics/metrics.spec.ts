import { type Log, silentLog } from '@tollgate/service-kit';
import { expect, it } from 'vitest';
import { createMetrics } from './metrics.ts';

const labels = { environment: 'sandbox', account: 'main', operation: 'createPayment', outcome: 'accepted' };

it('reports durations in seconds, by label', async () => {
  const metrics = createMetrics({ log: silentLog });
  metrics.providerCall(labels, 20);
  metrics.providerCall(labels, 40);
  metrics.providerCall({ ...labels, outcome: 'unknown' }, 5_000);
  const text = await metrics.text();
  const all = 'environment="sandbox",account="main",operation="createPayment"';
  const name = 'tollgate_provider_call_duration_seconds';
  expect(text).toContain(`${name}_count{${all},outcome="accepted"} 2`);
  expect(text).toContain(`${name}_sum{${all},outcome="accepted"} 0.06`);
  expect(text).toContain(`${name}_bucket{le="0.025",${all},outcome="accepted"} 1`);
  expect(text).toContain(`${name}_bucket{le="2.5",${all},outcome="unknown"} 0`);
});

// promtool warned of them, of all that Prometheus reads from us.
it("omits the library's metrics with misleading names", async () => {
  const text = await createMetrics({ log: silentLog }).text();
  expect(text).toMatch(/^# TYPE nodejs_active_handles gauge$/m);
  expect(text).not.toMatch(/^# TYPE \S+_total gauge$/m);
  expect(text).not.toMatch(/^# TYPE \S+_(histogram|summary) /m);
});

it('shares nothing between two of them', async () => {
  const [first, second] = [createMetrics({ log: silentLog }), createMetrics({ log: silentLog })];
  first.callback(200);
  expect(await first.text()).toContain('tollgate_callbacks_total{status="200"} 1');
  expect(await second.text()).not.toContain('tollgate_callbacks_total{');
});

it('reads a gauge at each scrape, and drops values that no longer exist', async () => {
  const metrics = createMetrics({ log: silentLog });
  let accounts = ['main', 'spare'];
  metrics.watch('tollgate_account_waiting', () =>
    accounts.map((account) => ({ labels: { environment: 'sandbox', account }, value: 3 })),
  );
  expect(await metrics.text()).toContain('tollgate_account_waiting{environment="sandbox",account="spare"} 3');
  accounts = ['main'];
  expect(await metrics.text()).not.toContain('spare');
});

it('omits a gauge whose value is unknown, and shows the others', async () => {
  const warned: unknown[] = [];
  const log: Log = { ...silentLog, warn: (fields) => void warned.push(fields.operation) };
  const metrics = createMetrics({ log });
  metrics.watch('tollgate_read_model_lag_seconds', () => []);
  metrics.watch('tollgate_publisher_lag_seconds', () => Promise.reject(new Error('no bus')));
  metrics.watch('tollgate_projector_advancing', () => [{ value: 1 }]);
  const text = await metrics.text();
  expect(text).not.toMatch(/^tollgate_(read_model|publisher)_lag_seconds/m);
  expect(text).toMatch(/^tollgate_projector_advancing 1$/m);
  expect(warned).toEqual(['tollgate_publisher_lag_seconds']);
});
