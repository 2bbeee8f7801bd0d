/** Histories of payments for specs. Every value that must never be shown is marked with {@link planted}. */
import type { NewEvent, Position, RecordedEvent } from '@tollgate/event-store';
import {
  evolve,
  paymentStream,
  type Environment,
  type PaymentEvent,
  type PaymentState,
} from '@tollgate/payment-domain';
import fc from 'fast-check';

/** Part of every planted secret. */
export const planted = 'PLANTED';
export const startedAt = Date.UTC(2026, 0, 2, 3, 4, 5);

const attempt = (number: number) => ({
  number,
  account: `account-${planted}`,
  providerOrderNumber: `pay_1.${number}`,
  sendBy: startedAt + 1_000,
  answerBy: startedAt + 11_000,
  quietUntil: startedAt + 60_000,
});

export interface RequestedOptions {
  team?: string;
  environment?: Environment;
  currency?: string;
  orderNumber?: string;
}

export function requested(options: RequestedOptions = {}): PaymentEvent {
  const { team = 'shop', environment = 'sandbox', currency = 'EUR', orderNumber } = options;
  const terms = {
    ...{ kind: 'hosted' as const, product: 'Tea', amount: 1_500, currency, needConfirmation: false },
    ...(orderNumber === undefined ? {} : { orderNumber }),
    customer: { email: `${planted}@example.com`, ip: '192.0.2.1' },
  };
  const data = { environment, team, terms, fingerprint: `fingerprint-${planted}`, attempt: attempt(1) };
  return { type: 'PaymentRequested', data };
}

const serviceToken = `${planted}-service-token-1234`;
export const processingUrl = 'https://pay.example/checkout/1';
const error = { code: 'incorrect_private_key', kind: 'authentication_error', message: `key ${planted}` };
const refusal = { code: 'invalid_param', kind: 'invalid_request_error', message: 'no', parameter: 'product' };
const call = { sendBy: startedAt, answerBy: startedAt, quietUntil: startedAt };

/** One of each, by short names. */
export const happening = {
  accepted: {
    type: 'AttemptAccepted',
    data: { attemptNumber: 1, serviceToken, processingUrl, evidence: 'answer' },
  },
  refused: { type: 'AttemptRefused', data: { attemptNumber: 1, errors: [error, refusal] } },
  notSent: { type: 'AttemptNotSent', data: { attemptNumber: 1, reason: 'ECONNREFUSED' } },
  unresolved: { type: 'AttemptUnresolved', data: { attemptNumber: 1, reason: 'timeout' } },
  notFound: { type: 'AttemptNotFound', data: { attemptNumber: 1 } },
  started: { type: 'AttemptStarted', data: { attempt: attempt(2) } },
  pending: { type: 'PaymentPending', data: {} },
  held: { type: 'PaymentHeld', data: { heldAmount: 1_500, sanitizedMask: '439296******1251' } },
  approved: { type: 'PaymentApproved', data: { amount: 1_500, sanitizedMask: '439296******1251' } },
  declined: { type: 'PaymentDeclined', data: { declineReason: 'insufficient funds' } },
  expired: { type: 'PaymentExpired', data: {} },
  failed: { type: 'PaymentFailed', data: { reason: 'refused' } },
  confirming: { type: 'ConfirmationSubmitted', data: call },
  confirmationRefused: { type: 'ConfirmationRefused', data: { errors: [error] } },
  confirmationUnresolved: { type: 'ConfirmationUnresolved', data: { reason: 'timeout' } },
  declining: { type: 'DeclineSubmitted', data: call },
  declineRefused: { type: 'DeclineRefused', data: { errors: [error] } },
  declineUnresolved: { type: 'DeclineUnresolved', data: { reason: 'timeout' } },
  refunding: {
    type: 'RefundSubmitted',
    data: { refundToken: 'ref_1', amount: 500, fingerprint: `fingerprint-${planted}`, ...call },
  },
  refundApproved: { type: 'RefundApproved', data: { refundToken: 'ref_1' } },
  refundDeclined: { type: 'RefundDeclined', data: { refundToken: 'ref_1', errors: [error] } },
  refundUnresolved: { type: 'RefundUnresolved', data: { refundToken: 'ref_1', reason: 'timeout' } },
  refundedElsewhere: { type: 'ExternalRefundObserved', data: { amount: 1_000 } },
  revised: { type: 'FinalStatusRevised', data: { from: 'declined', to: 'approved', amount: 1_400 } },
  attention: {
    type: 'AttentionRaised',
    data: {
      code: 'second_payment_found',
      evidence: {
        attemptNumber: 1,
        serviceToken,
        knownServiceToken: `${planted}-known-5678`,
        providerOrderNumber: 'pay_1.1',
      },
    },
  },
  attentionResolved: {
    type: 'AttentionResolved',
    data: { code: 'second_payment_found', resolution: 'refunded', reason: 'by hand' },
  },
} as const satisfies Record<string, PaymentEvent>;

/** Events that follow one another as the payment machine allows, beginning with a request. */
export const anyHistory: fc.Arbitrary<PaymentEvent[]> = fc
  .array(fc.constantFrom<PaymentEvent>(...Object.values(happening)), { maxLength: 30 })
  .map((candidates) => candidates.reduce(appendIfAllowed, [requested()]));

function appendIfAllowed(history: PaymentEvent[], event: PaymentEvent): PaymentEvent[] {
  try {
    const state = history.reduce<PaymentState>(evolve, undefined);
    evolve(state, event);
    return [...history, event];
  } catch {
    // Not allowed here; the history goes on without it.
    return history;
  }
}

const uuid = (number: number) => `00000000-0000-4000-8000-${number.toString().padStart(12, '0')}`;

const metadataOf = (index: number) => ({
  schemaVersion: 1,
  correlationId: 'c-1',
  causationId: 'r-1',
  recordedAt: startedAt + index * 1_000,
  actor: { kind: 'team', team: 'shop', keyId: 'k1' },
});

/** Events as they are given to a store, one second apart. `from` is the revision of the first. */
export const toNewEvents = (events: readonly PaymentEvent[], newId: () => string, from = 0): NewEvent[] =>
  events.map(({ type, data }, index) => ({ id: newId(), type, data, metadata: metadataOf(from + index) }));

/** Events as a store gives them back, in the stream of one payment. */
export function toRecordedEvents(events: readonly PaymentEvent[], token = 'pay_1'): RecordedEvent[] {
  let number = 0;
  const recorded = toNewEvents(events, () => uuid((number += 1)));
  return recorded.map((event, revision) => ({
    ...event,
    kind: 'event',
    stream: paymentStream(token),
    revision,
    position: (revision + 1).toString().padStart(16, '0') as Position,
    recordedAt: startedAt,
  }));
}
