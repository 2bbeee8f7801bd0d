/**
 * Stops calls to a peer that keeps failing, and probes it with one call at a time. Packaged breakers read the system clock, so
 * a simulated run could not be repeated.
 */
import type { Clock } from './clock.ts';
import { InvariantViolation } from './errors.ts';

/** Default number of consecutive failures that open the circuit. */
export const breakerFailuresMax = 10;
/** Duration of the first opening, doubled with each failed probe up to the maximum. @unit milliseconds */
export const breakerOpenMs = 5_000;
export const breakerOpenMsMax = 60_000;

export type BreakerState = 'closed' | 'open' | 'half-open';
/** How a call ended; `unused` if none was made. */
export type BreakerEnd = 'succeeded' | 'failed' | 'unused';
export type BreakerChange = { state: 'open'; openMs: number } | { state: 'closed' };

export function createCircuitBreaker(deps: {
  clock: Pick<Clock, 'monotonic'>;
  /** @default `breakerFailuresMax` */
  failuresMax?: () => number | undefined;
  /** Called when the circuit opens, with the duration, and when it closes. */
  onChange: (change: BreakerChange) => void;
}) {
  const { clock, onChange } = deps;
  const failuresMax = () => deps.failuresMax?.() ?? breakerFailuresMax;
  let failures = 0;
  let opened: { openMs: number; until: number } | undefined;
  let isProbing = false;
  // Each opening and closing begins a new era. The outcome of a call from an earlier era is ignored.
  let era = 0;

  /** Milliseconds until the next probe may begin; 0 unless it is open. */
  const probeInMs = () => (opened === undefined ? 0 : Math.max(0, opened.until - clock.monotonic()));
  /** True if a call may begin: closed, or half-open without a probe under way. */
  const mayPass = () => probeInMs() === 0 && !isProbing;

  function changeTo(next: typeof opened): void {
    opened = next;
    failures = 0;
    isProbing = false;
    era += 1;
    onChange(next === undefined ? { state: 'closed' } : { state: 'open', openMs: next.openMs });
  }
  const openFor = (openMs: number) => changeTo({ openMs, until: clock.monotonic() + openMs });

  function settle(end: BreakerEnd): void {
    if (end === 'unused') isProbing = false;
    else if (end === 'failed') fail();
    else if (opened === undefined) failures = 0;
    else changeTo(undefined);
  }
  function fail(): void {
    if (opened !== undefined) return openFor(Math.min(opened.openMs * 2, breakerOpenMsMax));
    failures += 1;
    if (failures >= failuresMax()) openFor(breakerOpenMs);
  }

  return {
    state: (): BreakerState => (opened === undefined ? 'closed' : probeInMs() > 0 ? 'open' : 'half-open'),
    mayPass,
    /** Records the start of a call; returns a function to call once with its outcome. @throws InvariantViolation unless `mayPass` */
    pass() {
      if (!mayPass()) throw new InvariantViolation('a call began although the circuit breaker rejects it');
      isProbing = opened !== undefined;
      const begunIn = era;
      return (end: BreakerEnd): void => {
        if (begunIn === era) settle(end);
      };
    },
    probeInMs,
  };
}
