/** Writes the views of a batch of events. */
import { beginning, createFailedStreams, type FailedStream, type RecordedEvent } from '@tollgate/event-store';
import type { Log } from '@tollgate/service-kit';
import type { ViewCheckpoint } from './view-checkpoint.ts';
import { createViewWriter, type ViewWriterOptions } from './view-writer.ts';

interface Projection {
  /**
   * Makes every event of the batch durable in its view, except those of the failed streams.
   *
   * @throws StoreUnavailable; TollgateError `too_many_failed_streams`
   */
  write(batch: readonly RecordedEvent[]): Promise<void>;
  failedStreams(): FailedStream[];
}

export const nothingProjected: ViewCheckpoint = { position: beginning, counts: {}, failedStreams: [] };

/** Concurrent view writes: enough to be committed together, few enough to be answered in time. */
const writesAtOnceMax = 256;

/** Retries the failed streams: the code may have changed. @throws StoreUnavailable */
export async function createProjection(
  options: ViewWriterOptions & { log: Log },
  known: readonly FailedStream[],
): Promise<Projection> {
  const views = createViewWriter(options);
  const stillFailed: FailedStream[] = [];
  for (const { stream } of known) {
    const failure = await views.catchUp(stream);
    if (failure !== undefined) stillFailed.push(failure.failed);
  }
  const failures = createFailedStreams(options.log, stillFailed);
  return {
    failedStreams: failures.list,
    /** Views are written concurrently, so that the store commits them together. */
    async write(batch) {
      const readable = batch.filter((event) => !failures.has(event.stream));
      const byStream = Map.groupBy(readable, (event) => event.stream);
      const waiting = byStream.entries();
      const writeNext = async () => {
        for (const [stream, events] of waiting) {
          const failure = await views.write(stream, events);
          if (failure !== undefined) failures.add(failure);
        }
      };
      const writers = Array.from({ length: Math.min(writesAtOnceMax, byStream.size) }, writeNext);
      // Waits for all even if one fails: no write may overlap the next attempt.
      for (const outcome of await Promise.allSettled(writers))
        if (outcome.status === 'rejected') throw outcome.reason as Error;
    },
  };
}
