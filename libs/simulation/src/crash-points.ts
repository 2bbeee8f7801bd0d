/**
 * Every scenario of a list again and again, with a crash at its first, second, third … delivery that concerns money, on
 * either machine. At a delivery all that was asked for has had its effect, and the process has learnt nothing of it.
 */
import type { StoryKind } from './callers.ts';
import type { FaultKind } from './faults.ts';
import type { Violation } from './invariants.ts';
import { runWatched } from './run-watched.ts';
import type { Scenario } from './world.ts';

const kinds: readonly StoryKind[] = ['hosted', 'card', 'two-step-card'];
/** How the first call ends. */
const endings: readonly (readonly FaultKind[])[] = [
  [],
  ['reply-lost'],
  ['reply-slow'],
  ['server-error-with-effect'],
  ['server-error-without-effect'],
  ['rate-limited'],
  ['connection-refused'],
];
/** What becomes of the first callback. */
const callbacks: readonly (readonly FaultKind[])[] = [
  [],
  ['callback-lost'],
  ['callback-late'],
  ['callback-repeated'],
];

export const scenarios: readonly Scenario[] = kinds.flatMap((kind) =>
  endings.flatMap((ending) => callbacks.map((callback) => ({ kind, forced: [...ending, ...callback] }))),
);

interface CrashPointReport {
  runs: number;
  failure: { scenario: Scenario; machine: string; delivery: number; violation: Violation } | undefined;
}

interface CrashPointOptions {
  seed: number;
  /** Crashes at every so-manieth delivery. */
  every: number;
  isOver: () => boolean;
  onRun: (report: CrashPointReport) => void;
}

/** Stops at the first violation, or where the time is over. */
export async function runCrashPoints({
  seed,
  every,
  isOver,
  onRun,
}: CrashPointOptions): Promise<CrashPointReport> {
  const report: CrashPointReport = { runs: 0, failure: undefined };
  for (const scenario of scenarios) {
    const calm = await runWatched({ seed, isCalm: true, scenario });
    for (const machine of ['a', 'b'])
      for (let delivery = 1; delivery <= (calm.deliveries.get(machine) ?? 0); delivery += every) {
        if (isOver()) return report;
        const { violation } = await runWatched({
          seed,
          isCalm: true,
          scenario,
          crashAt: { machine, delivery },
        });
        report.runs += 1;
        onRun(report);
        if (violation === undefined) continue;
        report.failure = { scenario, machine, delivery, violation };
        return report;
      }
  }
  return report;
}
