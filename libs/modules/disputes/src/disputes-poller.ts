/**
 * Reads the lists of disputes periodically. The provider shows a dispute nowhere else: a callback only triggers the next
 * reading.
 */
import type { Clock } from '@tollgate/service-kit';
import { type ReadingDependencies, createReading } from './disputes-reading.ts';

export interface DisputesPollerDependencies extends ReadingDependencies {
  /** Interval between two readings without a callback. @default 60,000 @unit milliseconds */
  pollEveryMs?: number;
  clock: Clock;
}

const pollEveryMsDefault = 60_000;
/** Minimum interval between two readings, however many callbacks arrive. @unit milliseconds */
const pollPauseMs = 1_000;

export function createDisputesPoller(deps: DisputesPollerDependencies) {
  const { clock, pollEveryMs = pollEveryMsDefault } = deps;
  const read = createReading(deps);
  let nudged = new AbortController();

  const sleep = (durationMs: number, ...signals: AbortSignal[]) =>
    clock.sleep(durationMs, AbortSignal.any(signals)).catch(() => undefined);

  return {
    /** A dispute has changed: the lists are read at once, or after the reading under way. */
    nudge: (): void => nudged.abort(),
    /** Runs until the signal is aborted; a reading under way is ended between two disputes. */
    async run(signal: AbortSignal): Promise<void> {
      while (!signal.aborted) {
        // Later changes may be missing in this reading: a nudge during it triggers another one.
        nudged = new AbortController();
        await read(signal);
        await sleep(pollPauseMs, signal);
        await sleep(Math.max(0, pollEveryMs - pollPauseMs), signal, nudged.signal);
      }
    },
  };
}
