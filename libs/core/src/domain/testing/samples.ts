/** Samples for the specs of this library. */
import type { CallWindow } from '../outbound-call/outbound-call.ts';
import type {
  ObservedPayment,
  PaymentInput,
  PaymentRefusal,
  RecordObservation,
  RequestPayment,
} from '../payment/payment-commands.ts';
import { decide } from '../payment/payment-decide.ts';
import type {
  Attempt,
  PaymentEvent,
  PaymentEventOf,
  PaymentEventType,
  PaymentTerms,
} from '../payment/payment-events.ts';
import type { PaymentPhase } from '../payment/payment-machine.ts';
import { evolve } from '../payment/payment-evolve.ts';
import { type Payment, type PaymentState } from '../payment/payment-state.ts';

export const terms: PaymentTerms = {
  kind: 'hosted',
  product: 'A ticket',
  amount: 1000,
  currency: 'EUR',
  orderNumber: 'order-1',
  needConfirmation: false,
};

/** The n-th attempt: announced at n × 100,000, to be sent within 1 s, answered within 10 s, quiet after 60 s. */
export const attempt = (number: number, changes: Partial<Attempt> = {}): Attempt => ({
  number,
  account: 'main',
  providerOrderNumber: `pay_1.${number}`,
  sendBy: number * 100_000 + 1_000,
  answerBy: number * 100_000 + 10_000,
  quietUntil: number * 100_000 + 60_000,
  ...changes,
});

export const requestPayment = (changes: Partial<RequestPayment> = {}): RequestPayment => ({
  type: 'RequestPayment',
  environment: 'sandbox',
  team: 'shop',
  wallet: 'team-shop',
  askedBy: 'key-1',
  terms,
  fingerprint: 'fingerprint-1',
  attempt: attempt(1),
  ...changes,
});

export const requested = (changes: Partial<PaymentTerms> = {}): PaymentEventOf<'PaymentRequested'> => {
  const { environment, team, wallet, askedBy, fingerprint, attempt } = requestPayment();
  return {
    type: 'PaymentRequested',
    data: { environment, team, wallet, askedBy, fingerprint, attempt, terms: { ...terms, ...changes } },
  };
};

/** A partially refunded payment that was made before Tollgate, 1 ms after the Unix epoch. */
export const adopted = (
  changes: Partial<PaymentEventOf<'PaymentAdopted'>['data']> = {},
): PaymentEventOf<'PaymentAdopted'> => ({
  type: 'PaymentAdopted',
  data: {
    environment: 'sandbox',
    team: 'shop',
    wallet: 'team-shop',
    account: 'main',
    terms: { ...terms, orderNumber: 'shop-1' },
    serviceToken: 'token-a',
    providerOrderNumber: 'shop-1',
    createdAt: 1,
    status: 'approved',
    authorizedAmount: 0,
    refundedAmount: 200,
    ...changes,
  },
});

/** For captures, voids and refunds: announced at 0. */
export const announcedCall: CallWindow = { sendBy: 1_000, answerBy: 10_000, quietUntil: 60_000 };

export const refundSubmitted = (refundToken: string, amount: number): PaymentEventOf<'RefundSubmitted'> => ({
  type: 'RefundSubmitted',
  data: {
    refundToken,
    amount,
    askedBy: 'key-1',
    askedAt: 0,
    fingerprint: `fingerprint of ${refundToken}`,
    ...announcedCall,
  },
});

export const apiError = (kind: string, code = 'a_code') => ({ code, kind, message: 'A sentence.' });

const sampleSide = {
  status: 'approved',
  amount: 1000,
  currency: 'EUR',
  refundedAmount: 0,
  authorizedAmount: 0,
  orderNumber: 'pay_1.1',
};

