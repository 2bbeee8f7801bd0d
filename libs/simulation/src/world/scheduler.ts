/**
 * Decides what happens next. Everything in the simulated world that is waited for is an action with a time, drawn by the
 * seed; the earliest runs, and all that it sets off runs before the next one. Nothing else makes anything go on.
 */
import type { Trace } from './trace.ts';
import { runSteps } from './turns.ts';

interface Entry {
  at: number;
  label: string;
  /** Undefined once it was taken back. */
  action: (() => void) | undefined;
}

export type Scheduler = ReturnType<typeof createScheduler>;

export function createScheduler(trace: Trace) {
  /** The latest first; of those at one time, the one that was planned last. */
  const planned: Entry[] = [];
  let now = 0;

  function plan(entry: Entry): void {
    let [from, to] = [0, planned.length];
    while (from < to) {
      const middle = (from + to) >> 1;
      if ((planned[middle] as Entry).at > entry.at) from = middle + 1;
      else to = middle;
    }
    planned.splice(from, 0, entry);
  }

  /** True if anything was left before `until`. */
  function runNext(until: number): boolean {
    for (let next = planned.at(-1); next !== undefined && next.at <= until; next = planned.at(-1)) {
      planned.pop();
      if (next.action === undefined) continue;
      now = next.at;
      trace.step(now, next.label);
      next.action();
      return true;
    }
    return false;
  }

  return {
    /** True time, milliseconds since the world began; no process sees it. */
    now: () => now,
    /** Runs `action` after `delayMs`, unless the function that is returned is called first. */
    after: (delayMs: number, label: string, action: () => void): (() => void) => {
      const entry: Entry = { at: now + Math.max(0, delayMs), label, action };
      plan(entry);
      return () => void (entry.action = undefined);
    },
    /** Lets time pass until nothing is left before `until`, or the condition holds. */
    runUntil: async (until: number, isOver: () => boolean = () => false): Promise<void> => {
      await runSteps(() => !isOver() && runNext(until));
      if (!isOver()) now = Math.max(now, until);
    },
  };
}
