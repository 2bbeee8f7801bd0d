/** Looks again at every payment that is not final, on a schedule, whether or not anybody reminds us of it. */
import { type PaymentPhase, isFinalPhase } from '@tollgate/payment-domain';
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
  const isUnresolved = payment.phase === 'requested' || payment.phase === 'unresolved';
  const schedule = isUnresolved ? unresolvedScheduleMs : openScheduleMs;
  const stretch = 1 + jitter / 10;
  const next = schedule.find((delay) => payment.updatedAt + delay * stretch > after);
  if (next !== undefined) return payment.updatedAt + next * stretch;
  return after + day * stretch;
}

/** A payment that is not final, as the read model of open work knows it. */
export interface OpenPayment {
  token: string;
  phase: PaymentPhase;
  /** Milliseconds since the Unix epoch. */
  updatedAt: number;
}

export interface FollowUpDependencies {
  /** A page of the payments that are not final, in order of their tokens, after a token. */
  openPayments: (page: { after?: string; limit: number }) => readonly OpenPayment[];
  look: (token: string) => Promise<unknown>;
  clock: Clock;
  ids: Ids;
  log: Log;
}

/** Pause between two passes over the open work. */
const passPauseMs = second;
const pageSize = 500;

/** When each open payment is due, and its last change when that was decided. */
type DueTimes = Map<string, { at: number; updatedAt: number }>;

/** Runs until the signal is aborted. */
export async function followUp(deps: FollowUpDependencies, signal: AbortSignal): Promise<void> {
  const dueTimes: DueTimes = new Map();
  while (!signal.aborted) {
    await passOver(deps, dueTimes, signal);
    await deps.clock.sleep(passPauseMs, signal).catch(() => undefined);
  }
}

async function passOver(deps: FollowUpDependencies, dueTimes: DueTimes, signal: AbortSignal): Promise<void> {
  const seen = new Set<string>();
  for (const page of pagesOfOpenPayments(deps.openPayments)) {
    if (signal.aborted) return;
    page.forEach(({ token }) => seen.add(token));
    const due = page.filter((payment) => isDue(deps, dueTimes, payment));
    await Promise.all(due.map(({ token }) => lookAt(deps, token)));
  }
  for (const token of dueTimes.keys()) if (!seen.has(token)) dueTimes.delete(token);
}

function* pagesOfOpenPayments(
  openPayments: FollowUpDependencies['openPayments'],
): Iterable<readonly OpenPayment[]> {
  let after: string | undefined;
  for (;;) {
    const page = openPayments({ limit: pageSize, ...(after === undefined ? {} : { after }) });
    yield page.filter(({ phase }) => !isFinalPhase(phase));
    after = page.at(-1)?.token;
    if (page.length < pageSize) return;
  }
}

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
