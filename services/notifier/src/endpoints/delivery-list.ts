/** Follows the webhooks, from when somebody first asks for a list of them. */
import { beginning, createFollower, type EventStore, type Position } from '@tollgate/event-store';
import { errorCode, isRetryable, TollgateError, type Clock, type Ids, type Log } from '@tollgate/service-kit';
import { endpointWebhooksPrefix } from '../webhook-events.ts';
import { createDeliveryRows, type DeliveryRows } from './delivery-rows.ts';

export interface FollowedRows<Rows> {
  /** Once all is there that was recorded before the first call. @throws IndexRebuilding */
  rows(): Promise<Rows>;
  stop(): Promise<void>;
}
export type DeliveryList = FollowedRows<DeliveryRows>;

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

export const createDeliveryList = (options: DeliveryListOptions): DeliveryList =>
  followRows(options, {
    ...{ name: 'webhook-deliveries', prefixes: [endpointWebhooksPrefix] },
    openRows: createDeliveryRows,
  });

/** @param followed what the streams with these prefixes are read into, opened when somebody first asks */
export function followRows<Rows extends Pick<DeliveryRows, 'apply' | 'removeBefore' | 'close'>>(
  options: DeliveryListOptions,
  { name, prefixes, openRows }: { name: string; prefixes: readonly string[]; openRows: () => Rows },
): FollowedRows<Rows> {
  const { store, clock, log, retentionMs } = options;
  const ending = new AbortController();
  const { promise: complete, resolve } = Promise.withResolvers<undefined>();
  let isComplete = false;
  let followed: Position = beginning;
  let count = 0;
  let opened: Rows | undefined;
  const rows = (): Rows => (opened ??= openRows());

  const follower = createFollower({ ...options, name }, async (signal, gotOn) => {
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
      rows().apply(item);
    } catch (error) {
      // What the file does not take, as it has no room, is applied again: the event itself can be read.
      if (isRetryable(error) || errorCode(error) === 'ERR_SQLITE_ERROR') throw error;
      log.error({ error, stream: item.stream }, 'a webhook cannot be read; it is not listed as it is');
    }
    count += 1;
    if (count % removeEvery === 0) rows().removeBefore(clock.now() - retentionMs);
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
      return rows();
    },
    async stop() {
      ending.abort();
      await running;
      opened?.close();
    },
  };
}
