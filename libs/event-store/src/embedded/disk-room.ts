/** Knows from the appends whether the disk has room. */
import { type Clock, errorCode } from '@tollgate/service-kit';

/**
 * How long a refusal counts, milliseconds: longer than the pause between two beats of a living process, which are appends,
 * and not indefinitely, since a process that is not ready gets nothing to append.
 */
export const refusalCountsMs = 10_000;

export interface DiskRoom {
  /** False if an append was refused a moment ago because the disk is full, and none has succeeded since. */
  isThere(): boolean;
  /** Takes note of what becomes of an append, and gives that. */
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
