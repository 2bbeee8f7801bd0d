import { TollgateError, errorCode, type Log } from '@tollgate/service-kit';
import { z } from 'zod';

/** A stream with an event at `revision` that a follower could not apply: it is quarantined, and all others continue. */
export const failedStreamSchema = z.object({
  stream: z.string(),
  revision: z.int().min(0),
  code: z.string(),
});
export type FailedStream = z.infer<typeof failedStreamSchema>;

export interface StreamFailure {
  failed: FailedStream;
  error: unknown;
}

/** More failures than this are not the fault of single streams: the follower stops rather than skip them all. */
export const failedStreamsMax = 100;

export class TooManyFailedStreams extends TollgateError {
  constructor() {
    super(
      'too_many_failed_streams',
      'Too many streams cannot be followed, so no further stream is quarantined.',
    );
  }
}

export type FailedStreams = ReturnType<typeof createFailedStreams>;

/** @param known those of the checkpoint, which were logged already */
export function createFailedStreams(log: Log, known: readonly FailedStream[] = []) {
  const byStream = new Map(known.map((failed) => [failed.stream, failed]));
  return {
    has: (stream: string): boolean => byStream.has(stream),
    list: (): FailedStream[] => [...byStream.values()],
    /** @throws TollgateError `too_many_failed_streams` */
    add: ({ failed, error }: StreamFailure): void => {
      log.error({ error, ...failed }, 'a stream cannot be followed; it is quarantined until the next start');
      byStream.set(failed.stream, failed);
      if (byStream.size > failedStreamsMax) throw new TooManyFailedStreams();
    },
    delete: (stream: string): void => void byStream.delete(stream),
  };
}

export const failureAt = (
  { stream, revision }: { stream: string; revision: number },
  error: unknown,
): StreamFailure => ({ failed: { stream, revision, code: errorCode(error) ?? 'event_undecodable' }, error });
