/** Synthetic views: the payments of one team over a year, derived from their numbers alone. */
import type { NewEvent, Position } from '@tollgate/event-store';
import type { PaymentPhase } from '@tollgate/payment-domain';
import {
  paymentViewSchemaVersion,
  paymentKind,
  streamOf,
  viewStreamOf,
  type PaymentView,
} from '@tollgate/views';

export const teamOfBench = { environment: 'sandbox', team: 'shop' } as const;
export const yearStartedAt = Date.UTC(2025, 0, 1);
const yearMs = 365 * 86_400_000;

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

/** @param change what has happened to it since: 0 is nothing */
export function viewAt(number: number, count: number, change: number): PaymentView {
  const token = `pay_${(Math.imul(number, 0x9e3779b1) >>> 0).toString(36).padStart(7, '0')}${number.toString(36).padStart(19, 'a')}`;
  const phase = change === 0 ? phaseAt(number) : 'refunded';
  const waits = number % 500 === 1;
  const createdAt = yearStartedAt + Math.floor((number / count) * yearMs);
  const amount = 1_000 + (number % 9_000);
  const reviews = {
    code: 'second_payment_found' as const,
    evidence: { attemptNumber: 1, providerOrderNumber: `${token}.1` },
    number: 1,
  };
  return {
    schemaVersion: paymentViewSchemaVersion,
    ...{ token, createdAt, updatedAt: createdAt + 60_000, revision: 3 + change },
    position: (number + 1).toString().padStart(16, '0') as Position,
    payment: {
      ...teamOfBench,
      terms: {
        ...{ kind: 'hosted', product: 'A pot of tea', amount, currency: currencyAt(number) },
        orderNumber: number % 10 === 2 ? 'again' : `order-${number}`,
        ...{ needConfirmation: false, customer: { email: `buyer${number}@example.com`, ip: '192.0.2.1' } },
      },
      fingerprint: 'f'.repeat(64),
      phase,
      attempt: {
        ...{ number: 1, account: 'main', providerOrderNumber: `${token}.1` },
        ...{ sendBy: createdAt + 1_000, answerBy: createdAt + 11_000, quietUntil: createdAt + 60_000 },
      },
      serviceToken: `svc-${token}`,
      deferredCallbacks: [],
      processingUrl: `https://pay.example/checkout/${token}`,
      ...{ authorizedAmount: 0, approvedAmount: amount, refundedAmount: phase === 'refunded' ? amount : 0 },
      ...{ refunds: [], refundDeclinesReported: [], sanitizedMask: '439296******1251', errors: [] },
      ...{ reviews: waits ? [reviews] : [], acknowledged: [], reviewCount: waits ? 1 : 0 },
    },
    reviewsSince: waits ? [createdAt] : [],
  };
}

/** Of the first `count`, those in these phases and this currency. */
export function countOf(count: number, phases: readonly PaymentPhase[], currency: string): number {
  let found = 0;
  for (let number = 0; number < count; number += 1)
    if (currencyAt(number) === currency && phases.includes(phaseAt(number))) found += 1;
  return found;
}

/** Arguments of the append that writes a view. */
export const viewEventOf = (
  view: PaymentView,
  id: string,
): [stream: string, events: NewEvent[], expected: 'any'] => [
  viewStreamOf(streamOf(paymentKind, view.token)),
  [{ id, type: paymentKind.writtenEventType, data: view, metadata: {} }],
  'any',
];
