/** One pass over the events of one view version, until it is ended. The next batch is read while one is written. */
import { restAfter, type EventStore, type RecordedEvent } from '@tollgate/event-store';
import type { Clock } from '@tollgate/service-kit';
import { viewKinds, viewVersionStream } from '@tollgate/views';
import { createPendingEvents } from './pending-events.ts';
import type { Projection, Reached } from './projection.ts';

export interface ProjectingOptions {
  store: EventStore;
  clock: Clock;
  /** The most events that are folded before views are written. */
  batchEventsMax: number;
  /** How long a stream that has just begun waits for its next event, milliseconds: most then have one view less. */
  holdMs: number;
  signal: AbortSignal;
  onBatch: (reached: Reached, eventsRead: number) => void;
  /** Whether an event of the view-version stream ends the pass. */
  isSwitch?: (event: RecordedEvent) => boolean;
}

/** @throws StoreUnavailable; TollgateError `too_many_failed_streams` */
export async function projectOn(projection: Projection, options: ProjectingOptions): Promise<void> {
  const { store, clock, signal, batchEventsMax, holdMs, onBatch, isSwitch = () => false } = options;
  const prefixes = [...viewKinds.map(({ streamPrefix }) => streamPrefix), viewVersionStream];
  const failing = new AbortController();
  const reading = AbortSignal.any([signal, failing.signal]);
  const pending = createPendingEvents({ clock, holdMs, from: projection.position() });
  let underWay = Promise.resolve();
  const project = async (events: readonly RecordedEvent[], reached: Reached): Promise<void> => {
    await projection.project(events, reached);
    onBatch(reached, events.length);
  };
  const items = store
    .subscribe({ from: projection.position(), prefixes, signal: reading })
    [Symbol.asyncIterator]();
  let next: ReturnType<typeof items.next> | undefined;
  let end = projection.position();
  let isAtEnd = false;
  try {
    for (;;) {
      const given = await orLate(clock, (next ??= items.next()), pending.waitMs());
      if (given?.done === true) return;
      if (given !== undefined) {
        next = undefined;
        const item = given.value;
        if (item.kind === 'event' && item.stream === viewVersionStream) {
          // The events of the batch are projected again from the checkpoint of the other version.
          if (isSwitch(item)) return;
          continue;
        }
        end = item.position;
        isAtEnd = item.kind === 'caught-up';
        if (item.kind === 'event' && pending.add(item) < batchEventsMax && !pending.isDue()) continue;
      }
      await underWay;
      const { events, position, areAll } = pending.take(end);
      underWay = project(events, { position, isEnd: isAtEnd && areAll });
      underWay.catch(() => failing.abort());
      if (!isAtEnd) continue;
      await underWay;
      await restAfter(events.length, { clock, signal: reading });
    }
  } finally {
    await items.return?.();
    await underWay;
  }
}

/** Undefined where it is not there in time. */
function orLate<Value>(
  clock: Pick<Clock, 'after'>,
  work: Promise<Value>,
  waitMs: number | undefined,
): Promise<Value | undefined> {
  if (waitMs === undefined) return work;
  return new Promise((resolve, reject) => {
    const cancel = clock.after(waitMs, () => resolve(undefined));
    work.then(resolve, reject).finally(cancel);
  });
}
