import type { Clock, Log } from '@tollgate/service-kit';
import type { EachBatchPayload } from 'kafkajs';
import type { BusRecord } from '../message-bus.ts';
import { bytesOf, toBusRecord } from './record-mapping.ts';

const batchRecordsMax = 200;
const batchBytesMax = 4 * 1_048_576;
const heartbeatTickMs = 1_000;
const firstPauseMs = 100;
const pauseMsMax = 30_000;

export interface BatchWork {
  clock: Clock;
  log: Log;
  signal: AbortSignal;
  handle: (batch: readonly BusRecord[]) => Promise<void>;
  onHandled: () => void;
}

/** What a consumer does with the batches that kafkajs brings. Never throws what a handler threw. */
export function createBatchWork(work: BatchWork) {
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
      // Only now: what is resolved is committed with the next commit, whichever handler makes it.
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

  /** A member that sends no heartbeat loses its partitions, so heartbeats continue for as long as the handler takes. */
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

  /** Its offset is not resolved, so the same records come when the pause is over; the other partitions continue. */
  function pausePartition(payload: EachBatchPayload, error: unknown): void {
    const { topic, partition } = payload.batch;
    const attemptNumber = (failedTries.get(`${topic}/${partition}`) ?? 0) + 1;
    failedTries.set(`${topic}/${partition}`, attemptNumber);
    const waitMs = Math.min(pauseMsMax, firstPauseMs * 2 ** (attemptNumber - 1));
    const fields = { operation: 'handle', topic, partition, position: payload.batch.firstOffset() ?? '' };
    work.log.warn({ ...fields, attemptNumber, waitMs, error }, 'trying again after a pause');
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
