/**
 * Decides what happens next. Everything in the simulated world that is waited for is an action with a time, drawn by the
 * seed; the earliest runs, and all that it sets off runs before the next one. Nothing else makes anything go on.
 */
import type { Trace } from './trace.ts';
import { runSteps } from './turns.ts';

export interface Scheduler {
  /** True time, milliseconds since the world began; no process sees it. */
  now(): number;
  /** Runs `action` after `delayMs`, unless the function that is returned is called first. */
  after(delayMs: number, label: string, action: () => void): () => void;
  /** Lets time pass until nothing is left before `until`, or the condition holds. */
  runUntil(until: number, isOver?: () => boolean): Promise<void>;
}

interface Entry {
  at: number;
  number: number;
  label: string;
  /** Undefined once it was taken back. */
  action: (() => void) | undefined;
}
type Planned = Entry & { action: () => void };
const isPlanned = (entry: Entry): entry is Planned => entry.action !== undefined;

export function createScheduler(trace: Trace): Scheduler {
  const heap: Entry[] = [];
  let now = 0;
  let count = 0;

  /** The earliest that was not taken back; undefined where none is left before `until`. */
  function takeNext(until: number): Planned | undefined {
    for (let next = heap[0]; next !== undefined && next.at <= until; next = heap[0]) {
      pop(heap);
      if (isPlanned(next)) return next;
    }
    return undefined;
  }

  return {
    now: () => now,
    after: (delayMs, label, action) => {
      count += 1;
      const entry: Entry = { at: now + Math.max(0, delayMs), number: count, label, action };
      push(heap, entry);
      return () => void (entry.action = undefined);
    },
    runUntil: async (until, isOver = () => false) => {
      await runSteps(() => {
        const next = isOver() ? undefined : takeNext(until);
        if (next === undefined) return false;
        now = next.at;
        trace.step(now, next.label);
        next.action();
        return true;
      });
      if (!isOver()) now = Math.max(now, until);
    },
  };
}

const isBefore = (a: Entry, b: Entry): boolean => a.at < b.at || (a.at === b.at && a.number < b.number);

function push(heap: Entry[], entry: Entry): void {
  let index = heap.push(entry) - 1;
  while (index > 0) {
    const parent = (index - 1) >> 1;
    if (!isBefore(entry, heap[parent] as Entry)) break;
    heap[index] = heap[parent] as Entry;
    index = parent;
  }
  heap[index] = entry;
}

function pop(heap: Entry[]): void {
  const last = heap.pop();
  if (last === undefined || heap.length === 0) return;
  let index = 0;
  for (;;) {
    let child = 2 * index + 1;
    if (child >= heap.length) break;
    if (child + 1 < heap.length && isBefore(heap[child + 1] as Entry, heap[child] as Entry)) child += 1;
    if (!isBefore(heap[child] as Entry, last)) break;
    heap[index] = heap[child] as Entry;
    index = child;
  }
  heap[index] = last;
}
