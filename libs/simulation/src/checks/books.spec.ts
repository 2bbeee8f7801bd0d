import type { RecordedEvent } from '@tollgate/event-store';
import { expect, test } from 'vitest';
import { createBooks } from './books.ts';

const stream = 'payment-pay_1';
const attempt = { number: 1, providerOrderNumber: 'pay_1.1' };

/** What the books complain about where absence is believed at `givenUpAt`, milliseconds after the announcement. */
function complaintsWhere({ sentAt, givenUpAt }: { sentAt?: number; givenUpAt: number }): string[] {
  const complaints: string[] = [];
  const books = createBooks((invariant, text) => complaints.push(`${invariant}: ${text}`));
  const record = (revision: number, type: string, data: object, at: number) =>
    books.apply({ stream, type, data, revision } as RecordedEvent, at);
  record(0, 'PaymentRequested', { team: 'shop', terms: { amount: 600 }, attempt }, 0);
  const call = books.byOrderNumber('pay_1.1')?.attempts.get('pay_1.1');
  if (call !== undefined && sentAt !== undefined) call.sentAt = sentAt;
  record(1, 'PaymentFailed', { reason: 'not-found' }, givenUpAt);
  expect(call?.isGivenUp).toBe(true);
  return complaints;
}

test('absence proves nothing shortly after the call was sent', () => {
  expect(complaintsWhere({ sentAt: 2_000, givenUpAt: 21_000 })).toEqual([
    'quiet: pay_1: given up 19000 ms after the call was sent',
  ]);
  expect(complaintsWhere({ sentAt: 1_000, givenUpAt: 21_000 })).toEqual([]);
});

// Seed 17152: a process planned an attempt, slept for 28 s, and appended it when the time to send had passed. It never left, and
// was given up by its own window, 17 s after the append.
test('a call that never left is given up as soon as its window is over', () => {
  expect(complaintsWhere({ givenUpAt: 17_488 })).toEqual([]);
});
