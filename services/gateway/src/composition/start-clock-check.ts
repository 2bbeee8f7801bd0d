import type { EventStore } from '@tollgate/event-store';
import { inBackground } from './background.ts';
import { type ClockCheck, createClockCheck } from './clock-check.ts';
import { watchClock } from './metrics/watch-services.ts';
import type { Parts } from './parts.ts';

/** Compares the clocks until the process stops. */
export function startClockCheck(
  {
    config,
    clock,
    ids,
    logOf,
    metrics,
    stops,
  }: Pick<Parts, 'config' | 'clock' | 'ids' | 'logOf' | 'metrics' | 'stops'>,
  store: EventStore,
): ClockCheck {
  const { clockSkewMaxMs: skewMaxMs } = config;
  const check = createClockCheck({ store, skewMaxMs, clock, ids, log: logOf('clock-check') });
  stops.defer(inBackground((signal) => check.run(signal)));
  watchClock(metrics, check);
  return check;
}
