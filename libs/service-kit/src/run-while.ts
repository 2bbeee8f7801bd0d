import type { Clock } from './clock.ts';

/** Interval between checks of the condition. @unit milliseconds */
const checkEveryMs = 1_000;

/** Runs work while the condition holds, until the signal is aborted; restarts it whenever the condition holds again. */
export async function runWhile(
  { isAble, clock }: { isAble: () => boolean; clock: Pick<Clock, 'sleep'> },
  signal: AbortSignal,
  work: (signal: AbortSignal) => Promise<void>,
): Promise<void> {
  const pause = () => clock.sleep(checkEveryMs, signal).catch(() => undefined);
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
