/**
 * Decides what happens next. Everything that the simulated world waits for is an action with a time drawn from the seed. The
 * earliest action runs, with everything it triggers, before the next one. There is no other source of progress.
 */
import { createHash } from 'node:crypto';

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
    const index = planned.findIndex(({ at }) => at <= entry.at);
    planned.splice(index === -1 ? planned.length : index, 0, entry);
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
      while (!isOver() && runNext(until)) await settle();
      if (!isOver()) now = Math.max(now, until);
    },
  };
}

/** Runs all resolved continuations, and what the code under test has deferred to the next turn of the event loop. */
const settle = (): Promise<void> => new Promise((resolve) => void setImmediate(setImmediate, resolve));

export type Trace = ReturnType<typeof createTrace>;

/** The trace: a hash that is equal for two runs of one seed, and lines for people. */
export function createTrace(now: () => number) {
  const hash = createHash('sha256');
  let steps = 0;
  const lines: string[] = [];
  return {
    /** Called for each step of the scheduler. */
    step: (atMs: number, label: string): void => {
      steps += 1;
      hash.update(`${atMs} ${label}\n`);
    },
    /** Adds a line for the reader of the trace. */
    log: (text: string): void => {
      hash.update(text);
      lines.push(`${formatTime(now())}  ${text}`);
    },
    hash: () => hash.copy().digest('hex').slice(0, 16),
    lines,
    steps: () => steps,
  };
}

export const formatTime = (ms: number): string => {
  const hours = Math.floor(ms / 3_600_000);
  return `${String(hours).padStart(2, '0')}${new Date(ms).toISOString().slice(13, 23)}`;
};
