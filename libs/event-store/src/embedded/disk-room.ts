/** Derives from the appends whether the disk has room. */
import { type Clock, errorCode } from '@tollgate/service-kit';

/**
 * How long a refusal counts: longer than the interval between heartbeats of a living process, which are appends. Not forever,
 * since a process that is not ready gets nothing to append. @unit milliseconds
 */
export const refusalCountsMs = 10_000;

export interface DiskRoom {
  /** False after an append failed recently because the disk is full, and none has succeeded since. */
  isThere(): boolean;
  /** Observes the result of an append, and returns it. */
  noting<Result>(append: Promise<Result>): Promise<Result>;
}

export function watchDiskRoom(clock: Pick<Clock, 'monotonic'>): DiskRoom {
  let refusedAt: number | undefined;
  return {
    isThere: () => refusedAt === undefined || clock.monotonic() - refusedAt > refusalCountsMs,
    async noting(append) {
      try {
        const result = await append;
        refusedAt = undefined;
        return result;
      } catch (error) {
        if (errorCode(error) === 'store_full') refusedAt = clock.monotonic();
        throw error;
      }
    },
  };
}
