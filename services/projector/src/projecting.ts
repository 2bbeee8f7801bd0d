/** One pass over the events of one view version, until it is ended. The next batch is read while one is written. */
import type { EventStore, RecordedEvent } from '@tollgate/event-store';
import { viewKinds, viewVersionStream } from '@tollgate/views';
import type { Projection, Reached } from './projection.ts';

export interface ProjectingOptions {
  store: EventStore;
  /** The most events that are folded before views are written. */
  batchEventsMax: number;
  signal: AbortSignal;
  onBatch: (reached: Reached, eventsRead: number) => void;
  /** Whether an event of the view-version stream ends the pass. */
  isSwitch?: (event: RecordedEvent) => boolean;
}

/** @throws StoreUnavailable; TollgateError `too_many_failed_streams` */
export async function projectOn(projection: Projection, options: ProjectingOptions): Promise<void> {
  const { store, signal, batchEventsMax, onBatch, isSwitch = () => false } = options;
  const prefixes = [...viewKinds.map(({ streamPrefix }) => streamPrefix), viewVersionStream];
  const failing = new AbortController();
  const reading = AbortSignal.any([signal, failing.signal]);
  let batch: RecordedEvent[] = [];
  let underWay = Promise.resolve();
  const project = async (events: readonly RecordedEvent[], reached: Reached): Promise<void> => {
    await projection.project(events, reached);
    onBatch(reached, events.length);
  };
  try {
    for await (const item of store.subscribe({ from: projection.position(), prefixes, signal: reading })) {
      if (item.kind === 'event' && item.stream === viewVersionStream) {
        // The events of the batch are projected again from the checkpoint of the other version.
        if (isSwitch(item)) return;
        continue;
      }
      if (item.kind === 'event' && batch.push(item) < batchEventsMax) continue;
      await underWay;
      underWay = project(batch, { position: item.position, isEnd: item.kind === 'caught-up' });
      underWay.catch(() => failing.abort());
      if (item.kind === 'caught-up') await underWay;
      batch = [];
    }
  } finally {
    await underWay;
  }
}
