/**
 * When absence proves that an announced call had no effect: once this process has itself observed the announcement for the
 * whole quiet period, by its own monotonic clock. The clock of another host has no influence.
 */
import { type CallWindow, type CallTimes, quietPeriodMs } from '../domain/outbound-call/outbound-call.ts';
import type { Inquired } from '../domain/shared-inputs.ts';
import type { Clock } from '@tollgate/service-kit';

export type QuietPeriods = ReturnType<typeof createQuietPeriods>;

/** Observed calls. The oldest one is dropped first and observed again, which only delays conclusions from its absence. */
const observedMax = 100_000;

export function createQuietPeriods({
  clock,
  times,
}: {
  clock: Pick<Clock, 'now' | 'monotonic'>;
  times: CallTimes;
}) {
  const firstObservedAt = new Map<string, number>();

  function observedForMs(token: string, endsAt: number): number {
    const key = `${token}/${endsAt}`;
    const now = clock.monotonic();
    const known = firstObservedAt.get(key);
    if (known !== undefined) return now - known;
    const [oldest] = firstObservedAt.keys();
    if (firstObservedAt.size >= observedMax && oldest !== undefined) firstObservedAt.delete(oldest);
    firstObservedAt.set(key, now);
    return 0;
  }

  /**
   * The time of an inquiry that begins now, milliseconds since the Unix epoch: the present, but never past the end of a period
   * of this call that this process has not observed, and never before the end of one that it has.
   *
   * @param call the call without an outcome; undefined if there is none
   */
  function inquiryTime(token: string, call: CallWindow | undefined): number {
    if (call === undefined) return clock.now();
    const observedMs = observedForMs(token, call.quietUntil);
    // The lengths of the period are those of the process that announced it.
    const isOver = (until: number) => observedMs >= until - call.sendBy + times.sendWithinMs;
    if (isOver(call.quietUntil)) return Math.max(clock.now(), call.quietUntil);
    const earliest = isOver(call.answerBy) ? call.answerBy : -Infinity;
    return Math.min(Math.max(clock.now(), earliest), call.quietUntil - 1);
  }

  return {
    /** Begins to observe a call, unless it is observed already. */
    observe: (token: string, { quietUntil }: CallWindow): void => void observedForMs(token, quietUntil),
    inquiryTime,
    /** The same, and the age of the latest event at that time. */
    taken(token: string, call: CallWindow | undefined, changedAt: number): Inquired {
      const inquiredAt = inquiryTime(token, call);
      return { inquiredAt, changedAt: inquiredAt - Math.max(0, clock.now() - changedAt) };
    },
    /** True once this process has observed a reservation for as long as its call could be announced, sent and carried out. */
    hasLapsed: (token: string, lapsesAt: number): boolean =>
      observedForMs(token, lapsesAt) >= quietPeriodMs(times),
  };
}
