import type { Clock, Log } from '@tollgate/service-kit';
import type { EachBatchPayload } from 'kafkajs';
import type { BusRecord, SubscribeOptions } from '../message-bus.ts';
import { clientRetry, createKafkaClient, type KafkaConnectionOptions } from './connection.ts';
import { isCoordinatorMoving, toBusUnavailable, within } from './kafka-failure.ts';
import { bytesOf, toBusRecord } from './record-mapping.ts';

export const sessionTimeoutMsDefault = 30_000;
const heartbeatsPerSession = 10;
const rebalanceTimeoutMs = 60_000;
/** How long a broker delays an empty answer; a stop waits as long. */
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

/** Takes part in a group until the signal is aborted, with as many consecutive consumers as necessary. */
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
    connection.log[level](fields, 'a consumer ended; it is replaced');
    if (level === 'error') loggedCode = error.code;
    await clock.sleep(pauseMs, signal).catch(() => undefined);
    pauseMs = Math.min(2 * pauseMs, pauseMsMax);
  }
}

/** Returns the error that ended the consumer, or undefined if the signal was aborted. */
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
    // It restarts itself after some errors and stays dead after others: here every end is handled by the loop.
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
    // The running handler is awaited for as long as it takes; only then does the member leave.
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

const batchRecordsMax = 200;
const batchBytesMax = 4 * 1_048_576;
const heartbeatTickMs = 1_000;
const firstRetryPauseMs = 100;
const retryPauseMsMax = 30_000;

interface BatchWork {
  clock: Clock;
  log: Log;
  signal: AbortSignal;
  handle: (batch: readonly BusRecord[]) => Promise<void>;
  onHandled: () => void;
}

/** Handles the batches of kafkajs. Never throws a handler's error. */
function createBatchWork(work: BatchWork) {
  const running = new Set<Promise<unknown>>();
  const failedTries = new Map<string, number>();
  let isInterrupted = false;

  async function eachBatch(payload: EachBatchPayload): Promise<void> {
    const { topic, partition, messages } = payload.batch;
    const records = messages.map((message) => toBusRecord(topic, partition, message));
    for (const chunk of inChunks(records)) {
      if (!payload.isRunning() || payload.isStale() || work.signal.aborted || isInterrupted) return;
      const outcome = await handleWithHeartbeats(payload, chunk);
      if (outcome.kind === 'rejected') {
        pausePartition(payload, outcome.error);
        return;
      }
      failedTries.delete(`${topic}/${partition}`);
      // Only now: resolved offsets are committed with the next commit of any handler.
      payload.resolveOffset(chunk.at(-1)?.offset ?? '');
      if ('heartbeatError' in outcome) {
        // Thrown, it makes the member rejoin, and its partitions may go to others: first all its handlers must end.
        await Promise.allSettled(running);
        throw outcome.heartbeatError;
      }
      await payload.commitOffsetsIfNecessary(payload.uncommittedOffsets());
      work.onHandled();
    }
  }

  /** A member without heartbeats loses its partitions, so heartbeats continue for as long as the handler takes. */
  async function handleWithHeartbeats(payload: EachBatchPayload, chunk: BusRecord[]): Promise<Outcome> {
    const ended = new AbortController();
    const handling = callHandler(work.handle, chunk).finally(() => ended.abort());
    running.add(handling);
    let failure: { heartbeatError: unknown } | undefined;
    while (!ended.signal.aborted) {
      await work.clock.sleep(heartbeatTickMs, ended.signal).catch(() => undefined);
      if (!ended.signal.aborted)
        await payload.heartbeat().catch((heartbeatError: unknown) => {
          failure ??= { heartbeatError };
          isInterrupted = true;
        });
    }
    const outcome = await handling;
    running.delete(handling);
    return outcome.kind === 'handled' ? { ...outcome, ...failure } : outcome;
  }

  /** Its offset is not resolved, so the same records are delivered after the pause; the other partitions continue. */
  function pausePartition(payload: EachBatchPayload, error: unknown): void {
    const { topic, partition } = payload.batch;
    const attemptNumber = (failedTries.get(`${topic}/${partition}`) ?? 0) + 1;
    failedTries.set(`${topic}/${partition}`, attemptNumber);
    const waitMs = Math.min(retryPauseMsMax, firstRetryPauseMs * 2 ** (attemptNumber - 1));
    const fields = { operation: 'handle', topic, partition, position: payload.batch.firstOffset() ?? '' };
    work.log.warn({ ...fields, attemptNumber, waitMs, error }, 'retrying after a pause');
    const resume = payload.pause();
    // When the signal is aborted the consumer ends; resuming it does no harm then.
    void work.clock
      .sleep(waitMs, work.signal)
      .catch(() => undefined)
      .then(resume);
  }

  return {
    eachBatch,
    /** The member has its partitions, old ones or new ones. */
    joined: () => (isInterrupted = false),
    /** Resolves when no handler runs. */
    idle: async () => {
      await Promise.allSettled(running);
    },
  };
}

type Outcome = { kind: 'rejected'; error: unknown } | { kind: 'handled'; heartbeatError?: unknown };

async function callHandler(handle: BatchWork['handle'], chunk: readonly BusRecord[]): Promise<Outcome> {
  try {
    await handle(chunk);
    return { kind: 'handled' };
  } catch (error) {
    return { kind: 'rejected', error };
  }
}

function* inChunks(records: readonly BusRecord[]): Generator<BusRecord[]> {
  let chunk: BusRecord[] = [];
  let bytes = 0;
  for (const record of records) {
    const size = bytesOf(record);
    if (chunk.length === batchRecordsMax || (chunk.length > 0 && bytes + size > batchBytesMax)) {
      yield chunk;
      [chunk, bytes] = [[], 0];
    }
    chunk.push(record);
    bytes += size;
  }
  if (chunk.length > 0) yield chunk;
}
