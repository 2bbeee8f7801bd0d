/**
 * Node holds a signal that combines others, and with it the listeners, until one of them is aborted. In a world that has
 * ended nobody aborts anything: unless the listeners are removed, a process keeps every world that it ran.
 */
import { getEventListeners } from 'node:events';

export async function forgottenAfter<Result>(run: () => Promise<Result>): Promise<Result> {
  const { any } = AbortSignal;
  const combined: AbortSignal[] = [];
  AbortSignal.any = (signals) => {
    const signal = any.call(AbortSignal, signals);
    combined.push(signal);
    return signal;
  };
  try {
    return await run();
  } finally {
    AbortSignal.any = any;
    for (const signal of combined)
      for (const listener of getEventListeners(signal, 'abort'))
        signal.removeEventListener('abort', listener as () => void);
  }
}
