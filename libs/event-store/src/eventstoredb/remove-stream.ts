import { isRetryable, type Clock } from '@tollgate/service-kit';
import { within } from '../within.ts';
import { appendTriesMax } from './appender.ts';
import type { Link } from './connection.ts';
import { fromClientError } from './store-failure.ts';

const pauseMs = 250;

/**
 * Deletes a stream for ever. Of a stream that is deleted so that it can be used again, the server keeps the last event, which
 * of a view is all that there is.
 *
 * @throws StoreUnavailable when the outcome is still unknown after 4 tries
 */
export async function removeStream(
  { link, clock, tryMs }: { link: Link; clock: Clock; tryMs: number },
  stream: string,
): Promise<void> {
  const options = { credentials: link.appendCredentials, requiresLeader: true, deadline: tryMs };
  for (let tryNumber = 1; ; tryNumber += 1) {
    try {
      await within(clock, tryMs, link.client.tombstoneStream(stream, options));
      return;
    } catch (error) {
      const failure = fromClientError(error);
      if (failure.code === 'stream_removed') return;
      if (!isRetryable(failure) || tryNumber >= appendTriesMax) throw failure;
    }
    await clock.sleep(pauseMs);
  }
}
