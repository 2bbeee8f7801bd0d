/** Follows the webhooks, from when somebody first asks for a list of them. */
import { beginning, createFollower, type EventStore, type Position } from '@tollgate/event-store';
import { errorCode, isRetryable, TollgateError, type Clock, type Ids, type Log } from '@tollgate/service-kit';
import { endpointWebhooksPrefix } from '../webhook-events.ts';
import { createDeliveryRows, type DeliveryRows } from './delivery-rows.ts';

export interface FollowedRows<Rows> {
  /** With all that was recorded before the call. @throws IndexRebuilding where that takes longer than a moment */
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

/** It will be complete after some seconds, or minutes where there are very many; or the store does not answer. */
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
  let followed: Position = beginning;
  let count = 0;
  let opened: Rows | undefined;
  let running: Promise<void> | undefined;
  const rows = (): Rows => (opened ??= openRows());

  const follower = createFollower({ ...options, name }, (signal, gotOn) => follow(signal, gotOn));

  /** Each event once, though two may follow at the same time; up to a position, where one is given. */
  async function follow(signal: AbortSignal, gotOn: () => void, upTo?: Position): Promise<void> {
    for await (const item of store.subscribe({ from: followed, prefixes, signal })) {
      if (item.position > followed) {
        if (item.kind === 'event') apply(item);
        followed = item.position;
      }
      gotOn();
      if (upTo !== undefined && (item.kind === 'caught-up' || followed >= upTo)) return;
    }
    if (upTo !== undefined) throw new IndexRebuilding();
  }

  /**
   * Up to what there is now. The follower may not have been told of it yet, and is told of no end where nothing of its own has happened: so by
   * a subscription of its own.
   */
  const readUpToNow = begunAfterAsking(async () => {
    try {
      const head = await store.head();
      if (followed < head) await follow(ending.signal, () => undefined, head);
    } finally {
      // Not before: at first they would read all there is side by side.
      running ??= follower.run(ending.signal);
    }
  });

  /** It goes on where somebody has waited long enough: who asks again finds it further. */
  async function catchUp(): Promise<void> {
    const waited = new AbortController();
    const late = clock.sleep(waitMs, waited.signal).then(
      () => false,
      () => false,
    );
    const isThere = readUpToNow().then(
      () => true,
      () => false,
    );
    const isInTime = await Promise.race([isThere, late]);
    waited.abort();
    if (!isInTime) throw new IndexRebuilding();
  }

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

  return {
    async rows() {
      await catchUp();
      return rows();
    },
    async stop() {
      ending.abort();
      await running;
      opened?.close();
    },
  };
}

/** One run at a time; who asks during one waits for the next, with all others who do: the one that has begun may have passed what they want. */
function begunAfterAsking(run: () => Promise<void>): () => Promise<void> {
  let running: Promise<void> | undefined;
  let next: Promise<void> | undefined;
  return function ask(): Promise<void> {
    if (running === undefined) return (running = run().finally(() => (running = undefined)));
    next ??= running
      .catch(() => undefined)
      .then(() => {
        next = undefined;
        return ask();
      });
    return next;
  };
}
