import { type EventStore, type Position, type RecordedEvent, beginning } from '../../event-store.ts';
import { fromPosition, toPosition } from '../../embedded/event-rows.ts';

/** The order of all events, which the port shows only in subscriptions. */
export interface LogReader {
  /** Of the last event. */
  head(): Promise<Position>;
  /** The event at the position and later ones, up to the end. */
  forwards(from: Position, signal: AbortSignal): AsyncGenerator<RecordedEvent, void, void>;
  /** The last `count` events before a position, or before the end; the last one first. */
  backwards(before: Position | 'end', count: number): Promise<RecordedEvent[]>;
}

export function createLogReader(store: EventStore): LogReader {
  let lastHead = beginning;
  const head = async (): Promise<Position> => {
    const { signal } = new AbortController();
    for await (const item of store.subscribe({ from: lastHead, prefixes: [], signal }))
      if (item.kind === 'caught-up') return (lastHead = item.position);
    return lastHead;
  };

  async function* after(from: Position, signal: AbortSignal): AsyncGenerator<RecordedEvent, void, void> {
    for await (const item of store.subscribe({ from, prefixes: [''], signal })) {
      if (item.kind === 'caught-up') return;
      yield item;
    }
  }

  return {
    head,
    forwards: (from, signal) => after(from === beginning ? from : before(from, 1), signal),
    backwards: async (until, count) => {
      const end = until === 'end' ? await head() : until;
      const isIn = ({ position }: RecordedEvent) => until === 'end' || position < until;
      for (let window = count; ; window *= 4) {
        const start = before(end, window);
        const { signal } = new AbortController();
        const found = (await Array.fromAsync(after(start, signal))).filter(isIn);
        if (found.length >= count || start === beginning) return found.slice(-count).reverse();
      }
    },
  };
}

const before = (position: Position, distance: number): Position =>
  toPosition(Math.max(0, fromPosition(position) - distance));
