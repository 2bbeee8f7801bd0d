import type { FailedStream } from '@tollgate/views';
import { type Log, TollgateError } from '@tollgate/service-kit';

/** More failures than this are not the fault of single streams: the publisher stands still rather than skip them all. */
export const failedStreamsMax = 100;

/** Streams with an event that cannot be published: they wait, and all others go on. */
export interface FailedStreams {
  has(stream: string): boolean;
  list(): readonly FailedStream[];
  /** @throws TollgateError `too_many_failed_streams` */
  add(failed: FailedStream, error: unknown): void;
  delete(stream: string): void;
}

export function createFailedStreams(known: readonly FailedStream[], log: Log): FailedStreams {
  const failedByStream = new Map(known.map((failed) => [failed.stream, failed]));
  return {
    has: (stream) => failedByStream.has(stream),
    list: () => [...failedByStream.values()],
    add: (failed, error) => {
      const { stream, revision, code } = failed;
      log.error(
        { error, stream, revision, code },
        'a stream cannot be published; it is tried again at the next start',
      );
      if (!failedByStream.has(stream) && failedByStream.size >= failedStreamsMax)
        throw new TollgateError(
          'too_many_failed_streams',
          'Too many streams cannot be published: none is skipped any more.',
        );
      failedByStream.set(stream, failed);
    },
    delete: (stream) => void failedByStream.delete(stream),
  };
}
