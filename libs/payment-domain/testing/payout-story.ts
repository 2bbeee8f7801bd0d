/** The words that the specs of payouts tell their stories with: what happens, and what is recorded of it. */
import type { ObservedPayout, PayoutCommand, PayoutOutcome } from '../src/payout/payout-commands.ts';
import { decidePayout } from '../src/payout/payout-decide.ts';
import type { PayoutEvent, PayoutStatus } from '../src/payout/payout-events.ts';
import { evolvePayout, noPayout, type PayoutState } from '../src/payout/payout-state.ts';
import { observedPayout, payoutRaised, refusalError } from './payout-samples.ts';

/** Payouts as `scenario` of `@tollgate/testing` takes them. */
export const payoutDomain = {
  initial: noPayout as PayoutState,
  evolve: evolvePayout,
  decide: decidePayout,
  againGives: ({ type }: PayoutCommand) =>
    type === 'ResolvePayoutAttention' ? ('review_not_found' as const) : ('nothing' as const),
};

export const ended = (outcome: PayoutOutcome): PayoutCommand => ({ type: 'RecordPayoutOutcome', outcome });
export const answered = (status: string, changes: Partial<ObservedPayout> = {}): PayoutCommand => {
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
export const inquired = (found: readonly ObservedPayout[], inquiredAt = afterQuiet): PayoutCommand => ({
  type: 'RecordPayoutLookup',
  found,
  inquiredAt,
});
export const retrieved = (observed: ObservedPayout, inquiredAt = afterQuiet): PayoutCommand => ({
  type: 'RecordPayoutObservation',
  observed,
  inquiredAt,
});
export const missing = (serviceToken = 'token-a'): PayoutCommand => ({
  type: 'RecordPayoutMissing',
  serviceToken,
});
export const unapplied: PayoutCommand = { type: 'RecordUnappliedPayoutCallback', reason: 'timeout' };

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
  payoutRaised('terms_disagree', {
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
  payoutRaised('second_payout_found', { serviceToken, observedStatus, knownServiceToken });
export const unknownStatus = (observedStatus: string) =>
  payoutRaised('unknown_status', { observedStatus, observedServiceToken: 'token-a' });
export const revised = (
  from: 'approved' | 'declined',
  to: PayoutStatus,
  data: { declineReason?: string; serviceToken?: string } = {},
): PayoutEvent[] => [
  { type: 'FinalStatusRevised', data: { from, to, ...data } },
  payoutRaised('final_status_revised', { from, to, serviceToken: 'token-a' }),
];
