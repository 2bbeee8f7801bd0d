/** One pass of the projector: from the checkpoint on, batch by batch, documents first and the checkpoint after them. */
import { beginning, type EventStore, type Position, type RecordedEvent } from '@tollgate/event-store';
import type { FailedStream } from '@tollgate/read-models';
import { TollgateError, type Clock, type Ids, type Log } from '@tollgate/service-kit';
import { createCheckpoint } from './checkpoint.ts';
import { createDocumentWriter, type Failure } from './document-writer.ts';

/** More failures than this are not the fault of single streams: the projector stands still rather than skip them all. */
export const failedStreamsMax = 100;
/** The checkpoint follows the end of the store this often at most where there was nothing to project. */
const idleCheckpointMs = 1_000;

export interface Projection {
  /**
   * Takes up the checkpoint, and gives the streams that have failed another try: the code may be another one now.
   *
   * @throws StoreUnavailable
   */
  resume(): Promise<void>;
  /**
   * Writes the documents of a batch, and then that every event up to `reached` is in them.
   *
   * @throws StoreUnavailable; TollgateError `too_many_failed_streams`
   */
  project(batch: readonly RecordedEvent[], reached: Position): Promise<void>;
  position(): Position;
  failedStreams(): FailedStream[];
}

export interface ProjectionOptions {
  store: EventStore;
  clock: Clock;
  ids: Ids;
  log: Log;
  cachedDocumentsMax: number;
}

export function createProjection({
  store,
  clock,
  ids,
  log,
  cachedDocumentsMax,
}: ProjectionOptions): Projection {
  const checkpoint = createCheckpoint({ store, ids, log });
  const documents = createDocumentWriter({ store, ids, cachedDocumentsMax });
  const failedStreams = new Map<string, FailedStream>();
  let position = beginning;
  let checkpointWrittenAt = 0;
  let checkpointEnd = beginning;

  async function resume(): Promise<void> {
    documents.forget();
    const last = await checkpoint.read();
    position = last.position;
    failedStreams.clear();
    for (const failed of last.failedStreams) {
      const failure = await documents.catchUp(failed.stream);
      if (failure !== undefined) failedStreams.set(failed.stream, failure.failed);
    }
  }

  async function project(batch: readonly RecordedEvent[], reached: Position): Promise<void> {
    if (batch.length === 0 && !isIdleCheckpointDue(reached)) return;
    await writeDocuments(batch.filter(({ stream }) => !failedStreams.has(stream)));
    checkpointEnd = await checkpoint.write(reached, [...failedStreams.values()]);
    checkpointWrittenAt = clock.monotonic();
    position = reached;
  }

  // The checkpoint itself moves the end of the store: answering to that with another one would never end.
  const isIdleCheckpointDue = (reached: Position): boolean =>
    reached > checkpointEnd && clock.monotonic() >= checkpointWrittenAt + idleCheckpointMs;

  /** Writes the documents at the same time, so that the store commits them together. */
  async function writeDocuments(batch: readonly RecordedEvent[]): Promise<void> {
    const byStream = Map.groupBy(batch, ({ stream }) => stream);
    const outcomes = await Promise.allSettled(
      [...byStream].map(([stream, events]) => documents.write(stream, events)),
    );
    for (const outcome of outcomes) {
      if (outcome.status === 'rejected') throw outcome.reason as Error;
      if (outcome.value !== undefined) markFailed(outcome.value);
    }
  }

  function markFailed({ failed, error }: Failure): void {
    const { stream, revision, code } = failed;
    log.error({ error, stream, revision, code }, 'a stream cannot be projected; its document stands still');
    failedStreams.set(stream, failed);
    if (failedStreams.size > failedStreamsMax)
      throw new TollgateError(
        'too_many_failed_streams',
        'Too many streams cannot be projected: none is skipped any more.',
      );
  }

  return { resume, project, position: () => position, failedStreams: () => [...failedStreams.values()] };
}
