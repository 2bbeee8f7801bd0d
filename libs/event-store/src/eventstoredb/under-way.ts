import { StoreUnavailable } from '../errors.ts';

/** Writes under way at once; more would only eat memory while a server is slow. */
const underWayMax = 10_000;

/** Counts writes, so that the store can be closed after them. */
export interface UnderWay {
  /** Begins a write. @throws StoreUnavailable `store_overloaded` where too many are under way */
  run<Result>(work: () => Promise<Result>): Promise<Result>;
  /** Resolves when all have ended, in whatever way. */
  settled(): Promise<void>;
}

export function createUnderWay(max = underWayMax): UnderWay {
  const writes = new Set<Promise<unknown>>();
  return {
    run: async (work) => {
      if (writes.size >= max)
        throw new StoreUnavailable('store_overloaded', 'Too many appends wait for the event store.');
      const write = work();
      writes.add(write);
      try {
        return await write;
      } finally {
        writes.delete(write);
      }
    },
    settled: async () => {
      await Promise.allSettled(writes);
    },
  };
}
