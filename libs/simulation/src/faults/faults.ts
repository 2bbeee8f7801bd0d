/** The kinds of faults, their rates under a seed, and how often each has happened. */
import type { Random } from '../world/random.ts';

export const faultKinds = [
  'reply-lost',
  'reply-slow',
  'server-error-with-effect',
  'server-error-without-effect',
  'connection-refused',
  'handshake-slow',
  'rate-limited',
  'service-down',
  'account-hangs',
  'status-revised',
  'refunded-in-console',
  'callback-lost',
  'callback-repeated',
  'callback-late',
  'callback-forged',
  'append-answer-lost',
  'append-failed',
  'append-hidden',
  'read-failed',
  'store-down',
  'bus-down',
  'bus-partly-written',
  'crash',
  'pause',
  'pause-before-send',
  'clock-skew',
  'clock-step',
  'request-lost',
  'webhook-refused',
  'stranger-under-our-number',
  'delivered-twice',
  'wrong-amount-shown',
  'payout-of-another-amount',
  'older-status-shown',
  'clock-stood-still',
  'suspended',
  'set-back-at-waking',
  'clock-step-at-request',
  'revision-untold',
  'partition',
  'outage-of-days',
  'revised-behind-answer',
  'subscription-slow',
  'disputed',
  'restored-from-backup',
  'pause-behind-append',
  'unknown-status-shown',
  'payout-revised',
  'amount-revised',
] as const;
export type FaultKind = (typeof faultKinds)[number];

/** Faults of the world rather than of one call: these have a mean interval instead of a probability. */
const distances: Partial<Record<FaultKind, number>> = {
  'service-down': 10 * 60_000,
  'account-hangs': 10 * 60_000,
  'status-revised': 6 * 60_000,
  'payout-revised': 20_000,
  'amount-revised': 60_000,
  'refunded-in-console': 8 * 60_000,
  'callback-forged': 2 * 60_000,
  'store-down': 10 * 60_000,
  'bus-down': 10 * 60_000,
  crash: 4 * 60_000,
  pause: 4 * 60_000,
  'clock-step': 10 * 60_000,
  partition: 3 * 60_000,
  disputed: 3 * 60_000,
};

/** Rates of faults that follow from a rare condition, if the seed includes them. */
const ofThose: Partial<Record<FaultKind, number>> = {
  'clock-stood-still': 0.5,
  suspended: 0.5,
  'set-back-at-waking': 0.8,
  'delivered-twice': 0.2,
  'revision-untold': 0.6,
  'outage-of-days': 0.15,
  'restored-from-backup': 0.5,
  'webhook-refused': 0.25,
  'payout-of-another-amount': 0.2,
  'pause-behind-append': 0.03,
};

/**
 * Faults that need several conditions at once and are arranged as a whole in few seeds: the share of seeds, and the rate within
 * them. Drawn from a separate random sequence.
 */
const arranged: Partial<Record<FaultKind, { seeds: number; rate: number }>> = {
  'payout-revised': { seeds: 0.06, rate: 0.1 },
  'amount-revised': { seeds: 0.06, rate: 0.1 },
};

/** Undetectable at a bare service, which shows neither amounts nor the callback address of a payment. */
const hiddenIfBare: readonly FaultKind[] = [
  'stranger-under-our-number',
  'wrong-amount-shown',
  'payout-of-another-amount',
  'amount-revised',
  'refunded-in-console',
];

/** A host's clock was off by up to an hour: its recorded times are off, and its delayed work is late by the same amount. */
export const wasClockStepped = ({ counts }: Faults): boolean =>
  counts().has('clock-step') || counts().has('clock-step-at-request') || counts().has('set-back-at-waking');

export type Faults = ReturnType<typeof createFaults>;

const swarmRate = (random: Random, severity: number): number =>
  random.chance(0.35) ? 0 : severity * random.pick([0.01, 0.03, 0.1]);
/** Few kinds at high rates, for bugs that need two of them at once. */
const focusedRate = (random: Random): number => (random.chance(0.2) ? random.pick([0.1, 0.3]) : 0);

/** In some seeds only one of the two can find a revision without a callback: each must find it alone. */
const drawBlind = (random: Random) =>
  random.chance(0.5) ? undefined : random.pick(['reconciliation', 'inquiries about what is final'] as const);

/**
 * Each seed has its own rates and omits some faults, so that faults do not mask one another.
 *
 * @param pace factor for the usual intervals between disasters: a short world has as many of them as a long one
 */
export function createFaults(random: Random, pace: number) {
  const counts = new Map<FaultKind, number>();
  const rates = new Map<FaultKind, number>();
  const severity = random.pick([0.3, 1, 2.5]);
  const isFocused = random.chance(0.3);
  const rateOf = (kind: FaultKind): number => {
    const whole = arranged[kind];
    if (whole !== undefined) return random.fork(kind).chance(whole.seeds) ? whole.rate : 0;
    const rate = isFocused ? focusedRate(random) : swarmRate(random, severity);
    return rate === 0 ? 0 : (ofThose[kind] ?? rate);
  };
  // Drawn from a separate random sequence.
  const isBare = random.fork('bare').chance(0.1);
  const leftOut = new Set<FaultKind>(isBare ? hiddenIfBare : []);
  for (const kind of faultKinds) {
    const rate = rateOf(kind);
    rates.set(kind, leftOut.has(kind) ? 0 : rate);
  }
  let areOver = false;
  const note = (kind: FaultKind) => void counts.set(kind, (counts.get(kind) ?? 0) + 1);
  return {
    /** True if this fault is to happen now; counted. Always false once the faults have ended. */
    strikes: (kind: FaultKind, by: Random): boolean => {
      if (areOver || !by.chance(rates.get(kind) ?? 0)) return false;
      note(kind);
      return true;
    },
    /** Time until the next occurrence; undefined if it never happens under this seed. @unit milliseconds */
    distanceMs: (kind: FaultKind, by: Random): number | undefined => {
      const rate = rates.get(kind) ?? 0;
      if (areOver || rate === 0) return undefined;
      return (pace * by.between(0.1, 2) * (distances[kind] ?? 60_000) * 0.03) / Math.min(rate, 0.12);
    },
    /** Counts an occurrence scheduled by `distanceMs`. */
    note,
    /** True if this seed's service reports `refunded` after a partial refund, as some deployments do. */
    saysRefundedEarly: random.chance(0.3),
    /** False if this seed's service omits the payment of a dispute, as some deployments do. */
    showsDisputedPayments: random.fork('disputes').chance(0.8),
    /**
     * True in some seeds: the service shows only what the specification requires. Its lists have no amounts, so reconciliation
     * finds nothing.
     */
    isBare,
    blind: isBare ? ('reconciliation' as const) : drawBlind(random),
    end: (): void => void (areOver = true),
    haveEnded: () => areOver,
    counts: (): ReadonlyMap<FaultKind, number> => counts,
  };
}
