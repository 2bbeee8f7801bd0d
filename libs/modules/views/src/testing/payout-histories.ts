/** Histories of payouts and disputes for specs. Every secret value is marked with `planted`. */
import { evolvePayout, type Environment, type PayoutEvent, type PayoutEventOf } from '@tollgate/core';
import fc from 'fast-check';
import { evolveDispute, type DisputeEvent } from '@tollgate/books';
import { discrepancyOpened, historiesOf, planted, reviewAnswers, startedAt } from './histories.ts';

export interface PayoutRequestedOptions {
  team?: string;
  environment?: Environment;
  currency?: string;
  orderNumber?: string;
  metadata?: Record<string, string>;
}

export function payoutRequested(options: PayoutRequestedOptions = {}): PayoutEvent {
  const {
    team = 'shop',
    environment = 'sandbox',
    currency = 'EUR',
    orderNumber = 'P-1',
    ...others
  } = options;
  const destination = { kind: 'card' as const, sanitizedMask: '462734******2639' };
  const terms = { amount: 300, currency, orderNumber, destination, ...others };
  const call = {
    account: `account-${planted}`,
    providerOrderNumber: 'po_1.1',
    sendBy: startedAt + 1_000,
    answerBy: startedAt + 11_000,
    quietUntil: startedAt + 60_000,
  };
  const owner = { environment, team, wallet: `team-${team}`, askedBy: 'k1' };
  return {
    type: 'PayoutRequested',
    data: { ...owner, terms, fingerprint: `fingerprint-${planted}`, call },
  };
}

const serviceToken = `${planted}-service-token-4321`;
const error = { code: 'incorrect_private_key', kind: 'authentication_error', message: `key ${planted}` };

/** One that a second key must approve. */
export function payoutApprovalRequested(options: PayoutRequestedOptions = {}): PayoutEvent {
  const { call, ...request } = payoutRequested(options).data as PayoutEventOf<'PayoutRequested'>['data'];
  const { account, providerOrderNumber } = call;
  const data = { ...request, account, providerOrderNumber, lapsesAt: startedAt + 86_400_000 };
  return { type: 'PayoutApprovalRequested', data };
}

/** One of each, by short names. */
export const payoutHappening = {
  approvalGranted: {
    type: 'PayoutApprovalGranted',
    data: { grantedBy: 'k2', lapsesAt: startedAt + 90_000_000 },
  },
  approvalRefused: { type: 'PayoutApprovalRefused', data: { refusedBy: 'k2', reason: 'not ours' } },
  accepted: { type: 'PayoutAccepted', data: { serviceToken, evidence: 'answer' } },
  refused: { type: 'PayoutRefused', data: { errors: [error] } },
  notSent: { type: 'PayoutNotSent', data: { reason: 'ECONNREFUSED' } },
  unresolved: { type: 'PayoutUnresolved', data: { reason: 'timeout' } },
  approved: { type: 'PayoutApproved', data: {} },
  declined: { type: 'PayoutDeclined', data: { declineReason: 'card_declined' } },
  failed: { type: 'PayoutFailed', data: { reason: 'refused' } },
  revised: { type: 'FinalStatusRevised', data: { from: 'declined', to: 'approved' } },
  callbackDeferred: { type: 'CallbackDeferred', data: { serviceToken, deferredAt: startedAt } },
  callbackInquired: { type: 'CallbackInquired', data: { serviceToken } },
  reviews: { type: 'ReviewOpened', data: { code: 'payout_not_found', evidence: { serviceToken } } },
  secondFound: discrepancyOpened(
    { kind: 'second_payout_found', operation: 'payout', serviceToken: `second-${serviceToken}` },
    300,
  ),
  ...reviewAnswers({ code: 'payout_not_found', resolution: 'acknowledged' }),
} as const satisfies Record<string, PayoutEvent>;

/** Events in an order that the payout machine allows, beginning with a request. */
export const anyPayoutHistory = fc.oneof(
  historiesOf(payoutRequested(), Object.values<PayoutEvent>(payoutHappening), evolvePayout),
  historiesOf(
    payoutApprovalRequested(),
    [payoutRequested(), ...Object.values<PayoutEvent>(payoutHappening)],
    evolvePayout,
  ),
);

export interface DisputeOpenedOptions {
  id?: string;
  team?: string;
  paymentToken?: string;
  environment?: Environment;
  openedAt?: number;
}

export const disputeOpened = (options: DisputeOpenedOptions = {}): DisputeEvent => ({
  type: 'DisputeOpened',
  data: {
    environment: 'sandbox',
    account: `account-${planted}`,
    id: 'D-1',
    amount: 1_500,
    currency: 'EUR',
    status: 'open',
    state: 'open',
    type: 'chargeback',
    reasonCode: '10.4',
    ...options,
  },
});

export const disputeHappening = {
  changed: { type: 'DisputeChanged', data: { status: 'lost', state: 'lost', comment: 'no answer' } },
  matched: { type: 'DisputeMatched', data: { team: 'shop', paymentToken: 'pay_1' } },
} as const satisfies Record<string, DisputeEvent>;

/** Events of a dispute, beginning with its opening. */
export const anyDisputeHistory = historiesOf(
  disputeOpened(),
  Object.values<DisputeEvent>(disputeHappening),
  evolveDispute,
);
