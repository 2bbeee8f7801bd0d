import { servedStore } from '@tollgate/event-store/testing/eventstoredb';
import { silentLog, systemClock, type Log } from '@tollgate/service-kit';
import { paymentKind } from '@tollgate/views';
import { happening, requested } from '@tollgate/views/testing';
import { expect, onTestFinished, test, vi } from 'vitest';
import { createPaymentIndex } from './payment-index.ts';
import { paymentViewStream, plantView, projectPayment } from './testing/stored-payments.ts';

const { accepted, approved } = happening;

// A server's log shows the views that others have superseded, and each that could not be read was said to be missing.
test('an index takes the last view of each payment, and misses none that is superseded', async () => {
  const { store, server } = await servedStore();
  await plantView(store, paymentKind, 'p1', { schemaVersion: 1 });
  for (const token of ['p1', 'p2']) {
    await projectPayment(store, token, [requested(), accepted]);
    await projectPayment(store, token, [approved]);
  }
  await plantView(store, paymentKind, 'p3', { schemaVersion: 1 });
  await plantView(store, paymentKind, 'p3', { schemaVersion: 2 });
  for (let round = 0; round < 2; round += 1) {
    const error = vi.fn<Log['error']>();
    const log = { ...silentLog, error };
    const index = createPaymentIndex({ file: ':memory:', store, log, clock: systemClock });
    onTestFinished(() => index.stop());
    await index.start();
    for (const token of ['p1', 'p2'])
      expect(index.find(token)).toMatchObject({ payment: { phase: 'approved' } });
    const range = { environment: 'sandbox', team: 'shop', from: '2000-01-01', to: '2100-01-01' } as const;
    expect(index.listTotals(range)).toMatchObject([{ payments: { approved: { count: 2 } } }]);
    expect(error.mock.calls.map(([fields]) => fields)).toMatchObject([
      { stream: paymentViewStream('p3'), revision: 1 },
    ]);
    await server.scavenge();
  }
});