/** One event of every type, with every optional field. */
export const sampleEvents: { [Type in PaymentEventType]: PaymentEventOf<Type> } = {
  PaymentRequested: requested({
    callbackUrl: 'https://shop.example/callback',
    redirectSuccessUrl: 'https://shop.example/thanks',
    redirectFailUrl: 'https://shop.example/sorry',
    locale: 'de',
    recurring: true,
    recurringToken: 'rec_1',
  }),
  PaymentAdopted: adopted({
    payable: true,
    processingUrl: 'https://pay.example/a',
    recurringToken: 'rec_3',
    sanitizedMask: '439296******1251',
    declineReason: 'none',
  }),
  AttemptAccepted: {
    type: 'AttemptAccepted',
    data: {
      attemptNumber: 1,
      serviceToken: 'token-a',
      processingUrl: 'https://pay.example/a',
      evidence: 'answer',
    },
  },
  AttemptRefused: {
    type: 'AttemptRefused',
    data: { attemptNumber: 1, errors: [apiError('processing_error')] },
  },
  AttemptNotSent: { type: 'AttemptNotSent', data: { attemptNumber: 1, reason: 'connection refused' } },
  AttemptUnresolved: { type: 'AttemptUnresolved', data: { attemptNumber: 1, reason: 'timeout' } },
  AttemptNotFound: { type: 'AttemptNotFound', data: { attemptNumber: 1 } },
  AttemptStarted: { type: 'AttemptStarted', data: { attempt: attempt(2) } },
  PaymentPending: { type: 'PaymentPending', data: {} },
  PaymentAuthorized: {
    type: 'PaymentAuthorized',
    data: { authorizedAmount: 1000, sanitizedMask: '439296******1251' },
  },
  PaymentApproved: { type: 'PaymentApproved', data: { amount: 1000, sanitizedMask: '439296******1251' } },
  PaymentDeclined: {
    type: 'PaymentDeclined',
    data: { declineReason: 'do_not_honor', sanitizedMask: '439296******1251' },
  },
  PaymentVoided: { type: 'PaymentVoided', data: { sanitizedMask: '439296******1251' } },
  PaymentExpired: { type: 'PaymentExpired', data: {} },
  PaymentFailed: { type: 'PaymentFailed', data: { reason: 'refused' } },
  CaptureSubmitted: { type: 'CaptureSubmitted', data: announcedCall },
  CaptureRefused: {
    type: 'CaptureRefused',
    data: { errors: [apiError('processing_error')], reason: 'refused' },
  },
  CaptureUnresolved: { type: 'CaptureUnresolved', data: { reason: 'timeout' } },
  VoidSubmitted: { type: 'VoidSubmitted', data: announcedCall },
  VoidRefused: {
    type: 'VoidRefused',
    data: { errors: [apiError('processing_error')], reason: 'refused' },
  },
  VoidUnresolved: { type: 'VoidUnresolved', data: { reason: 'timeout' } },
  RefundSubmitted: refundSubmitted('refund-1', 300),
  RefundAccepted: {
    type: 'RefundAccepted',
    data: { refundToken: 'refund-1', serviceRefundToken: 'service-refund-1' },
  },
  RefundApproved: {
    type: 'RefundApproved',
    data: { refundToken: 'refund-1', serviceRefundToken: 'service-refund-1' },
  },
  RefundDeclined: {
    type: 'RefundDeclined',
    data: { refundToken: 'refund-1', errors: [apiError('processing_error')], reason: 'refused' },
  },
  RefundUnresolved: { type: 'RefundUnresolved', data: { refundToken: 'refund-1', reason: 'timeout' } },
  ExternalRefundObserved: { type: 'ExternalRefundObserved', data: { amount: 200 } },
  FinalStatusRevised: {
    type: 'FinalStatusRevised',
    data: { from: 'declined', to: 'approved', amount: 900, declineReason: 'none', serviceToken: 'token-a' },
  },
  AdoptionDeclaredPayable: { type: 'AdoptionDeclaredPayable', data: {} },
  DisputeOpened: { type: 'DisputeOpened', data: { disputeToken: 'dsp_1', amount: 400, revision: 0 } },
  DisputeChanged: { type: 'DisputeChanged', data: { disputeToken: 'dsp_1', amount: 300, revision: 1 } },
  DisputeWon: { type: 'DisputeWon', data: { disputeToken: 'dsp_1', amount: 300, revision: 2 } },
  DisputeLost: { type: 'DisputeLost', data: { disputeToken: 'dsp_1', amount: 300, revision: 3 } },
  RecurringTokenIssued: { type: 'RecurringTokenIssued', data: { recurringToken: 'rec_2' } },
  CallbackDeferred: { type: 'CallbackDeferred', data: { serviceToken: 'token-b', deferredAt: 20_000 } },
  CallbackInquired: { type: 'CallbackInquired', data: { serviceToken: 'token-b' } },
  ReviewOpened: {
    type: 'ReviewOpened',
    data: {
      code: 'discrepancy',
      evidence: { kind: 'terms_disagree', number: 1, flag: true, nothing: null },
      discrepancy: {
        kind: 'terms_disagree',
        operation: 'payment',
        serviceToken: 'token-a',
        ours: sampleSide,
        theirs: { ...sampleSide, amount: 900 },
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

const accepted = [requested(), sampleEvents.AttemptAccepted];
const authorized = [...accepted, sampleEvents.PaymentAuthorized];
const approved: PaymentEvent[] = [...accepted, { type: 'PaymentApproved', data: { amount: 1000 } }];

/** A history that leads to each phase. */
export const historyTo: Record<PaymentPhase, readonly PaymentEvent[]> = {
  requested: [requested()],
  unresolved: [requested(), sampleEvents.AttemptUnresolved],
  init: accepted,
  pending: [...accepted, sampleEvents.PaymentPending],
  authorized,
  capturing: [...authorized, sampleEvents.CaptureSubmitted],
  voiding: [...authorized, sampleEvents.VoidSubmitted],
  approved,
  declined: [...accepted, { type: 'PaymentDeclined', data: {} }],
  voided: [...authorized, sampleEvents.VoidSubmitted, { type: 'PaymentVoided', data: {} }],
  refunded: [...approved, { type: 'ExternalRefundObserved', data: { amount: 1000 } }],
  expired: [...accepted, sampleEvents.PaymentExpired],
  failed: [requested(), sampleEvents.AttemptRefused, sampleEvents.PaymentFailed],
};

const named = (serviceToken: string | undefined) => (serviceToken === undefined ? {} : { serviceToken });

/** A callback with this token, or none, waits for its inquiry. */
export const defer = (serviceToken?: string): Extract<PaymentInput, { type: 'DeferCallback' }> => ({
  type: 'DeferCallback',
  ...named(serviceToken),
  deferredAt: 20_000,
});
export const deferred = (serviceToken?: string): PaymentEvent => ({
  type: 'CallbackDeferred',
  data: { ...named(serviceToken), deferredAt: 20_000 },
});
export const callbackInquired = (serviceToken?: string): PaymentEvent => ({
  type: 'CallbackInquired',
  data: named(serviceToken),
});

/** The provider's record of the payment that {@link historyTo} was accepted as. */
export const observed = (status: string, changes: Partial<ObservedPayment> = {}): ObservedPayment => ({
  serviceToken: 'token-a',
  status,
  amount: 1000,
  currency: 'EUR',
  orderNumber: 'pay_1.1',
  authorizedAmount: 0,
  refundedAmount: 0,
  ...changes,
});

/** An inquiry with this result that began at 0: before the outcome of any announced call is due, and at the last change. */
export const inquired = (
  snapshot: ObservedPayment,
  changes: Partial<Omit<RecordObservation, 'type' | 'observed'>> = {},
): RecordObservation => ({
  type: 'RecordObservation',
  observed: snapshot,
  inquiredAt: 0,
  changedAt: 0,
  ...changes,
});

/** Payments for `scenario`. */
export const paymentDomain = {
  initial: undefined as PaymentState,
  evolve,
  decide,
  // A resolution closes its review, so it cannot be repeated.
  againGives: ({ type }: PaymentInput): 'nothing' | PaymentRefusal['code'] =>
    type === 'ResolveReview' ? 'review_not_found' : 'nothing',
};

export const types = (events: readonly PaymentEvent[]): string[] => events.map(({ type }) => type);

export const fold = (history: readonly PaymentEvent[]): PaymentState =>
  history.reduce<PaymentState>(evolve, undefined);

/** As {@link fold}, for a history that is not empty. */
export function paymentAfter(history: readonly PaymentEvent[]): Payment {
  const payment = fold(history);
  if (payment === undefined) throw new Error('the history is empty');
  return payment;
}

/**
 * The events of a command that is not refused. It is executed twice, like a repeated message: the repeat must change nothing.
 */
export function decided(history: readonly PaymentEvent[], command: PaymentInput): readonly PaymentEvent[] {
  const events = eventsOf(history, command);
  // A resolution cannot be repeated.
  const again = command.type === 'ResolveReview' ? [] : eventsOf([...history, ...events], command);
  if (again.length > 0) throw new Error(`not idempotent, the second time gave ${JSON.stringify(again)}`);
  return events;
}

function eventsOf(history: readonly PaymentEvent[], command: PaymentInput): readonly PaymentEvent[] {
  const decision = decide(fold(history), command);
  if (decision.kind === 'refused') throw new Error(`refused: ${decision.refusal.code}`);
  return decision.events;
}
