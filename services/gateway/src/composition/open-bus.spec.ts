import { silentLog, systemIds } from '@tollgate/service-kit';
import { createFakeClock } from '@tollgate/testing';
import { expect, it } from 'vitest';
import { openBus } from './open-bus.ts';

// It kept connecting for as long as the process lived, because no caller could close it.
it('opens no bus for a start that was abandoned while the client of Kafka was loaded', async () => {
  const stops = new AsyncDisposableStack();
  const connection = { brokers: ['127.0.0.1:9'], clientId: 'spec' };
  const opening = openBus(
    {
      kafka: { connection, topicPrefix: '', replication: 1, minInsyncReplicas: 1 },
      store: () => Promise.reject(new Error('Kafka needs no store.')),
      clock: createFakeClock(),
      ids: systemIds,
      log: silentLog,
      holder: 'spec',
      isGone: () => false,
    },
    stops,
  );
  await stops.disposeAsync();
  await expect(opening).rejects.toMatchObject({ code: 'start_given_up' });
});
