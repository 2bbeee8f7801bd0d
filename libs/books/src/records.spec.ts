import { expect, it } from 'vitest';
import type { DisputeEvent } from './dispute.ts';
import { evolveDisputeAggregate, evolveTransferAggregate, evolveUnmatchedAggregate } from './records.ts';
import type { TransferEvent } from './transfer.ts';
import type { UnmatchedEvent } from './unmatched.ts';

/** The event of this revision, one second after the previous one. */
const at = <Event>(event: Event, revision: number) => ({
  token: 'tok_1',
  event,
  revision,
  position: String(revision),
  recordedAt: 1_000 * (revision + 1),
});

it('a dispute has the times and positions of its first and latest event', () => {
  const opened: DisputeEvent = {
    type: 'DisputeOpened',
    data: {
      environment: 'sandbox',
      account: 'main',
      id: 'd-1',
      amount: 5,
      currency: 'EUR',
      status: 'open',
      state: 'open',
    },
  };
  const changed: DisputeEvent = { type: 'DisputeChanged', data: { status: 'lost' } };
  const first = evolveDisputeAggregate(undefined, at(opened, 0));
  expect(evolveDisputeAggregate(first, at(changed, 1))).toEqual({
    token: 'tok_1',
    createdAt: 1_000,
    updatedAt: 2_000,
    revision: 1,
    position: '1',
    dispute: { ...opened.data, status: 'lost' },
  });
  expect(() => evolveDisputeAggregate(first, at(changed, 2))).toThrow('events are missing before this one');
});

it('a transfer happens once', () => {
  const transfer = {
    environment: 'sandbox',
    account: 'main',
    currency: 'EUR',
    amount: 5,
    from: 'team-shop',
    to: 'provider',
    reason: 'fees',
  } as const;
  const made: TransferEvent = { type: 'WalletTransferred', data: transfer };
  const aggregate = evolveTransferAggregate(undefined, at(made, 0));
  expect(aggregate).toMatchObject({ createdAt: 1_000, revision: 0, transfer });
  expect(() => evolveTransferAggregate(aggregate, at(made, 1))).toThrow(
    'money was transferred a second time',
  );
});

it('an unmatched operation has the opening time of its review', () => {
  const observed: UnmatchedEvent = {
    type: 'UnmatchedObserved',
    data: {
      environment: 'sandbox',
      account: 'main',
      operation: 'payment',
      serviceToken: 's-1',
      status: 'approved',
      amount: 900,
      refundedAmount: 0,
      currency: 'EUR',
    },
  };
  const opened: UnmatchedEvent = { type: 'ReviewOpened', data: { code: 'discrepancy', evidence: {} } };
  const events = [observed, opened, observed];
  const after = events.reduce<ReturnType<typeof evolveUnmatchedAggregate> | undefined>(
    (before, event, revision) => evolveUnmatchedAggregate(before, at(event, revision)),
    undefined,
  );
  expect(after).toMatchObject({ createdAt: 1_000, updatedAt: 3_000, revision: 2, reviewsSince: [2_000] });
  expect(after?.unmatched).toMatchObject({ amount: 900, reviews: [{ number: 1 }] });
});
