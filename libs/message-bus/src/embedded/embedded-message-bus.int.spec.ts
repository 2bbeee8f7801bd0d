import { openStoreInThread } from '@tollgate/event-store/testing';
import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemClock, systemIds } from '@tollgate/service-kit';
import { describeMessageBus } from '../testing/message-bus.contract.ts';
import { createEmbeddedMessageBus } from './embedded-message-bus.ts';

describeMessageBus('the embedded message bus', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'message-bus-'));
  const stores = await Promise.all(
    [1, 2].map(() => openStoreInThread({ file: join(directory, 'events.db') })),
  );
  const open = (store: (typeof stores)[number]) =>
    createEmbeddedMessageBus({
      store,
      clock: systemClock,
      ids: systemIds,
      holder: 'test',
      leaseDurationMs: 2_000,
    });
  return {
    bus: open(stores[0]!),
    openAnother: async () => open(stores[1]!),
    freshTopic: async () => `topic-${randomUUID()}`,
    dispose: async () => {
      await Promise.all(stores.map((store) => store.close()));
      await rm(directory, { recursive: true });
    },
  };
});
