/**
 * Decides what happens next. Everything that the simulated world waits for is an action with a time drawn from the seed. The
 * earliest action runs, with everything it triggers, before the next one. There is no other source of progress.
 */
import type { Trace } from './trace.ts';
import { runSteps } from './turns.ts';

interface Entry {
  at: number;
  label: string;
  /** Undefined once cancelled. */
  action: (() => void) | undefined;
}

export type Scheduler = ReturnType<typeof createScheduler>;

export function createScheduler(trace: Trace) {
  /** Sorted latest first; among equal times, last planned first. */
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

  /** True if any action was left before `until`. */
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
    /** True time since the world began; not visible to processes. @unit milliseconds */
    now: () => now,
    /** Runs `action` after `delayMs`, unless the returned function is called first. */
    after: (delayMs: number, label: string, action: () => void): (() => void) => {
      const entry: Entry = { at: now + Math.max(0, delayMs), label, action };
      plan(entry);
      return () => void (entry.action = undefined);
    },
    /** Advances time until no action is left before `until`, or the condition holds. */
    runUntil: async (until: number, isOver: () => boolean = () => false): Promise<void> => {
      await runSteps(() => !isOver() && runNext(until));
      if (!isOver()) now = Math.max(now, until);
    },
  };
}
