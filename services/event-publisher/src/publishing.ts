/**
 * One pass of the publisher: takes over, brings in what had failed, and publishes from the checkpoint on until the signal
 * is aborted or something fails.
 */
import {
  createBatchAge,
  createFailedStreams,
  restAfter,
  type EventStore,
  type FailedStream,
  type Position,
  type RecordedEvent,
} from '@tollgate/event-store';
import type { Message, MessageBus } from '@tollgate/message-bus';
import type { Clock, Ids, Log } from '@tollgate/service-kit';
import { createBatch } from './batch.ts';
import { catchUpStream } from './catch-up.ts';
import { createPublisherCheckpoint } from './checkpoint.ts';
import { readLastRecords } from './last-records.ts';
import { createMessages } from './messages.ts';
import { publishedPrefixes, publishedStream } from './published-kinds.ts';
import { compareEnds } from './topic-ends.ts';

export interface PublishingDependencies {
  store: EventStore;
  bus: Pick<MessageBus, 'publish' | 'lastPerPartition' | 'endPerPartition' | 'partitionOf' | 'addressOf'>;
  clock: Clock;
  ids: Ids;
  log: Log;
}

/** Hears how a pass gets on. */
export interface PublishingWatch {
  /** An event is in hand that is not on its topic yet. */
  pending(event: RecordedEvent): void;
  /** Everything up to `position` is on its topic; `isAtEnd` where the store has no more. */
  reached(position: Position, isAtEnd: boolean): void;
  failed(streams: readonly FailedStream[]): void;
}

/**
 * @throws StoreUnavailable, BusUnavailable; TollgateError `too_many_failed_streams`, `publisher_superseded`,
 * `store_too_slow`, `topic_of_another_store`, `records_gone`; the signal's reason where it was aborted before a send
 */
export async function publishFromCheckpoint(
  deps: PublishingDependencies,
  watch: PublishingWatch,
  signal: AbortSignal,
): Promise<void> {
  const { store, bus, clock, log } = deps;
  const checkpoint = createPublisherCheckpoint(deps);
  const { failedStreams, claimedAt, ...claimed } = await checkpoint.claim();
  // After the claim: from here on, the former publisher begins no further send.
  const lastRecords = await readLastRecords({ store, bus }, claimedAt);
  const { from, at: endsAt } = await compareEnds({ bus, lastRecords, log }, claimed);
  const [messages, batch] = [createMessages(store), createBatch(bus)];
  const failed = createFailedStreams(log, failedStreams);
  watch.failed(failed.list());
  for (const each of failedStreams) await bringIn(each);
  await follow();

  async function bringIn(each: FailedStream): Promise<void> {
    const catchingUp = { store, messages, lastRecords, publish, flush };
    const failure = await catchUpStream(catchingUp, each, from);
    if (failure === undefined) failed.delete(each.stream);
    else failed.add(failure);
    await noteFailed(from);
  }

  async function follow(): Promise<void> {
    const age = createBatchAge(clock);
    let events = 0;
    for await (const item of store.subscribe({ from, prefixes: publishedPrefixes, signal })) {
      if (item.kind === 'event') {
        events += 1;
        await take(item);
        if (!batch.isFull() && !age.isDueWith()) continue;
      }
      await flush();
      watch.reached(item.position, item.kind === 'caught-up');
      // What has moved the store's end may be a checkpoint: answering to that with another one would never end.
      if (events > 0)
        await checkpoint.write({ position: item.position, failedStreams: failed.list(), endsAt });
      if (item.kind === 'caught-up') await restAfter(events, { clock, signal });
      events = 0;
      age.restart();
    }
  }

  async function take(event: RecordedEvent): Promise<void> {
    const published = publishedStream(event.stream);
    if (published === undefined || failed.has(event.stream)) return;
    const { kind, key } = published;
    if (await lastRecords.reaches(kind.topic, key, event.position)) return;
    watch.pending(event);
    const made = await messages.of(kind, event);
    if (made.kind === 'message') {
      batch.add(kind.topic, made.message);
      return;
    }
    failed.add(made);
    await flush();
    // On record before anything later is published: that would make it look as if this had been, too.
    await noteFailed(event.position);
  }

  async function publish(topic: string, message: Message): Promise<void> {
    batch.add(topic, message);
    if (batch.isFull()) await flush();
  }

  async function flush(): Promise<void> {
    if (batch.isEmpty()) return;
    await checkpoint.requireOurs();
    signal.throwIfAborted();
    await batch.publish();
  }

  async function noteFailed(position: Position): Promise<void> {
    watch.failed(failed.list());
    await checkpoint.write({ position, failedStreams: failed.list(), endsAt }, { atOnce: true });
  }
}
