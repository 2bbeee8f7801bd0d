import type { Clock } from '@tollgate/service-kit';

/** A possible event: calls `done` when it happens, unless the returned function was called before. */
export type Wait = (done: () => void) => () => void;

/** Resolves when one of them happens, and releases the others. No exception and no signal is created. */
export function firstOf(...waits: readonly Wait[]): Promise<void> {
  return new Promise((resolve) => {
    const cancels: (() => void)[] = [];
    let isOver = false;
    const done = () => {
      if (isOver) return;
      isOver = true;
      for (const cancel of cancels) cancel();
      resolve();
    };
    for (const wait of waits) if (!isOver) cancels.push(wait(done));
    if (isOver) for (const cancel of cancels) cancel();
  });
}

/** Real time: this is the adapter's own timer, because a subscription must also recover under a stopped test clock. */
export const elapsed =
  (durationMs: number): Wait =>
  (done) => {
    const timer = setTimeout(done, durationMs).unref();
    return () => clearTimeout(timer);
  };

export const aborted =
  (signal: AbortSignal): Wait =>
  (done) => {
    if (signal.aborted) done();
    else signal.addEventListener('abort', done, { once: true });
    return () => signal.removeEventListener('abort', done);
  };

/** Conditions that are checked again at each `wake`. */
export function createConditions() {
  const checks = new Set<() => void>();
  return {
    wake(): void {
      for (const check of [...checks]) check();
    },
    until:
      (isReached: () => boolean): Wait =>
      (done) => {
        const check = () => {
          if (isReached()) done();
        };
        checks.add(check);
        check();
        return () => void checks.delete(check);
      },
  };
}

/** Waits in real time, and never longer than until the signal is aborted. */
export const pause = (durationMs: number, signal: AbortSignal): Promise<void> =>
  firstOf(elapsed(durationMs), aborted(signal));

/** Callers that wait for a condition; `wake` checks each again. */
export function createWaiting(clock: Pick<Clock, 'after'>) {
  const conditions = createConditions();
  let ends = 0;
  return {
    /** False after `timeoutMs`, or at the next `end`. */
    async until(isReached: () => boolean, timeoutMs: number): Promise<boolean> {
      const begun = ends;
      await firstOf(
        conditions.until(() => isReached() || ends > begun),
        (done) => clock.after(timeoutMs, done),
      );
      return isReached();
    },
    wake: conditions.wake,
    end(): void {
      ends += 1;
      conditions.wake();
    },
  };
}
