import type { Clock } from '@tollgate/service-kit';
import type { RecordedEvent } from '../event-store.ts';

/** How long the first event of a batch waits for more, milliseconds. */
const batchMsMax = 200;

/**
 * The age of a batch of events. Under load a follower may not catch up for minutes: without a limit, its first event would wait
 * until the batch is full.
 */
export function createBatchAge(clock: Pick<Clock, 'monotonic'>) {
  let begunAt: number | undefined;
  return {
    /** Call with each event. True if the batch has waited long enough, with this one. */
    isDueWith: (): boolean => {
      begunAt ??= clock.monotonic();
      return clock.monotonic() - begunAt >= batchMsMax;
    },
    /** Call when the batch was taken: the next event begins another one. */
    restart: (): void => (begunAt = undefined),
  };
}

/** So many events, and no follower rests: nothing is gained while little happens. */
const restEventsMin = 8;
const restMsPerEvent = 2;
const restMsMax = 200;

/**
 * A follower that has caught up pauses, longer after more events. Frequent changes of a record are then written once,
 * and the fixed cost of a batch is paid less often. Ends early, and never rejects, when the signal is aborted.
 */
export async function restAfter(
  events: number,
  { clock, signal }: { clock: Pick<Clock, 'sleep'>; signal: AbortSignal },
): Promise<void> {
  if (events < restEventsMin) return;
  await clock.sleep(Math.min(events * restMsPerEvent, restMsMax), signal).catch(() => undefined);
}

/** True for an event that is followed by another one of the same append. */
export const isContinued = ({ metadata }: RecordedEvent): boolean =>
  typeof metadata === 'object' && metadata !== null && 'continues' in metadata && metadata.continues === true;
