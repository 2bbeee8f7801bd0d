import type { Clock } from '@tollgate/service-kit';
import type { BusRecord, SubscribeOptions } from '../message-bus.ts';
import { createBatchWork } from './batch-work.ts';
import { clientRetry, createKafkaClient, type KafkaConnectionOptions } from './connection.ts';
import { isCoordinatorMoving, toBusUnavailable, within } from './kafka-failure.ts';

export const sessionTimeoutMsDefault = 30_000;
const heartbeatsPerSession = 10;
const rebalanceTimeoutMs = 60_000;
/** How long a broker holds back the answer while there is nothing new; a stop waits as long. */
const fetchWaitMs = 250;
const fetchBytesMax = 4 * 1_048_576;
const partitionBytesMax = 1_048_576;
const leaveWithinMs = 10_000;
const firstPauseMs = 250;
const pauseMsMax = 10_000;
/** A coordinator that moves for longer than the pauses before this one is logged as an error that ends a consumer. */
const movingPauseMsMax = 2_000;

export interface GroupConsumerOptions {
  connection: KafkaConnectionOptions;
  clock: Clock;
  /** How many partitions are handled at the same time. */
  concurrency: number;
  sessionTimeoutMs: number;
  handle: (batch: readonly BusRecord[]) => Promise<void>;
}

/** Takes part in a group until the signal is aborted, with as many consumers, one after the other, as that takes. */
export async function consumeGroup(
  options: GroupConsumerOptions,
  membership: SubscribeOptions,
): Promise<void> {
  const { connection, clock } = options;
  const { group, signal } = membership;
  let pauseMs = firstPauseMs;
  /** Of the error that was logged last, since a consumer last joined the group. */
  let loggedCode: string | undefined;
  const onJoined = () => (loggedCode = undefined);
  while (!signal.aborted) {
    const crash = await consumeOnce(options, membership, {
      onJoined,
      onHandled: () => (pauseMs = firstPauseMs),
    });
    if (signal.aborted) return;
    const error = toBusUnavailable(crash);
    const fields = { operation: 'consume', token: group, code: error.code, waitMs: pauseMs, error };
    const isPassing = isCoordinatorMoving(crash) && pauseMs < movingPauseMsMax;
    const level = loggedCode === error.code || isPassing ? 'debug' : 'error';
    connection.log[level](fields, 'a consumer ended; another one takes its place');
    if (level === 'error') loggedCode = error.code;
    await clock.sleep(pauseMs, signal).catch(() => undefined);
    pauseMs = Math.min(2 * pauseMs, pauseMsMax);
  }
}

/** Gives what the consumer ended of, or undefined where the signal was aborted. */
async function consumeOnce(
  { connection, clock, concurrency, sessionTimeoutMs, handle }: GroupConsumerOptions,
  { group, topics, signal }: SubscribeOptions,
  { onJoined, onHandled }: { onJoined: () => void; onHandled: () => void },
): Promise<unknown> {
  const { kafka, sever } = createKafkaClient(connection);
  const consumer = kafka.consumer({
    groupId: group,
    sessionTimeout: sessionTimeoutMs,
    rebalanceTimeout: rebalanceTimeoutMs,
    heartbeatInterval: sessionTimeoutMs / heartbeatsPerSession,
    maxWaitTimeInMs: fetchWaitMs,
    maxBytes: fetchBytesMax,
    maxBytesPerPartition: partitionBytesMax,
    allowAutoTopicCreation: false,
    // It restarts itself after some errors and stays dead after others: here every end is one, and the loop's business.
    retry: { ...clientRetry, restartOnFailure: async () => false },
  });
  const ended = Promise.withResolvers<unknown>();
  const abort = () => ended.resolve(undefined);
  signal.addEventListener('abort', abort, { once: true });
  consumer.on(consumer.events.CRASH, ({ payload }) => ended.resolve(payload.error));
  const work = createBatchWork({ clock, log: connection.log, signal, handle, onHandled });
  consumer.on(consumer.events.GROUP_JOIN, () => {
    work.joined();
    onJoined();
  });
  const start = async () => {
    await consumer.connect();
    await consumer.subscribe({ topics: [...topics], fromBeginning: true });
    if (signal.aborted) return;
    await consumer.run({
      autoCommit: true,
      eachBatchAutoResolve: false,
      partitionsConsumedConcurrently: concurrency,
      eachBatch: work.eachBatch,
    });
  };
  const started = start().catch((error: unknown) => ended.resolve(error));
  const crash = await ended.promise;
  signal.removeEventListener('abort', abort);
  try {
    // The handler that runs is waited for as long as it takes; only then is there something to take leave with.
    await work.idle();
    await within(
      clock,
      leaveWithinMs,
      started.then(() => consumer.disconnect()),
    );
  } catch (error) {
    connection.log.warn({ operation: 'leave', token: group, error }, 'a consumer could not leave its group');
  } finally {
    sever();
  }
  return crash;
}
