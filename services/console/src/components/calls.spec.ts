import { expect, it } from 'vitest';
import { callbacksIn, callsIn } from './calls.ts';

const at = (second: number) => `2030-01-01T12:00:0${second}.000Z`;
const event = (type: string, second: number, data: Record<string, unknown> = {}) => ({
  type,
  at: at(second),
  data,
});

const call = (operation: string, number: number, announced: number, sendBy: number) => ({
  operation,
  number,
  announcedAt: at(announced),
  sendBy: at(sendBy),
  isUnresolved: false,
});

it('a call spans from its announcement to its outcome, including one found by an inquiry', () => {
  const calls = callsIn([
    event('PaymentRequested', 0, { attempt: { sendBy: at(5) } }),
    event('AttemptUnresolved', 1),
    event('AttemptNotFound', 2),
    event('AttemptStarted', 2, { attempt: { sendBy: at(7) } }),
    event('AttemptAccepted', 3),
    event('PaymentAuthorized', 4),
    event('CaptureSubmitted', 5, { sendBy: at(9) }),
    event('PaymentApproved', 6),
    event('RefundSubmitted', 7, { sendBy: at(9) }),
  ]);
  expect(calls).toEqual([
    { ...call('authorize', 1, 0, 5), isUnresolved: true, outcome: 'not found', settledAt: at(2) },
    { ...call('authorize', 2, 2, 7), outcome: 'accepted', settledAt: at(3) },
    { ...call('capture', 1, 5, 9), outcome: 'accepted', settledAt: at(6) },
    call('refund', 1, 7, 9),
  ]);
});

it('an approval on the page of the Payment Service is not the outcome of a capture', () => {
  const events = [event('PaymentRequested', 0), event('AttemptAccepted', 1), event('PaymentApproved', 2)];
  expect(callsIn(events)).toMatchObject([{ operation: 'authorize', outcome: 'accepted', settledAt: at(1) }]);
});

it('a callback is shown once, with the events it caused, and no other cause counts as one', () => {
  const caused = (type: string, second: number, causationId: string) => ({
    ...event(type, second),
    cause: { causationId },
  });
  const place = 'provider.callbacks.v1/1/7';
  const marks = callbacksIn([
    caused('PaymentRequested', 0, 'req_1'),
    caused('PaymentApproved', 1, place),
    caused('RecurringTokenIssued', 1, place),
    caused('FinalStatusRevised', 3, 'provider.callbacks.v1/1/9'),
  ]);
  expect(marks).toEqual([
    { place, at: at(1), led: ['PaymentApproved', 'RecurringTokenIssued'] },
    { place: 'provider.callbacks.v1/1/9', at: at(3), led: ['FinalStatusRevised'] },
  ]);
});
