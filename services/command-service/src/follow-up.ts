/** Looks again at every payment that is not final, on a schedule, whether or not anybody reminds us of it. */
import type { PaymentPhase } from '@tollgate/payment-domain';
import type { Clock, Ids, Log } from '@tollgate/service-kit';

const second = 1_000;
const minute = 60 * second;
const hour = 60 * minute;
const day = 24 * hour;

/** When a payment without a known outcome is looked at, after its last change. */
const unresolvedScheduleMs = [
  5 * second,
  15 * second,
  minute,
  ...[5, 10, 15, 20, 25].map((count) => count * minute),
  hour,
  ...[1, 2, 3, 4, 5, 6, 7].map((count) => count * day),
];

/** When a payment that the service has and that is not final is looked at, after its last change; then daily. */
const openScheduleMs = [2 * minute, 10 * minute, hour, 6 * hour];

/**
 * The next instant after `after` at which a payment is due for a look, milliseconds since the Unix epoch. Looks never
 * end: time alone turns nothing into failed.
 *
 * @param jitter in [0, 1): moves the instant later by up to a tenth of its distance, so that payments which were
 * made together are not looked at together.
 */
export function nextLookAt(
  payment: { phase: PaymentPhase; updatedAt: number },
  after: number,
  jitter: number,
): number {
  const schedule = isUnresolved(payment) ? unresolvedScheduleMs : openScheduleMs;
  const stretch = 1 + jitter / 10;
  const next = schedule.find((delay) => payment.updatedAt + delay * stretch > after);
  if (next !== undefined) return payment.updatedAt + next * stretch;
  return after + day * stretch;
}

/** A payment that more is expected of, as the read model of open work knows it. */
export interface OpenPayment {
  token: string;
  phase: PaymentPhase;
  /** Milliseconds since the Unix epoch. */
  updatedAt: number;
}

export interface FollowUpDependencies {
  /** A page of the payments that more is expected of, in order of their tokens, after a token. */
  openPayments: (page: { after?: string; limit: number }) => readonly OpenPayment[];
  look: (token: string) => Promise<unknown>;
  clock: Clock;
  ids: Ids;
  log: Log;
}

/** Pause between two passes over the open work; longer where a pass takes long, so that it is a tenth of the time at most. */
const passPauseMs = second;
const passPausePerDuration = 9;
const pageSize = 500;
/** Looks of one process at once: places are left for callbacks and callers. */
const looksAtOnceMax = 8;

/** When each open payment is due, and its last change when that was decided. */
type DueTimes = Map<string, { at: number; updatedAt: number }>;

/** Runs until the signal is aborted. */
export async function followUp(deps: FollowUpDependencies, signal: AbortSignal): Promise<void> {
  const dueTimes: DueTimes = new Map();
  while (!signal.aborted) {
    const startedAt = deps.clock.monotonic();
    await passOver(deps, dueTimes, signal);
    const pauseMs = Math.max(passPauseMs, passPausePerDuration * (deps.clock.monotonic() - startedAt));
    await deps.clock.sleep(pauseMs, signal).catch(() => undefined);
  }
}

async function passOver(deps: FollowUpDependencies, dueTimes: DueTimes, signal: AbortSignal): Promise<void> {
  const seen = new Set<string>();
  let after: string | undefined;
  for (let isLast = false; !isLast;) {
    const page = deps.openPayments({ limit: pageSize, ...(after === undefined ? {} : { after }) });
    page.forEach(({ token }) => seen.add(token));
    await lookAtAll(
      deps,
      page.filter((payment) => isDue(deps, dueTimes, payment)),
      signal,
    );
    // Between pages everybody else has a turn.
    await deps.clock.sleep(0, signal).catch(() => undefined);
    if (signal.aborted) return;
    after = page.at(-1)?.token;
    isLast = page.length < pageSize;
  }
  for (const token of dueTimes.keys()) if (!seen.has(token)) dueTimes.delete(token);
}

async function lookAtAll(
  deps: FollowUpDependencies,
  due: readonly OpenPayment[],
  signal: AbortSignal,
): Promise<void> {
  // What nobody knows the outcome of first.
  const queue = [...due.filter(isUnresolved), ...due.filter((payment) => !isUnresolved(payment))].values();
  async function lookAtNext(): Promise<void> {
    for (const { token } of queue) {
      if (signal.aborted) return;
      await lookAt(deps, token);
    }
  }
  await Promise.all(Array.from({ length: looksAtOnceMax }, lookAtNext));
}

const isUnresolved = ({ phase }: { phase: PaymentPhase }): boolean =>
  phase === 'requested' || phase === 'unresolved';

// A payment that this process meets for the first time (after a restart) is due if it has missed any look meanwhile.
function isDue({ clock, ids }: FollowUpDependencies, dueTimes: DueTimes, payment: OpenPayment): boolean {
  const { token, updatedAt } = payment;
  const now = clock.now();
  const jitter = ids.fraction();
  const known = dueTimes.get(token);
  const at = known?.updatedAt === updatedAt ? known.at : nextLookAt(payment, updatedAt, jitter);
  const isDueNow = at <= now;
  dueTimes.set(token, { at: isDueNow ? nextLookAt(payment, now, jitter) : at, updatedAt });
  return isDueNow;
}

async function lookAt({ look, log }: FollowUpDependencies, token: string): Promise<void> {
  try {
    await look(token);
  } catch (error) {
    log.error({ error, token, operation: 'follow-up' }, 'a look failed; it comes again by its schedule');
  }
}
