/** The kinds of faults, their rates under a seed, and how often each has happened. */
import type { Random } from '../world/random.ts';

const minute = 60_000;

interface FaultRule {
  /** Mean interval of a fault of the world, rather than of one call. @unit milliseconds */
  everyMs?: number;
  /** Rate of a fault that follows from a rare condition, if the seed includes it. */
  rate?: number;
  /** Share of the seeds, for a fault that needs several conditions at once and is arranged as a whole. */
  seeds?: number;
  /** Undetectable at a bare service, which shows neither amounts nor the callback address of a payment. */
  isHiddenIfBare?: true;
}

const faultRules = {
  'reply-lost': {},
  'reply-slow': {},
  'server-error-with-effect': {},
  'server-error-without-effect': {},
  'connection-refused': {},
  'handshake-slow': {},
  'rate-limited': {},
  'service-down': { everyMs: 10 * minute },
  'account-hangs': { everyMs: 10 * minute },
  'status-revised': { everyMs: 6 * minute },
  'refunded-in-console': { everyMs: 8 * minute, isHiddenIfBare: true },
  'callback-lost': {},
  'callback-repeated': {},
  'callback-late': {},
  'callback-forged': { everyMs: 2 * minute },
  'append-answer-lost': {},
  'append-failed': {},
  'append-hidden': {},
  'read-failed': {},
  'store-down': { everyMs: 10 * minute },
  'bus-down': { everyMs: 10 * minute },
  'bus-partly-written': {},
  crash: { everyMs: 4 * minute },
  pause: { everyMs: 4 * minute },
  'pause-before-send': {},
  'clock-skew': {},
  'clock-step': { everyMs: 10 * minute },
  'request-lost': {},
  'webhook-refused': { rate: 0.25 },
  'stranger-under-our-number': { isHiddenIfBare: true },
  'delivered-twice': { rate: 0.2 },
  'wrong-amount-shown': { isHiddenIfBare: true },
  'payout-of-another-amount': { rate: 0.2, isHiddenIfBare: true },
  'older-status-shown': {},
  'clock-stood-still': { rate: 0.5 },
  suspended: { rate: 0.5 },
  'set-back-at-waking': { rate: 0.8 },
  'clock-step-at-request': {},
  'revision-untold': { rate: 0.6 },
  partition: { everyMs: 3 * minute },
  'outage-of-days': { rate: 0.15 },
  'revised-behind-answer': {},
  'subscription-slow': {},
  disputed: { everyMs: 3 * minute },
  'restored-from-backup': { rate: 0.5 },
  'pause-behind-append': { rate: 0.03 },
  'unknown-status-shown': {},
  'payout-revised': { everyMs: 20_000, rate: 0.1, seeds: 0.06 },
  'amount-revised': { everyMs: minute, rate: 0.1, seeds: 0.06, isHiddenIfBare: true },
} as const satisfies Record<string, FaultRule>;

export type FaultKind = keyof typeof faultRules;
export const faultKinds = Object.keys(faultRules) as FaultKind[];
const ruleOf = (kind: FaultKind): FaultRule => faultRules[kind];

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
  // Drawn from a separate random sequence.
  const isBare = random.fork('bare').chance(0.1);
  for (const kind of faultKinds) {
    const { seeds, rate: ownRate, isHiddenIfBare } = ruleOf(kind);
    const drawn = isFocused ? focusedRate(random) : swarmRate(random, severity);
    const isIncluded = seeds === undefined ? drawn > 0 : random.fork(kind).chance(seeds);
    rates.set(kind, isIncluded && !(isBare && isHiddenIfBare) ? (ownRate ?? drawn) : 0);
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
      return (pace * by.between(0.1, 2) * (ruleOf(kind).everyMs ?? minute) * 0.03) / Math.min(rate, 0.12);
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
