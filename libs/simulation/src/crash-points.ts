/**
 * Every scenario of a list again and again, with a crash at its first, second, third … delivery that concerns money, on
 * either machine. At a delivery all that was asked for has had its effect, and the process has learnt nothing of it.
 */
import type { StoryKind } from './people/payments.ts';
import type { FaultKind } from './faults/faults.ts';
import type { Violation } from './checks/invariants.ts';
import { runWatched } from './run-watched.ts';
import { runOnWorkers } from './workers.ts';
import type { RunOptions, Scenario } from './world.ts';
import type { CrashPoint } from './faults/disasters.ts';

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
  /** Scenarios of which every point was run. */
  scenarios: number;
  failure: { scenario: Scenario; crashAt: CrashPoint; violation: Violation } | undefined;
}

interface CrashPointOptions {
  seed: number;
  /** Crashes at every so-manieth delivery. */
  every: number;
  workers: number;
  isOver: () => boolean;
  onRun: (report: CrashPointReport) => void;
}

/** Stops at the first violation, or where the time is over. */
export async function runCrashPoints(options: CrashPointOptions): Promise<CrashPointReport> {
  const report: CrashPointReport = { runs: 0, scenarios: 0, failure: undefined };
  for (const scenario of scenarios) {
    const { deliveries } = await runWatched({ seed: options.seed, isCalm: true, scenario });
    const points = pointsOf(deliveries, options.every);
    await runOnWorkers(
      options.workers,
      () => nextRun(options, report, scenario, points),
      ({ options: { crashAt }, violation }) => {
        report.runs += 1;
        if (violation !== undefined && crashAt !== undefined)
          report.failure ??= { scenario, crashAt, violation };
        options.onRun(report);
      },
    );
    if (points.length > 0) return report;
    report.scenarios += 1;
  }
  return report;
}

function nextRun(
  { seed, isOver }: CrashPointOptions,
  { failure }: CrashPointReport,
  scenario: Scenario,
  points: CrashPoint[],
): RunOptions | undefined {
  const crashAt = failure === undefined && !isOver() ? points.shift() : undefined;
  return crashAt && { seed, isCalm: true, scenario, crashAt };
}

const pointsOf = (deliveries: ReadonlyMap<string, number>, every: number): CrashPoint[] =>
  ['a', 'b'].flatMap((machine) => {
    const count = Math.ceil((deliveries.get(machine) ?? 0) / every);
    return Array.from({ length: count }, (_, index) => ({ machine, delivery: index * every + 1 }));
  });
