/** The reading side of a store in a file. */
import type { Log } from '@tollgate/service-kit';
import { storeClosed } from '../errors.ts';
import type { Position, ReadOptions, SubscribeOptions } from '../event-store.ts';
import { createCommitWatch } from './commit-watch.ts';
import { toPosition } from './event-rows.ts';
import { type Reader, readInPages } from './reader.ts';
import { subscription } from './subscription.ts';

export function createReads(reader: Reader, log: Log) {
  const closing = new AbortController();
  const commits = createCommitWatch(reader.dataVersion);
  const requireOpen = () => {
    if (closing.signal.aborted) throw storeClosed();
  };
  return {
    commits,
    /** Aborted to close the store. */
    closing,
    head: async (): Promise<Position> => {
      requireOpen();
      return toPosition(reader.head());
    },
    read: (stream: string, options: ReadOptions = {}) =>
      readInPages(reader, { stream, requireOpen, ...options }),
    subscribe: (given: SubscribeOptions) => {
      const signal = AbortSignal.any([given.signal, closing.signal]);
      return subscription({ reader, commits, log }, { ...given, signal });
    },
  };
}
