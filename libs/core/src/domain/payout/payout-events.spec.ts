import { expect, test } from 'vitest';
import { payoutRequested } from '../testing/payout-samples.ts';
import { decodePayoutEvent, payoutDestinationSchema } from './payout-events.ts';

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
