import { propertyRuns } from '@tollgate/testing';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { sampleEvents } from '../testing/samples.ts';
import { eventMetadataSchema } from '../event-metadata.ts';
import {
  decodePaymentEvent,
  paymentEventSchemas,
  paymentStream,
  tokenOfPaymentStream,
  type PaymentEventType,
} from './payment-events.ts';

const types = Object.keys(paymentEventSchemas) as PaymentEventType[];
const stored = (value: unknown) => JSON.parse(JSON.stringify(value)) as { type: string; data: unknown };

/** The paths of all values in an event's data, outermost first. */
function pathsOf(value: unknown, path: readonly string[] = []): (readonly string[])[] {
  if (typeof value !== 'object' || value === null) return [path];
  return [path, ...Object.entries(value).flatMap(([name, part]) => pathsOf(part, [...path, name]))];
}

function replaced(value: unknown, [name, ...rest]: readonly string[], part: unknown): unknown {
  if (name === undefined) return part;
  if (Array.isArray(value)) {
    const items: unknown[] = value;
    return items.map((each, index) => (String(index) === name ? replaced(each, rest, part) : each));
  }
  const copy = { ...(value as Record<string, unknown>) };
  return { ...copy, [name]: replaced(copy[name], rest, part) };
}

describe.each(types)('%s', (type) => {
  const event = sampleEvents[type];

  test('is read back as it was stored', () => {
    expect(decodePaymentEvent(stored(event))).toEqual(event);
  });

  test('drops unknown fields', () => {
    expect(decodePaymentEvent(stored({ type, data: { ...event.data, __extra: 1 } }))).toEqual(event);
  });

  test.each([undefined, null, 'text', 1, true, []])('is not read from %j', (data) => {
    expect(() => decodePaymentEvent({ type, data })).toThrow();
  });

  // Evidence may hold any text or number; every other field has one type.
  const paths = pathsOf(event.data).filter(
    (path) => path.length > 0 && path[0] !== 'evidence' && path[0] !== 'discrepancy',
  );

  test.each(paths)('is not read if a value has the wrong type: %s.%s.%s', (...path) => {
    for (const wrong of [null, Number.NaN, [[]]])
      expect(() => decodePaymentEvent({ type, data: replaced(event.data, path, wrong) })).toThrow();
  });
});

test.each(['PaymentLost', '', 'paymentApproved', 'constructor', 'toString', '__proto__', 'hasOwnProperty'])(
  'the unknown type %j is not skipped',
  (type) => {
    expect(() => decodePaymentEvent({ type, data: {} })).toThrow(RangeError);
  },
);

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

const anyData = fc.oneof(
  fc.anything(),
  fc
    .constantFrom(...Object.values(sampleEvents))
    .chain((event) =>
      fc
        .tuple(fc.constantFrom(...pathsOf(event.data)), fc.anything())
        .map(([path, part]) => replaced(event.data, path, part)),
    ),
);

test('for any stored data, decoding returns a whole event or throws', () => {
  let readCount = 0;
  fc.assert(
    fc.property(fc.oneof(fc.constantFrom(...types), fc.string()), anyData, (type, data) => {
      let event;
      try {
        event = decodePaymentEvent({ type, data });
      } catch (error) {
        expect(error).toBeInstanceOf(Error);
        return;
      }
      readCount += 1;
      expect(event.type).toBe(type);
      expect(event.data).toBeTypeOf('object');
      // A decoded event can be decoded again: nothing in it is undefined, cut or coerced.
      expect(decodePaymentEvent(stored(event))).toEqual(event);
    }),
    { numRuns: propertyRuns(3_000) },
  );
  expect(readCount).toBeGreaterThan(0);
});

test('the stream of a payment is named by its token', () => {
  fc.assert(fc.property(fc.string(), (token) => tokenOfPaymentStream(paymentStream(token)) === token));
  expect(paymentStream('pay_1')).toBe('payment-pay_1');
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
