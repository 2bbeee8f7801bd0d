/** Inputs and events for the payout specs. */
import type { ObservedPayout, PayoutInput, PayoutOutcome } from '../payout/payout-commands.ts';
import { decidePayout } from '../payout/payout-decide.ts';
import type { PayoutEvent, PayoutStatus } from '../payout/payout-events.ts';
import { evolvePayout, type PayoutState } from '../payout/payout-state.ts';
import { observeDiscrepancy, type DiscrepancyKind } from '../discrepancy.ts';
import { observedPayout, payoutReviewResolved, refusalError } from './payout-samples.ts';

/** Payouts for `scenario` of `@tollgate/testing`. */
export const payoutDomain = {
  initial: undefined as PayoutState,
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
/** Half an hour after the last change: not a stale read. */
export const retrievedLater = (observed: ObservedPayout): PayoutInput =>
  retrieved(observed, afterQuiet + 30 * 60_000, afterQuiet);
export const missing = (serviceToken = 'token-a'): PayoutInput => ({
  type: 'RecordMissing',
  serviceToken,
  inquiredAt: afterQuiet,
});
const named = (serviceToken: string | undefined) => (serviceToken === undefined ? {} : { serviceToken });

/** A callback with this token, or none, waits for its inquiry. */
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
const ourSide = ({
  status,
  amount,
  currency,
  orderNumber = null,
}: Omit<ObservedPayout, 'orderNumber'> & { orderNumber?: string | null }) => ({
  status,
  amount,
  currency,
  refundedAmount: null,
  authorizedAmount: null,
  orderNumber,
});

/** The review of the provider's record; `ours` is our status, null for a duplicate. */
export const differs = (
  kind: DiscrepancyKind,
  ours: PayoutStatus | null,
  theirs: ObservedPayout | null,
  serviceToken = theirs?.serviceToken ?? 'token-a',
): PayoutEvent =>
  observeDiscrepancy(
    { discrepancies: [] },
    {
      kind,
      operation: 'payout',
      serviceToken,
      ours: ours === null ? null : ourSide(observedPayout(ours)),
      theirs: theirs && ourSide(theirs),
    },
  )[0] as PayoutEvent;
export const second = (serviceToken: string, status: string): PayoutEvent =>
  differs('second_payout_found', null, observedPayout(status, { serviceToken }));
export const resolvedAs = (resolution: string, reason = 'a reason', number = 1): PayoutEvent =>
  payoutReviewResolved('discrepancy', resolution, reason, number);
