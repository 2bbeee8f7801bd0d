/** Synthetic payments of one team over a year, as events that are derived from their numbers alone. */
import type { NewEvent } from '@tollgate/event-store';
import type { PaymentPhase } from '@tollgate/core';
import { dayMs, systemIds } from '@tollgate/service-kit';
import { paymentKind, streamOf } from '@tollgate/views';

export const teamOfBench = { environment: 'sandbox', team: 'shop' } as const;
export const yearStartedAt = Date.UTC(2025, 0, 1);

function phaseAt(number: number): PaymentPhase {
  if (number % 2_000 === 1_999) return 'failed';
  if (number % 1_000 === 998) return 'authorized';
  if (number % 100 === 3) return 'refunded';
  if (number % 100 === 4) return 'expired';
  if (number % 100 === 5) return 'pending';
  if (number % 100 === 6) return 'init';
  return number % 10 === 7 ? 'declined' : 'approved';
}

function currencyAt(number: number): string {
  if (number % 1_000 === 497) return 'JPY';
  return number % 4 === 0 ? 'USD' : 'EUR';
}

const amountAt = (number: number): number => 1_000 + (number % 9_000);

export const tokenAt = (number: number): string =>
  `pay_${(Math.imul(number, 0x9e3779b1) >>> 0).toString(36).padStart(7, '0')}${number.toString(36).padStart(19, 'a')}`;

type Happened = Pick<NewEvent, 'type' | 'data'>;

function happenedAt(number: number): Happened[] {
  const amount = amountAt(number);
  const mask = { sanitizedMask: '439296******1251' };
  const last: Partial<Record<PaymentPhase, Happened[]>> = {
    failed: [],
    init: [],
    pending: [{ type: 'PaymentPending', data: {} }],
    authorized: [{ type: 'PaymentAuthorized', data: { authorizedAmount: amount, ...mask } }],
    expired: [{ type: 'PaymentExpired', data: {} }],
    declined: [{ type: 'PaymentDeclined', data: { declineReason: 'insufficient funds' } }],
  };
  return (
    last[phaseAt(number)] ?? [
      { type: 'PaymentPending', data: {} },
      { type: 'PaymentApproved', data: { amount, ...mask } },
    ]
  );
}

/** The stream of a payment, and its events. */
export function eventsAt(number: number, count: number): [stream: string, events: NewEvent[]] {
  const token = tokenAt(number);
  const createdAt = yearStartedAt + Math.floor((number / count) * 365 * dayMs);
  const attempt = {
    number: 1,
    account: 'main',
    providerOrderNumber: `${token}.1`,
    sendBy: createdAt + 1_000,
    answerBy: createdAt + 11_000,
    quietUntil: createdAt + 60_000,
  };
  const terms = {
    kind: 'hosted',
    product: 'A pot of tea',
    amount: amountAt(number),
    currency: currencyAt(number),
    orderNumber: number % 10 === 2 ? 'again' : `order-${number}`,
    needConfirmation: false,
    customer: { email: `buyer${number}@example.com`, ip: '192.0.2.1' },
  };
  const accepted = {
    attemptNumber: 1,
    serviceToken: `svc-${token}`,
    evidence: 'answer',
    processingUrl: `https://pay.example/checkout/${token}`,
  };
  const isFailed = phaseAt(number) === 'failed';
  const happened: Happened[] = [
    {
      type: 'PaymentRequested',
      data: {
        ...teamOfBench,
        wallet: 'team-shop',
        askedBy: 'k1',
        terms,
        fingerprint: 'f'.repeat(64),
        attempt,
      },
    },
    isFailed
      ? { type: 'AttemptRefused', data: { attemptNumber: 1, errors: [] } }
      : { type: 'AttemptAccepted', data: accepted },
    ...(isFailed ? [{ type: 'PaymentFailed', data: { reason: 'refused' } }] : happenedAt(number)),
  ];
  return [streamOf(paymentKind, token), happened.map((event) => recorded(event, token, createdAt))];
}

/** Later events of each payment: an early callback was deferred. */
export const changeOf = (token: string): NewEvent =>
  recorded({ type: 'CallbackDeferred', data: { deferredAt: yearStartedAt } }, token, yearStartedAt);

const recorded = (event: Happened, token: string, recordedAt: number): NewEvent => ({
  id: systemIds.uuid(),
  ...event,
  metadata: {
    schemaVersion: 1,
    correlationId: token,
    causationId: token,
    recordedAt,
    actor: { kind: 'team', team: 'shop', keyId: 'k1' },
  },
});

/** Of the first `count`, those in these phases and this currency. */
export function countOf(count: number, phases: readonly PaymentPhase[], currency: string): number {
  let found = 0;
  for (let number = 0; number < count; number += 1)
    if (currencyAt(number) === currency && phases.includes(phaseAt(number))) found += 1;
  return found;
}
