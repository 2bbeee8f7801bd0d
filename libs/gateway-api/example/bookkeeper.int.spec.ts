import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { exampleOf } from '../src/topics/public-topics.ts';
import type { EncodedRecord } from '@tollgate/core';
import { openBookkeeper } from './bookkeeper.ts';

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
