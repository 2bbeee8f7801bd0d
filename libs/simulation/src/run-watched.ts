/** Runs a seed alone in its process; an uncaught error is a violation, too. As a worker, runs each seed it receives. */
import { getEventListeners } from 'node:events';
import { inspect } from 'node:util';
import { parentPort } from 'node:worker_threads';
import { type RunOptions, type RunResult, runSeed } from './world.ts';

export async function runWatched(options: RunOptions): Promise<RunResult> {
  const uncaught: unknown[] = [];
  const note = (error: unknown) => void uncaught.push(error);
  process.on('unhandledRejection', note);
  process.on('uncaughtException', note);
  const forgetSignals = watchCombinedSignals();
  try {
    const result = await runSeed(options);
    const [first] = uncaught;
    if (first === undefined || result.violation !== undefined) return result;
    const text = inspect(first);
    return { ...result, violation: { invariant: 'uncaught', text, atMs: result.simulatedMs } };
  } finally {
    forgetSignals();
    process.off('unhandledRejection', note);
    process.off('uncaughtException', note);
  }
}

/**
 * Node keeps a combined signal and its listeners until one of its sources is aborted. After a world has ended no source is
 * aborted, so without this cleanup a process would keep every world that it ran.
 */
function watchCombinedSignals(): () => void {
  const { any } = AbortSignal;
  const combined: AbortSignal[] = [];
  AbortSignal.any = (signals) => {
    const signal = any.call(AbortSignal, signals);
    combined.push(signal);
    return signal;
  };
  return () => {
    AbortSignal.any = any;
    for (const signal of combined)
      for (const listener of getEventListeners(signal, 'abort'))
        signal.removeEventListener('abort', listener as () => void);
  };
}

parentPort?.on('message', (seed: number) => {
  void runWatched({ seed }).then(({ lines: _, ...report }) => parentPort?.postMessage(report));
});
