/**
 * Event store → `gateway.payments.v1`: every event of every payment, in order, without a gap and without a duplicate.
 *
 * Records are written in the order of the store's positions, one batch at a time, and each carries its position. After a
 * crash or a failed send the last record of each partition therefore tells what that partition already has.
 */
import { type EventStore, type Position, type RecordedEvent, beginning } from '@tollgate/event-store';
import { gatewayPaymentsTopic, positionHeader } from '@tollgate/gateway-events';
import type { Message, MessageBus } from '@tollgate/message-bus';
import { paymentStreamPrefix } from '@tollgate/payment-domain';
import type { Clock, Ids, Log } from '@tollgate/service-kit';
import { createCheckpoint } from './checkpoint.ts';
import { createPaymentHistories } from './payment-histories.ts';
import { toPaymentMessage } from './payment-message.ts';

export interface EventPublisherDependencies {
  store: EventStore;
  bus: Pick<MessageBus, 'publish' | 'lastPerPartition' | 'partitionOf'>;
  clock: Clock;
  ids: Ids;
  log: Log;
}

/** Records per publish at most. */
const batchSize = 200;
/** Pause after a failed send, milliseconds; doubled up to the second. */
const firstPauseMs = 200;
const longestPauseMs = 30_000;

/** Publishes until the signal is aborted. Two at a time would write records twice: run it under a lease. */
export async function publishEvents(deps: EventPublisherDependencies, signal: AbortSignal): Promise<void> {
  let pauseMs = firstPauseMs;
  while (!signal.aborted) {
    try {
      await publishFromLastRecords(deps, signal, () => (pauseMs = firstPauseMs));
    } catch (error) {
      deps.log.error(
        { error, topic: gatewayPaymentsTopic, waitMs: pauseMs },
        'publishing failed; it resumes',
      );
      await deps.clock.sleep(pauseMs, signal).catch(() => undefined);
      pauseMs = Math.min(pauseMs * 2, longestPauseMs);
    }
  }
}

async function publishFromLastRecords(
  deps: EventPublisherDependencies,
  signal: AbortSignal,
  onProgress: () => void,
): Promise<void> {
  const { store, bus, log } = deps;
  const checkpoint = createCheckpoint(deps, 'event-publisher');
  const from = await checkpoint.read();
  const isPublished = await alreadyPublished(bus);
  const histories = createPaymentHistories(store, log);
  let batch: Message[] = [];
  for await (const item of store.subscribe({ from, prefixes: [paymentStreamPrefix], signal })) {
    if (item.kind === 'event') {
      const message = await messageOf(item);
      if (message !== undefined && !(await isPublished(item))) batch.push(message);
      if (batch.length < batchSize) continue;
    }
    if (batch.length > 0) await bus.publish(gatewayPaymentsTopic, batch);
    batch = [];
    onProgress();
    await checkpoint.write(item.position);
  }

  async function messageOf(event: RecordedEvent): Promise<Message | undefined> {
    const document = await histories.documentAfter(event);
    return document === undefined ? undefined : toPaymentMessage(event, document);
  }
}

/** Tells whether an event after the checkpoint has reached its partition before the last stop. */
async function alreadyPublished(
  bus: EventPublisherDependencies['bus'],
): Promise<(event: RecordedEvent) => Promise<boolean>> {
  const lastRecords = await bus.lastPerPartition(gatewayPaymentsTopic);
  const lastPositions = new Map(
    lastRecords.map(({ partition, headers }) => [
      partition,
      (headers[positionHeader] ?? beginning) as Position,
    ]),
  );
  const last = [...lastPositions.values()].reduce((a, b) => (a > b ? a : b), beginning);
  return async (event) => {
    if (event.position > last) return false;
    const token = event.stream.slice(paymentStreamPrefix.length);
    const partition = await bus.partitionOf(gatewayPaymentsTopic, token);
    return event.position <= (lastPositions.get(partition) ?? beginning);
  };
}
