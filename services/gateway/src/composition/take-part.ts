/** Shares work with the other processes while this one can do it; the others take its part while it cannot. */
import type { Members } from '@tollgate/event-store';
import type { Clock } from '@tollgate/service-kit';

/** How soon it is seen that it can or cannot, milliseconds. */
const lookMs = 1_000;

/** Among the members while `isAble`, until the signal is aborted. */
export async function takePart(
  { members, isAble, clock }: { members: Members; isAble: () => boolean; clock: Clock },
  signal: AbortSignal,
): Promise<void> {
  const pause = () => clock.sleep(lookMs, signal).catch(() => undefined);
  while (!signal.aborted) {
    if (isAble()) {
      const leaving = new AbortController();
      const joined = members.run(AbortSignal.any([signal, leaving.signal]));
      while (!signal.aborted && isAble()) await pause();
      leaving.abort();
      await joined;
    }
    await pause();
  }
}
