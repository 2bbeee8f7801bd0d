import { type MessageBus } from '@tollgate/message-bus';
import { type TeamDirectory } from '@tollgate/read-models';
import { silentLog, systemClock, systemIds } from '@tollgate/service-kit';
import { eventually } from '@tollgate/testing';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { createCommandService } from './command-service.ts';
import { type Harness, createHarness, times } from './testing/harness.ts';

let harness: Harness;
beforeEach(async () => {
  harness = await createHarness();
});
afterEach(() => harness.close());

it('takes up the follow-up and the callbacks again after each has failed, and stops both', async () => {
  let passes = 0;
  let subscriptions = 0;
  const directory: TeamDirectory = {
    start: () => Promise.resolve(),
    stop: () => Promise.resolve(),
    authenticate: () => ({ kind: 'refused', code: 'auth_header_not_found' }),
  };
  const bus: MessageBus = {
    publish: () => Promise.resolve(),
    lastPerPartition: () => Promise.resolve([]),
    partitionOf: () => Promise.resolve(0),
    close: () => Promise.resolve(),
    subscribe: () => Promise.reject(new Error(`subscription ${(subscriptions += 1)}`)),
  };
  const service = createCommandService({
    ...{ store: harness.store, bus, directory, times, clock: systemClock, ids: systemIds, log: silentLog },
    account: { name: 'sandbox', client: harness.provider.client },
    callbackUrlOf: () => 'https://gateway.example/callbacks',
    runAlone: (_name, signal, work) => work(signal),
    openPayments: () => {
      throw new Error(`pass ${(passes += 1)}`);
    },
  });
  service.start();
  await eventually(() => expect([passes > 1, subscriptions > 1]).toEqual([true, true]));
  await service.stop();
});
