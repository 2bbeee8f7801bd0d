/** What one pass of a projector does with the events that it is given, and what all such passes have in common. */
import type { EventStore, Position, RecordedEvent } from '@tollgate/event-store';
import { beginning } from '@tollgate/event-store';
import type { ViewCheckpoint, ViewEnvelope, ViewKind, FailedStream, ViewVersion } from '@tollgate/views';
import { TollgateError, type Clock, type Ids, type Log } from '@tollgate/service-kit';
import type { Checkpoint } from './checkpoint.ts';

export interface Projection {
  /**
   * Takes up the checkpoint.
   *
   * @throws StoreUnavailable
   */
  resume(): Promise<void>;
  /**
   * Writes the documents of a batch, and then that every event up to `reached` is in them.
   *
   * @throws StoreUnavailable; TollgateError `too_many_failed_streams`
   */
  project(batch: readonly RecordedEvent[], reached: Reached): Promise<void>;
  position(): Position;
  failedStreams(): FailedStream[];
}

/** Where the batch ends. */
export interface Reached {
  position: Position;
  /** There is nothing after it now. */
  isEnd: boolean;
}

export interface ProjectionOptions {
  store: EventStore;
  clock: Clock;
  ids: Ids;
  log: Log;
  /** The one that is written. */
  viewVersion: ViewVersion;
  cachedViewsMax: number;
  /** That of the kind, by default. */
  fold?: Fold;
}

/** The document after one more event, as `DocumentKind.fold` gives it. */
export type Fold = (kind: ViewKind, view: ViewEnvelope | undefined, event: RecordedEvent) => ViewEnvelope;

export const foldByKind: Fold = (kind, view, event) => kind.fold(view, event);

/** A stream whose events up to `failed.revision` are in the document, and no further. */
export interface Failure {
  failed: FailedStream;
  error: unknown;
}

/** More failures than this are not the fault of single streams: the projector stands still rather than skip them all. */
export const failedStreamsMax = 100;
export const tooManyFailedStreams = 'too_many_failed_streams';

export interface Failures {
  has(stream: string): boolean;
  list(): FailedStream[];
  take(failedStreams: readonly FailedStream[]): void;
  /** @throws TollgateError `too_many_failed_streams` */
  mark(failure: Failure): void;
}

export function createFailures(log: Log): Failures {
  const byStream = new Map<string, FailedStream>();
  return {
    has: (stream) => byStream.has(stream),
    list: () => [...byStream.values()],
    take: (failedStreams) => {
      byStream.clear();
      for (const failed of failedStreams) byStream.set(failed.stream, failed);
    },
    mark: ({ failed, error }) => {
      const { stream, revision, code } = failed;
      log.error({ error, stream, revision, code }, 'a stream cannot be projected; its document stands still');
      byStream.set(stream, failed);
      if (byStream.size > failedStreamsMax)
        throw new TollgateError(
          tooManyFailedStreams,
          'Too many streams cannot be projected: none is skipped any more.',
        );
    },
  };
}

/**
 * The checkpoint follows the end of the store this often at most where there was nothing to project. Seldom, because the
 * checkpoints of other projections move the end as well, and each would answer to the others'.
 */
const idleCheckpointMs = 10_000;

/** When a checkpoint is due, and its writing. */
export function createCheckpointing(checkpoint: Checkpoint, clock: Clock) {
  let writtenAt = -Infinity;
  let end = beginning;
  return {
    // The checkpoint itself moves the end of the store: answering to that with another one would never end.
    isDue: (batch: readonly RecordedEvent[], { position }: Reached): boolean =>
      batch.length > 0 || (position > end && clock.monotonic() >= writtenAt + idleCheckpointMs),
    write: async (
      { position }: Reached,
      failedStreams: readonly FailedStream[],
      more?: Pick<ViewCheckpoint, 'isPartial'>,
    ): Promise<void> => {
      end = await checkpoint.write(position, failedStreams, more);
      writtenAt = clock.monotonic();
    },
  };
}
