/** Events that are read and not yet in views. */
import { createBatchAge, type Position, type RecordedEvent } from '@tollgate/event-store';
import type { Clock } from '@tollgate/service-kit';

export interface PendingEvents {
  /** Gives how many there are with it. */
  add(event: RecordedEvent): number;
  /** True where the oldest has waited long enough for others. */
  isDue(): boolean;
  /**
   * Those that are to be projected now. When they are, everything up to `position` is: that is `end`, or comes before the
   * first event that is held.
   *
   * @param end everything up to here was added
   */
  take(end: Position): { events: RecordedEvent[]; position: Position; areAll: boolean };
  /** When those that are held are to be taken, milliseconds; undefined where none is. */
  waitMs(): number | undefined;
}

/**
 * A stream that has just begun is held for a moment: a payment begins with the announcement of a call, and its outcome
 * follows soon. Without that, each payment is written twice, however large the batches are. So is one whose append goes on:
 * a view of half of it would show a payment as approved that has no recurring token yet, or revised without its review.
 */
export function createPendingEvents({
  clock,
  holdMs,
  from,
}: {
  clock: Pick<Clock, 'monotonic'>;
  holdMs: number;
  /** Where the first event comes after. */
  from: Position;
}): PendingEvents {
  const age = createBatchAge(clock);
  /** When the last event came of streams of which there is the first event only, or a part of an append. */
  const begunAt = new Map<string, number>();
  let pending: RecordedEvent[] = [];
  let isDue = false;
  /** Everything up to here was taken. */
  let position = from;

  return {
    add: (event) => {
      begunAt.delete(event.stream);
      if (holdMs > 0 && (event.revision === 0 || continues(event)))
        begunAt.set(event.stream, clock.monotonic());
      isDue = age.isDueWith();
      return pending.push(event);
    },
    isDue: () => isDue,
    take: (end) => {
      const now = clock.monotonic();
      for (const [stream, at] of begunAt) if (now - at >= holdMs) begunAt.delete(stream);
      const isHeld = ({ stream }: RecordedEvent) => begunAt.has(stream);
      const firstHeld = pending.findIndex(isHeld);
      const areAll = firstHeld === -1;
      position = areAll ? end : (pending[firstHeld - 1]?.position ?? position);
      const events = pending.filter((event) => !isHeld(event));
      pending = pending.filter(isHeld);
      isDue = false;
      age.restart();
      return { events, position, areAll };
    },
    waitMs: () => {
      const [oldest] = begunAt.values();
      return oldest === undefined ? undefined : Math.max(0, oldest + holdMs - clock.monotonic());
    },
  };
}

const continues = ({ metadata }: RecordedEvent): boolean =>
  typeof metadata === 'object' && metadata !== null && 'continues' in metadata && metadata.continues === true;
