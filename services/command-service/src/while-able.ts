import type { Clock } from '@tollgate/service-kit';

/** How soon it is seen that a process can or cannot, milliseconds. */
const lookMs = 1_000;

/** Does work while `isAble`, again and again until the signal is aborted: while this process cannot, another one does it. */
export async function whileAble(
  { isAble, clock }: { isAble: () => boolean; clock: Pick<Clock, 'sleep'> },
  signal: AbortSignal,
  work: (signal: AbortSignal) => Promise<void>,
): Promise<void> {
  const pause = () => clock.sleep(lookMs, signal).catch(() => undefined);
  while (!signal.aborted) {
    if (isAble()) {
      const ending = new AbortController();
      let isOver = false;
      const working = work(AbortSignal.any([signal, ending.signal])).finally(() => (isOver = true));
      working.catch(() => undefined);
      while (!signal.aborted && !isOver && isAble()) await pause();
      ending.abort();
      await working;
    }
    await pause();
  }
}
