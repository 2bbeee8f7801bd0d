/** Nothing is announced under a limit of a day without a place under it: what is given back before it is announced, others spend. */
import type { RecordedEvent } from '@tollgate/event-store';

interface Places {
  onRecorded(event: Pick<RecordedEvent, 'stream' | 'type' | 'data'>): void;
  /** Whether it has one under any limit, of whatever day. */
  has(token: string): boolean;
}

/** By what is recorded of each limit and day. */
export function createPlaces(): Places {
  /** By token, the days under which it has one. */
  const places = new Map<string, Set<string>>();
  return {
    onRecorded: ({ stream, type, data }) => {
      if (!stream.startsWith('spending.')) return;
      const { token = '', tokens = [] } = data as { token?: string; tokens?: readonly string[] };
      if (type === 'AmountReserved') places.set(token, (places.get(token) ?? new Set()).add(stream));
      for (const each of tokens) places.get(each)?.delete(stream);
    },
    has: (token) => (places.get(token)?.size ?? 0) > 0,
  };
}
