/** Any bytes in the store are read as a whole event, or refused with a specific error. */
import { propertyRuns } from '@tollgate/testing';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { EventOfNewerVersion } from '@tollgate/event-store/schema-version';
import { decodePaymentEvent, paymentStream, tokenOfPaymentStream } from './payment/payment-events.ts';
import { decodePayoutEvent, payoutStream, tokenOfPayoutStream } from './payout/payout-events.ts';
import { payoutSampleEvents } from './testing/payout-samples.ts';
import { sampleEvents } from './testing/samples.ts';

type StoredEvent = { type: string; data: unknown; metadata?: unknown };

const stored = (value: unknown) => JSON.parse(JSON.stringify(value)) as StoredEvent;

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

const isRefusal = (error: unknown): boolean =>
  error instanceof z.ZodError || error instanceof RangeError || error instanceof EventOfNewerVersion;

interface Stored {
  name: string;
  decode: (event: StoredEvent) => { type: string; data: object };
  events: readonly { type: string; data: object }[];
  streamOf: (token: string) => string;
  tokenOf: (stream: string) => string | undefined;
}

describe.each<Stored>([
  {
    name: 'payment',
    decode: decodePaymentEvent,
    events: Object.values(sampleEvents),
    streamOf: paymentStream,
    tokenOf: tokenOfPaymentStream,
  },
  {
    name: 'payout',
    decode: decodePayoutEvent,
    events: Object.values(payoutSampleEvents),
    streamOf: payoutStream,
    tokenOf: tokenOfPayoutStream,
  },
])('events of a $name', ({ name, decode, events, streamOf, tokenOf }) => {
  describe.each(events)('$type', (event) => {
    const { type, data } = event;

    test('is read back as it was stored, without unknown fields', () => {
      expect(decode(stored(event))).toEqual(event);
      expect(decode(stored({ type, data: { ...data, __extra: 1 } }))).toEqual(event);
    });

    test.each([undefined, null, 'text', 1, true, []])('is not read from %j', (other) => {
      expect(() => decode({ type, data: other })).toThrow();
    });

    // Evidence may hold any text or number; every other field has one type.
    const paths = pathsOf(data).filter(
      ([field = '', ...inner]) =>
        field !== '' && !(inner.length > 0 && /^(evidence|discrepancy)$/.test(field)),
    );

    test.each(paths)('is not read if a value has the wrong type: %s.%s.%s', (...path) => {
      for (const wrong of [null, Number.NaN, [[]]])
        expect(() => decode({ type, data: replaced(data, path, wrong) })).toThrow();
    });
  });

  test.each(['PaymentLost', '', 'paymentApproved', 'constructor', 'toString', '__proto__', 'hasOwnProperty'])(
    'the unknown type %j is not skipped',
    (type) => {
      expect(() => decode({ type, data: {} })).toThrow(RangeError);
    },
  );

  const types = events.map(({ type }) => type);
  const type = fc.oneof({ arbitrary: fc.constantFrom(...types), weight: 6 }, fc.string());
  const anyData = fc.oneof(
    fc.anything(),
    fc
      .constantFrom(...events)
      .chain(({ data }) =>
        fc
          .tuple(fc.constantFrom(...pathsOf(data)), fc.anything())
          .map(([path, part]) => replaced(data, path, part)),
      ),
  );
  const anyMetadata = fc.oneof(
    fc.record({ schemaVersion: fc.oneof(fc.integer({ min: -1, max: 5 }), fc.jsonValue()) }),
    fc.jsonValue(),
    fc.constant(undefined),
  );

  test('are read whole, or refused with a specific error, for any stored data', () => {
    let readCount = 0;
    fc.assert(
      fc.property(type, anyData, anyMetadata, (storedType, data, metadata) => {
        let event;
        try {
          event = decode({ type: storedType, data, metadata });
        } catch (error) {
          if (!isRefusal(error)) throw error;
          return;
        }
        readCount += 1;
        expect(event.type).toBe(storedType);
        expect(event.data).toBeTypeOf('object');
        // A decoded event can be decoded again: nothing in it is undefined, cut or coerced.
        expect(decode(stored(event))).toEqual(event);
      }),
      { numRuns: propertyRuns(3_000) },
    );
    expect(readCount).toBeGreaterThan(0);
  });

  test('are in a stream that is named by its token', () => {
    fc.assert(fc.property(fc.string(), (token) => tokenOf(streamOf(token)) === token));
    expect(streamOf('tok_1')).toBe(`${name}-tok_1`);
  });
});
