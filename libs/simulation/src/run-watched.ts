/** Runs a seed alone in its process; an uncaught error is a violation, too. As a worker, runs each seed it receives. */
import { inspect } from 'node:util';
import { parentPort } from 'node:worker_threads';
import { type RunResult, runSeed } from './world.ts';

export async function runWatched(seed: number | string): Promise<RunResult> {
  const uncaught: unknown[] = [];
  const note = (error: unknown) => void uncaught.push(error);
  process.on('unhandledRejection', note);
  process.on('uncaughtException', note);
  try {
    const result = await runSeed(seed);
    const [first] = uncaught;
    if (first === undefined || result.violation !== undefined) return result;
    const text = inspect(first);
    return { ...result, violation: { invariant: 'uncaught', text, atMs: result.simulatedMs } };
  } finally {
    process.off('unhandledRejection', note);
    process.off('uncaughtException', note);
  }
}

parentPort?.on('message', (seed: number) => {
  void runWatched(seed).then(({ lines: _, ...report }) => parentPort?.postMessage(report));
});
