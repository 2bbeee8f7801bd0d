import { expect } from 'vitest';
import {
  beginning,
  type CaughtUp,
  type EventStore,
  type Position,
  type RecordedEvent,
} from '../event-store.ts';

export interface SubscriptionProbe {
  /** Everything that was delivered. */
  items: (RecordedEvent | CaughtUp)[];
  events(): RecordedEvent[];
  /** Waits until the end is reached at `position` or later. */
  caughtUp(position?: Position): Promise<void>;
  /** Ends the subscription; resolves when its loop has ended, rejects with its error. */
  stop(): Promise<void>;
  /** Settles when the loop ends. */
  ended: Promise<void>;
}

/** Follows a subscription in the background and records its events. */
export function probe(
  store: EventStore,
  { prefixes, from = beginning }: { prefixes: string[]; from?: Position },
): SubscriptionProbe {
  const controller = new AbortController();
  const items: SubscriptionProbe['items'] = [];
  const follow = async () => {
    const { signal } = controller;
    for await (const item of store.subscribe({ from, prefixes, signal })) items.push(item);
  };
  const ended = follow();
  return {
    items,
    events: () => items.filter((item) => item.kind === 'event'),
    caughtUp: (position = beginning) => {
      const isThere = () => items.some((item) => item.kind === 'caught-up' && item.position >= position);
      return expect.poll(isThere, { timeout: 10_000, interval: 2 }).toBe(true);
    },
    stop: () => {
      controller.abort();
      return ended;
    },
    ended,
  };
}
