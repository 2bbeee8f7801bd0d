import type { Clock, Log } from '@tollgate/service-kit';

/** Least time between two lines, milliseconds: a flood must not fill the disk that the log is on. */
const lineEveryMs = 1_000;

/** Logs callbacks without a valid capability, at most a line a second with their number since the last one. */
export function createForgeryLog({ clock, log }: { clock: Pick<Clock, 'monotonic'>; log: Log }): {
  note: () => void;
} {
  let count = 0;
  let writtenAt = -Infinity;
  return {
    note: () => {
      count += 1;
      if (clock.monotonic() < writtenAt + lineEveryMs) return;
      log.info(
        { operation: 'callback', outcome: 'forged', count },
        'callbacks without a valid capability were rejected',
      );
      [count, writtenAt] = [0, clock.monotonic()];
    },
  };
}
