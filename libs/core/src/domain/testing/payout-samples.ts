/** Samples for the specs of payouts. */
import type { ObservedPayout, RequestPayout } from '../payout/payout-commands.ts';
import type {
  PayoutReviewCode,
  PayoutCall,
  PayoutEvent,
  PayoutEventOf,
  PayoutEventType,
  PayoutTerms,
} from '../payout/payout-events.ts';
import type { PayoutPhase } from '../payout/payout-machine.ts';
import { evolvePayout, type Payout, type PayoutState } from '../payout/payout-state.ts';

export const payoutTerms: PayoutTerms = {
  amount: 1000,
  currency: 'EUR',
  orderNumber: 'order-1',
  destination: { kind: 'card', sanitizedMask: '462734******2639' },
};

/** Announced at 100,000, to be sent within 1 s, answered within 10 s, quiet after 60 s. */
export const payoutCall: PayoutCall = {
  account: 'main',
  providerOrderNumber: 'po_1.1',
  sendBy: 101_000,
  answerBy: 110_000,
  quietUntil: 160_000,
};

export const requestPayout = (changes: Partial<RequestPayout> = {}): RequestPayout => ({
  type: 'RequestPayout',
  environment: 'sandbox',
  team: 'shop',
  wallet: 'team-shop',
  askedBy: 'key-1',
  terms: payoutTerms,
  fingerprint: 'fingerprint-1',
  call: payoutCall,
  requestedAt: 100_000,
  ...changes,
});

export const payoutRequested = (changes: Partial<PayoutTerms> = {}): PayoutEventOf<'PayoutRequested'> => {
  const { type: _, requestedAt: __, ...data } = requestPayout();
  return { type: 'PayoutRequested', data: { ...data, terms: { ...payoutTerms, ...changes } } };
};

export const payoutReviewOpened = (
  code: PayoutReviewCode,
  evidence: PayoutEventOf<'ReviewOpened'>['data']['evidence'] = {},
): PayoutEvent => ({ type: 'ReviewOpened', data: { code, evidence } });

export const payoutReviewResolved = (
  code: PayoutReviewCode,
  resolution: string,
  reason: string,
  number = 1,
): PayoutEvent => ({
  type: 'ReviewResolved',
  data: { code, number, resolution, reason },
});

export const refusalError = { code: 'balance_less_than_amount', kind: 'processing_error' };

/** Requested by the key `key-1` at 50,000, so it lapses a day later. */
export const payoutApprovalRequested = (lapsesAt = 86_450_000): PayoutEventOf<'PayoutApprovalRequested'> => {
  const { call, ...request } = payoutRequested().data;
  const { account, providerOrderNumber } = call;
  return {
    type: 'PayoutApprovalRequested',
    data: { ...request, account, providerOrderNumber, lapsesAt },
  };
};

const samplePayoutSide = {
  status: 'approved',
  amount: 1000,
  currency: 'EUR',
  refundedAmount: null,
  authorizedAmount: null,
  orderNumber: 'po_1.1',
};

/** One event of every type, with every optional field. */
export const payoutSampleEvents: { [Type in PayoutEventType]: PayoutEventOf<Type> } = {
  PayoutApprovalRequested: payoutApprovalRequested(),
  PayoutApprovalGranted: {
    type: 'PayoutApprovalGranted',
    data: { grantedBy: 'key-2', lapsesAt: 86_460_000 },
  },
  PayoutApprovalRefused: {
    type: 'PayoutApprovalRefused',
    data: { refusedBy: 'key-2', reason: 'not ours' },
  },
  PayoutRequested: payoutRequested({ callbackUrl: 'https://shop.example/callback' }),
  PayoutAccepted: { type: 'PayoutAccepted', data: { serviceToken: 'token-a', evidence: 'answer' } },
  PayoutRefused: { type: 'PayoutRefused', data: { errors: [{ ...refusalError, message: 'A sentence.' }] } },
  PayoutNotSent: { type: 'PayoutNotSent', data: { reason: 'connection refused' } },
  PayoutUnresolved: { type: 'PayoutUnresolved', data: { reason: 'timeout' } },
  PayoutApproved: { type: 'PayoutApproved', data: {} },
  PayoutDeclined: { type: 'PayoutDeclined', data: { declineReason: 'do_not_honor' } },
  PayoutFailed: { type: 'PayoutFailed', data: { reason: 'refused' } },
  FinalStatusRevised: {
    type: 'FinalStatusRevised',
    data: { from: 'declined', to: 'approved', declineReason: 'none', serviceToken: 'token-a' },
  },
  CallbackDeferred: { type: 'CallbackDeferred', data: { serviceToken: 'token-b', deferredAt: 20_000 } },
  CallbackInquired: { type: 'CallbackInquired', data: { serviceToken: 'token-b' } },
  ReviewOpened: {
    type: 'ReviewOpened',
    data: {
      code: 'discrepancy',
      evidence: { kind: 'terms_disagree', number: 1, flag: true, nothing: null },
      discrepancy: {
        kind: 'terms_disagree',
        operation: 'payout',
        serviceToken: 'token-a',
        ours: samplePayoutSide,
        theirs: { ...samplePayoutSide, amount: 900 },
      },
    },
  },
  ReviewResolutionProposed: {
    type: 'ReviewResolutionProposed',
    data: {
      code: 'discrepancy',
      number: 1,
      resolution: 'keep_ours',
      reason: 'I asked them',
      proposedBy: 'key-1',
      proposedAt: 50_000,
    },
  },
  ReviewResolved: {
    type: 'ReviewResolved',
    data: {
      code: 'discrepancy',
      number: 1,
      resolution: 'keep_ours',
      reason: 'seen at the bank',
      releases: true,
    },
  },
};

const accepted = [payoutRequested(), payoutSampleEvents.PayoutAccepted];

/** A history that leads to each phase. */
export const payoutHistoryTo: Record<PayoutPhase, readonly PayoutEvent[]> = {
  awaiting_approval: [payoutApprovalRequested()],
  approval_granted: [payoutApprovalRequested(), payoutSampleEvents.PayoutApprovalGranted],
  requested: [payoutRequested()],
  unresolved: [payoutRequested(), payoutSampleEvents.PayoutUnresolved],
  pending: accepted,
  approved: [...accepted, payoutSampleEvents.PayoutApproved],
  declined: [...accepted, payoutSampleEvents.PayoutDeclined],
  failed: [payoutRequested(), payoutSampleEvents.PayoutRefused, payoutSampleEvents.PayoutFailed],
};

/** The provider's record of the payout that {@link payoutHistoryTo} was accepted as. */
export const observedPayout = (status: string, changes: Partial<ObservedPayout> = {}): ObservedPayout => ({
  serviceToken: 'token-a',
  status,
  amount: 1000,
  currency: 'EUR',
  orderNumber: 'po_1.1',
  ...changes,
});

export const foldPayout = (history: readonly PayoutEvent[]): PayoutState =>
  history.reduce<PayoutState>(evolvePayout, undefined);

/** As {@link foldPayout}, for a history that is not empty. */
export function payoutAfter(history: readonly PayoutEvent[]): Payout {
  const payout = foldPayout(history);
  if (payout === undefined) throw new Error('the history is empty');
  return payout;
}
