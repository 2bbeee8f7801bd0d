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

/** How long a stream waits for the rest of an append, which is in the store already, milliseconds. */
const appendHoldMs = 250;

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
  /** Until when streams are held of which there is the first event only, or a part of an append. */
  const heldUntil = new Map<string, number>();
  let pending: RecordedEvent[] = [];
  let isDue = false;
  /** Everything up to here was taken. */
  let position = from;

  return {
    add: (event) => {
      heldUntil.delete(event.stream);
      const ms = continues(event) ? appendHoldMs : event.revision === 0 ? holdMs : 0;
      if (ms > 0) heldUntil.set(event.stream, clock.monotonic() + ms);
      isDue = age.isDueWith();
      return pending.push(event);
    },
    isDue: () => isDue,
    take: (end) => {
      const now = clock.monotonic();
      for (const [stream, until] of heldUntil) if (now >= until) heldUntil.delete(stream);
      const isHeld = ({ stream }: RecordedEvent) => heldUntil.has(stream);
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
      const [first] = heldUntil.values();
      return first === undefined ? undefined : Math.max(0, first - clock.monotonic());
    },
  };
}

const continues = ({ metadata }: RecordedEvent): boolean =>
  typeof metadata === 'object' && metadata !== null && 'continues' in metadata && metadata.continues === true;
