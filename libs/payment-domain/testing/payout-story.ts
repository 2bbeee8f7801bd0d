/** Inputs and events that the payout specs are written with. */
import type { ObservedPayout, PayoutInput, PayoutOutcome } from '../src/payout/payout-commands.ts';
import { decidePayout } from '../src/payout/payout-decide.ts';
import type { PayoutEvent, PayoutStatus } from '../src/payout/payout-events.ts';
import { evolvePayout, noPayout, type PayoutState } from '../src/payout/payout-state.ts';
import { observedPayout, payoutReviewOpened, refusalError } from './payout-samples.ts';

/** Payouts as `scenario` of `@tollgate/testing` takes them. */
export const payoutDomain = {
  initial: noPayout as PayoutState,
  evolve: evolvePayout,
  decide: decidePayout,
  againGives: ({ type }: PayoutInput) =>
    type === 'ResolveReview' ? ('review_not_found' as const) : ('nothing' as const),
};

export const ended = (outcome: PayoutOutcome): PayoutInput => ({ type: 'RecordPayoutOutcome', outcome });
export const answered = (status: string, changes: Partial<ObservedPayout> = {}): PayoutInput => {
  const { orderNumber: _, ...answer } = observedPayout(status, changes);
  return ended({ kind: 'accepted', ...answer });
};
export const refused = ended({ kind: 'refused', errors: [refusalError] });
export const notSent = ended({ kind: 'not-sent', reason: 'connection refused' });
export const lost = ended({ kind: 'unknown', reason: 'timeout' });

export const duringCall = 109_999;
export const afterAnswer = 110_000;
export const beforeQuiet = 159_999;
export const afterQuiet = 160_000;
export const inquired = (found: readonly ObservedPayout[], inquiredAt = afterQuiet): PayoutInput => ({
  type: 'RecordPayoutSearch',
  found,
  inquiredAt,
});
export const retrieved = (
  observed: ObservedPayout,
  inquiredAt = afterQuiet,
  changedAt = inquiredAt,
): PayoutInput => ({ type: 'RecordPayoutObservation', observed, inquiredAt, changedAt });
/** Half an hour after the last change: it is no older picture. */
export const retrievedLater = (observed: ObservedPayout): PayoutInput =>
  retrieved(observed, afterQuiet + 30 * 60_000, afterQuiet);
export const missing = (serviceToken = 'token-a'): PayoutInput => ({
  type: 'RecordMissing',
  serviceToken,
  inquiredAt: afterQuiet,
});
const named = (serviceToken: string | undefined) => (serviceToken === undefined ? {} : { serviceToken });

/** A callback that names this, or nothing, waits for its inquiry. */
export const defer = (serviceToken?: string): PayoutInput => ({
  type: 'DeferCallback',
  ...named(serviceToken),
  deferredAt: afterQuiet,
});
export const deferred = (serviceToken?: string): PayoutEvent => ({
  type: 'CallbackDeferred',
  data: { ...named(serviceToken), deferredAt: afterQuiet },
});
export const callbackInquired = (serviceToken?: string): PayoutEvent => ({
  type: 'CallbackInquired',
  data: named(serviceToken),
});

export const accepted = (evidence: 'answer' | 'inquiry', serviceToken = 'token-a'): PayoutEvent => ({
  type: 'PayoutAccepted',
  data: { serviceToken, evidence },
});
export const withoutReason: PayoutEvent = { type: 'PayoutDeclined', data: {} };
export const noOutcome: PayoutEvent = {
  type: 'PayoutUnresolved',
  data: { reason: 'no outcome was recorded' },
};
export const failedBecause = (reason: 'refused' | 'not-sent' | 'resolved'): PayoutEvent => ({
  type: 'PayoutFailed',
  data: { reason },
});
export const disagreement = (observed: ObservedPayout) =>
  payoutReviewOpened('terms_disagree', {
    amount: 1000,
    currency: 'EUR',
    providerOrderNumber: 'po_1.1',
    observedStatus: observed.status,
    observedAmount: observed.amount,
    observedCurrency: observed.currency,
    observedOrderNumber: observed.orderNumber ?? null,
    observedServiceToken: observed.serviceToken,
  });
export const second = (serviceToken: string, observedStatus: string, knownServiceToken: string | null) =>
  payoutReviewOpened('second_payout_found', {
    ...{ serviceToken, observedStatus, observedAmount: 1000 },
    knownServiceToken,
  });
export const unknownStatus = (observedStatus: string) =>
  payoutReviewOpened('unknown_status', {
    ...{ observedStatus, observedAmount: 1000, observedCurrency: 'EUR', observedServiceToken: 'token-a' },
  });
export const revised = (
  from: 'approved' | 'declined',
  to: PayoutStatus,
  data: { declineReason?: string; serviceToken?: string } = {},
): PayoutEvent[] => [
  { type: 'FinalStatusRevised', data: { from, to, ...data } },
  payoutReviewOpened('final_status_revised', { from, to, serviceToken: 'token-a' }),
];
