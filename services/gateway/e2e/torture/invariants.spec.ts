import { describe, expect, it } from 'vitest';
import type { Ledger } from '../ledger.ts';
import { type Operation, differences, endsOfServices, overRefunded, twice } from './invariants.ts';

const there = { token: 's1', orderNumber: 'pay_1.1', status: 'approved', amount: 100, refundedAmount: 30 };
const refund = { token: 'r1', paymentToken: 's1', amount: 30, status: 'approved' };
const ledger = (more: Partial<Ledger> = {}): Ledger => ({
  ...{ payments: [there], refunds: [refund], payouts: [], callbacks: [], calls: [] },
  ...more,
});
const shown = (more: Partial<Operation> = {}): Operation => ({
  ...{ kind: 'payment', token: 'pay_1', status: 'approved', phase: 'approved', amount: 100, heldAmount: 0 },
  ...{ approvedAmount: 100, refundedAmount: 30, refunds: [], reviews: [] },
  ...more,
});
const wrong = (more: Partial<Operation>) => differences([shown(more)], ledger()).length;

it('gateway and ledger agree, or a person is asked', () => {
  expect(wrong({})).toBe(0);
  expect([
    wrong({ refundedAmount: 0 }),
    wrong({ status: 'declined' }),
    wrong({ phase: 'unresolved' }),
  ]).toEqual([1, 1, 1]);
  expect(wrong({ refunds: [{ token: 'ref_1', amount: 5, phase: 'unresolved' }] })).toBe(1);
  expect(wrong({ status: 'declined', reviews: [{ code: 'terms_disagree', evidence: {} }] })).toBe(0);
  const declined = shown({ status: 'declined', phase: 'declined', refundedAmount: 0 });
  expect(differences([declined], ledger({ payments: [] }))).toEqual([]);
});

it('a payout is at the service as it is shown, and declined where it is not there', () => {
  const payout = (status: string) => shown({ kind: 'payout', token: 'po_1', status, phase: status });
  const made = ledger({ payouts: [{ token: 'p1', orderNumber: 'po_1.1', amount: 7, status: 'approved' }] });
  expect(differences([payout('approved')], made)).toEqual([]);
  expect(differences([payout('declined')], made)).toHaveLength(1);
  expect(differences([payout('approved')], ledger())).toHaveLength(1);
});

it('nobody is charged or paid twice', () => {
  expect(twice(ledger())).toEqual([]);
  expect(twice(ledger({ payments: [there, { ...there, orderNumber: 'pay_1.2' }] }))).toEqual(['pay_1']);
  const declined = { ...there, orderNumber: 'pay_1.2', status: 'declined' };
  expect(twice(ledger({ payments: [there, declined] }))).toEqual([]);
});

it('no more is refunded than was paid', () => {
  expect(overRefunded(ledger())).toEqual([]);
  expect(overRefunded(ledger({ refunds: [refund, { ...refund, amount: 71 }] }))).toEqual(['pay_1.1']);
  const declined = { ...refund, amount: 71, status: 'declined' };
  expect(overRefunded(ledger({ refunds: [refund, declined] }))).toEqual([]);
});

describe('what ended by itself', () => {
  const ready = (label: string) =>
    `[${label}] projector: ready at http://127.0.0.1:1, metrics at http://127.0.0.1:2`;
  const ended = (label: string, how: string) => `${label} has ended (${how}); it is started again in 250 ms`;
  const endsAfter = (...lines: string[]) => endsOfServices(lines.join('\n'));

  it('had served, and was killed by nobody', () => {
    expect(endsAfter(ready('projector-2'), ended('projector-2', 'exit code 70'))).toEqual([
      'projector-2: exit code 70',
    ]);
    expect(endsAfter(ready('projector-1'), ended('projector-1', 'SIGKILL'))).toEqual([]);
  });

  // A notifier that was killed while EventStoreDB was away ended its start with a sentence, and torture called it broken.
  it('is no start that fails while the store is away', () => {
    const killed = [ready('notifier-2'), ended('notifier-2', 'SIGKILL')];
    const refused = ['[notifier-2] The event store did not confirm.', ended('notifier-2', 'exit code 1')];
    expect(endsAfter(...killed, ...refused, ready('notifier-2'))).toEqual([]);
    expect(endsAfter(ready('notifier-1'), ...killed, ...refused)).toEqual([]);
  });
});
