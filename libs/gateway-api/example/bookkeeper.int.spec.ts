import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { exampleOf } from '../src/topics/public-topics.ts';
import { openBookkeeper } from './bookkeeper.ts';
import type { EncodedRecord } from '../src/topics/record-format.ts';

function start() {
  const directory = mkdtempSync(join(tmpdir(), 'bookkeeper-'));
  const bookkeeper = openBookkeeper(join(directory, 'books.db'));
  onTestFinished(() => {
    bookkeeper.close();
    rmSync(directory, { recursive: true });
  });
  return bookkeeper;
}

const approved = exampleOf('tollgate.payment.approved.v1');
const paidOut = exampleOf('tollgate.payout.approved.v1');
const failing: EncodedRecord = {
  ...approved,
  get value(): Uint8Array {
    throw new Error('It fails in this test.');
  },
};

it('a batch that fails halfway books nothing, and is booked when it is delivered again', () => {
  const bookkeeper = start();
  expect(() => bookkeeper.handle([approved, failing])).toThrow('in this test');
  expect(bookkeeper.entries()).toEqual([]);
  bookkeeper.handle([approved, paidOut]);
  expect(bookkeeper.entries().map(({ amount }) => amount)).toEqual([1250, -5000]);
});

it('an event that moves no money is not booked', () => {
  const bookkeeper = start();
  bookkeeper.handle(
    ['payment.requested', 'payout.requested', 'dispute.opened'].map((name) =>
      exampleOf(`tollgate.${name}.v1`),
    ),
  );
  expect([bookkeeper.entries(), bookkeeper.setAsideCount()]).toEqual([[], 0]);
});

/** The example of its type, of this payment and at this place in its history. */
function recordOf(type: string, key: string, sequence: number): EncodedRecord {
  const { headers, value } = exampleOf(type);
  const content = JSON.parse(new TextDecoder().decode(value));
  content.event.sequence = sequence;
  content.payment.token = key;
  return { key, headers, value: new TextEncoder().encode(JSON.stringify(content)) };
}

it('each change is booked once, however often its record is delivered', () => {
  const bookkeeper = start();
  const history = ['requested', 'approved', 'refund-approved'].map((type, sequence) =>
    recordOf(`tollgate.payment.${type}.v1`, 'pay_1', sequence),
  );
  for (const delivered of [history.slice(0, 2), history, history]) bookkeeper.handle(delivered);
  expect(bookkeeper.entries()).toMatchObject([
    { token: 'pay_1', event: 'PaymentApproved', amount: 1250 },
    { token: 'pay_1', event: 'RefundApproved', amount: -250 },
  ]);
});

it('records after an unreadable one are booked, and that one is kept once', () => {
  const bookkeeper = start();
  const damaged = { ...approved, value: new Uint8Array([0xff]) };
  const unknown = { ...damaged, headers: { ce_type: 'tollgate.payment.split.v1' } };
  for (let delivery = 0; delivery < 2; delivery += 1) bookkeeper.handle([damaged, unknown, approved]);
  expect([bookkeeper.entries().length, bookkeeper.setAsideCount()]).toEqual([1, 1]);
});
