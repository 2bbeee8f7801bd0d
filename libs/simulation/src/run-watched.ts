/** A seed in a process of which it is the only work: what nobody catches is a violation, too. */
import { inspect } from 'node:util';
import { forgottenAfter } from './world/forgotten.ts';
import { type RunOptions, type RunResult, runSeed } from './world.ts';

export async function runWatched(options: RunOptions): Promise<RunResult> {
  const uncaught: unknown[] = [];
  const note = (error: unknown) => void uncaught.push(error);
  process.on('unhandledRejection', note);
  process.on('uncaughtException', note);
  try {
    const result = await forgottenAfter(() => runSeed(options));
    const [first] = uncaught;
    if (first === undefined || result.violation !== undefined) return result;
    const text = inspect(first);
    return { ...result, violation: { invariant: 'uncaught', text, atMs: result.simulatedMs } };
  } finally {
    process.off('unhandledRejection', note);
    process.off('uncaughtException', note);
  }
}
