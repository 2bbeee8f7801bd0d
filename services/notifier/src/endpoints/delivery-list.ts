/** Follows the webhooks to endpoints, from when somebody first asks for them. */
import { beginning, createFollower, type EventStore, type Position } from '@tollgate/event-store';
import { isRetryable, TollgateError, type Clock, type Ids, type Log } from '@tollgate/service-kit';
import { endpointWebhooksPrefix } from '../webhook-events.ts';
import { createDeliveryRows, type DeliveryRows } from './delivery-rows.ts';

export interface DeliveryList {
  /** Once all is there that was recorded before the first call. @throws IndexRebuilding */
  rows(): Promise<DeliveryRows>;
  stop(): Promise<void>;
}

export interface DeliveryListOptions {
  store: EventStore;
  clock: Clock;
  ids: Ids;
  log: Log;
  /** How long the webhooks are kept after their last attempt, milliseconds. */
  retentionMs: number;
}

/** It will be complete after some seconds, or minutes where there are very many. */
class IndexRebuilding extends TollgateError {
  constructor() {
    super('index_rebuilding', 'The list of deliveries is being read.', { retryable: true });
  }
}

const waitMs = 2_000;
const removeEvery = 10_000;

export function createDeliveryList(options: DeliveryListOptions): DeliveryList {
  const { store, clock, log, retentionMs } = options;
  const rows = createDeliveryRows();
  const ending = new AbortController();
  const { promise: complete, resolve } = Promise.withResolvers<undefined>();
  let isComplete = false;
  let followed: Position = beginning;
  let count = 0;

  const follower = createFollower({ ...options, name: 'webhook-deliveries' }, async (signal, gotOn) => {
    const prefixes = [endpointWebhooksPrefix];
    for await (const item of store.subscribe({ from: followed, prefixes, signal })) {
      if (item.kind === 'event') apply(item);
      else {
        isComplete = true;
        resolve(undefined);
      }
      followed = item.position;
      gotOn();
    }
  });

  function apply(item: Parameters<DeliveryRows['apply']>[0]): void {
    try {
      rows.apply(item);
    } catch (error) {
      if (isRetryable(error)) throw error;
      log.error({ error, stream: item.stream }, 'a webhook cannot be read; it is not listed as it is');
    }
    count += 1;
    if (count % removeEvery === 0) rows.removeBefore(clock.now() - retentionMs);
  }

  let running: Promise<void> | undefined;
  return {
    async rows() {
      running ??= follower.run(ending.signal);
      if (!isComplete) {
        const waited = new AbortController();
        const late = clock.sleep(waitMs, waited.signal).catch(() => undefined);
        await Promise.race([complete, late]).finally(() => waited.abort());
      }
      if (!isComplete) throw new IndexRebuilding();
      return rows;
    },
    async stop() {
      ending.abort();
      await running;
      rows.close();
    },
  };
}
