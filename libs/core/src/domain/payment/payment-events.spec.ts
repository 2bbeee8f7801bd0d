import { expect, test } from 'vitest';
import { sampleEvents } from '../testing/samples.ts';
import { eventMetadataSchema } from '../event-metadata.ts';
import { decodePaymentEvent } from './payment-events.ts';

test.each([0, -1, 0.5, 2 ** 53, Number.POSITIVE_INFINITY, '1000'])('%j is not an amount', (amount) => {
  expect(() => decodePaymentEvent({ type: 'PaymentApproved', data: { amount } })).toThrow();
  expect(() => decodePaymentEvent({ type: 'ExternalRefundObserved', data: { amount } })).toThrow();
  expect(() =>
    decodePaymentEvent({ type: 'PaymentAuthorized', data: { authorizedAmount: amount } }),
  ).toThrow();
  const { data } = sampleEvents.RefundSubmitted;
  expect(() => decodePaymentEvent({ type: 'RefundSubmitted', data: { ...data, amount } })).toThrow();
});

test('anything else is not a currency', () => {
  const { data } = sampleEvents.PaymentRequested;
  const withCurrency = (currency: string) => ({ ...data, terms: { ...data.terms, currency } });
  for (const currency of ['eur', 'EURO', 'XXQ', ''])
    expect(() => decodePaymentEvent({ type: 'PaymentRequested', data: withCurrency(currency) })).toThrow();
});

test('metadata has version, cause, instant and actor', () => {
  const metadata = {
    schemaVersion: 1,
    correlationId: 'c',
    causationId: 'r',
    recordedAt: 1,
    actor: { kind: 'team', team: 'shop', keyId: 'k1' },
  };
  const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';
  const service = { ...metadata, traceparent, actor: { kind: 'service', name: 'resolver' } };
  expect(eventMetadataSchema.parse(metadata)).toEqual(metadata);
  expect(eventMetadataSchema.parse(service)).toEqual(service);
  for (const broken of [
    { schemaVersion: 0 },
    { schemaVersion: 1.5 },
    { recordedAt: 1.5 },
    { actor: { kind: 'nobody' } },
    { causationId: 1 },
  ])
    expect(eventMetadataSchema.safeParse({ ...metadata, ...broken }).success).toBe(false);
});
