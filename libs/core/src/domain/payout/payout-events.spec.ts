import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { payoutRequested, payoutSampleEvents } from '../testing/payout-samples.ts';
import {
  decodePayoutEvent,
  payoutDestinationSchema,
  payoutEventSchemas,
  payoutStream,
  tokenOfPayoutStream,
  type PayoutEventType,
} from './payout-events.ts';

const types = Object.keys(payoutEventSchemas) as PayoutEventType[];
const stored = (value: unknown) => JSON.parse(JSON.stringify(value)) as { type: string; data: unknown };

describe.each(types)('%s', (type) => {
  const event = payoutSampleEvents[type];

  test('is read back as it was stored', () => {
    expect(decodePayoutEvent(stored(event))).toEqual(event);
  });

  test('drops unknown fields', () => {
    expect(decodePayoutEvent(stored({ type, data: { ...event.data, __extra: 1 } }))).toEqual(event);
  });

  test.each([undefined, null, 'text', 1, true, []])('is not read from %j', (data) => {
    expect(() => decodePayoutEvent({ type, data })).toThrow();
  });

  test.each(Object.keys(event.data))('is not read if %s has the wrong type', (name) => {
    for (const wrong of [null, Number.NaN, [[]]])
      expect(() => decodePayoutEvent({ type, data: { ...event.data, [name]: wrong } })).toThrow();
  });
});

test.each(['PayoutLost', 'PaymentApproved', '', 'constructor', '__proto__'])(
  'the unknown type %j is not skipped',
  (type) => {
    expect(() => decodePayoutEvent({ type, data: {} })).toThrow(RangeError);
  },
);

test.each([
  { kind: 'card', sanitizedMask: '462734******2639' },
  { kind: 'card', sanitizedMask: '******9012' },
  { kind: 'recurring', recurringToken: 'rec_1' },
  { kind: 'bankAccount', bankName: 'A bank', accountEnding: '0130' },
])('%j is a destination', (destination) => {
  expect(payoutDestinationSchema.parse(destination)).toEqual(destination);
});

test.each([
  { kind: 'card', sanitizedMask: '4627342642639018' },
  { kind: 'card', sanitizedMask: '46273426****9018' },
  { kind: 'card', sanitizedMask: '462734******39018' },
  { kind: 'card', sanitizedMask: '462734******9018 4627342642639018' },
  { kind: 'bankAccount', bankName: 'A bank', accountEnding: 'DE02120300000000202051' },
  { kind: 'cheque' },
])('a payable destination is not recorded: %j', (destination) => {
  const { data } = payoutRequested();
  const terms = { ...data.terms, destination };
  expect(() => decodePayoutEvent({ type: 'PayoutRequested', data: { ...data, terms } })).toThrow();
});

test('a field next to the mask that contains the card is dropped', () => {
  const pan = '4627342642639018';
  const mask = { kind: 'card', sanitizedMask: '462734******9018' };
  expect(payoutDestinationSchema.parse({ ...mask, pan, account: pan })).toEqual(mask);
});

test.each([0, -1, 0.5, 2 ** 53, Number.POSITIVE_INFINITY, '1000'])('%j is not an amount', (amount) => {
  const { data } = payoutRequested();
  const terms = { ...data.terms, amount };
  expect(() => decodePayoutEvent({ type: 'PayoutRequested', data: { ...data, terms } })).toThrow();
});

test('the stream of a payout is named by its token', () => {
  fc.assert(fc.property(fc.string(), (token) => tokenOfPayoutStream(payoutStream(token)) === token));
  expect(payoutStream('po_1')).toBe('payout-po_1');
});
