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

/**
 * Runs steps one after the other, and between two steps all resolved continuations. A turn of the event loop polls the operating
 * system for I/O that a simulated world never has, so many steps share one turn.
 */
const stepsPerTurn = 256;

/** Work that the code under test deferred to the next turn. It runs before the next step, and is part of this one. */
interface PutOff {
  run: () => void;
}

/** Repeats until `step` returns false. @throws any error of a step */
function runSteps(step: () => boolean): Promise<void> {
  const { setImmediate: plan } = globalThis;
  const { putOff, giveBack } = takeOverImmediates();
  let isOver = false;
  return new Promise<void>((resolve, reject) => {
    function go(): void {
      if (isOver) return;
      const first = putOff.shift();
      if (first !== undefined) return first.run();
      try {
        isOver = !step();
      } catch (error) {
        isOver = true;
        reject(error);
      }
      if (isOver) resolve();
    }
    // Between two immediates of one turn, Node runs the callbacks of resolved promises.
    function turn(): void {
      if (isOver) return;
      for (let count = 0; count < stepsPerTurn; count += 1) plan(go);
      plan(turn);
    }
    turn();
  }).finally(giveBack);
}

function takeOverImmediates() {
  const { setImmediate, clearImmediate } = globalThis;
  const putOff: PutOff[] = [];
  const put = (action: (...values: unknown[]) => void, ...values: unknown[]): PutOff => {
    const entry = { run: () => action(...values) };
    putOff.push(entry);
    return entry;
  };
  const takeBack = (entry: PutOff): void => {
    const index = putOff.indexOf(entry);
    if (index !== -1) putOff.splice(index, 1);
  };
  Object.assign(globalThis, { setImmediate: put, clearImmediate: takeBack });
  return { putOff, giveBack: () => void Object.assign(globalThis, { setImmediate, clearImmediate }) };
}

export type Trace = ReturnType<typeof createTrace>;

/** The trace: a hash that is equal for two runs of one seed, and lines for people. */
export function createTrace({ isWhole, now }: { isWhole: boolean; now: () => number }) {
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
      if (isWhole) lines.push(`${formatTime(now())}  ${text}`);
    },
    hash: () => hash.copy().digest('hex').slice(0, 16),
    lines: (): readonly string[] => lines,
    steps: () => steps,
  };
}

export const formatTime = (ms: number): string => {
  const hours = Math.floor(ms / 3_600_000);
  return `${String(hours).padStart(2, '0')}${new Date(ms).toISOString().slice(13, 23)}`;
};
