/** Webhooks of payouts use the mechanism of payments; shared behavior is in notifier.int.spec.ts. */
import type { EventStore } from '@tollgate/event-store';
import { temporaryStore } from '@tollgate/event-store/testing';
import type { PaymentEvent } from '@tollgate/core';
import { appendEvents, appendPayment, happening, payoutHappening } from '@tollgate/views/testing';
import { eventually } from '@tollgate/testing';
import { describe, expect, it } from 'vitest';
import { startReceiver } from './testing/receiver.ts';
import { webhooksOf, pay, start, statesOf, sentTo } from './testing/running.ts';
import { payoutWithCallback, requestedWithCallback } from './testing/subjects.ts';

async function given() {
  return { store: await temporaryStore(), receiver: await startReceiver() };
}

it('without a checkpoint, webhooks for the past of a store are sent: they may never have been', async () => {
  const { store, receiver } = await given();
  await pay(store, receiver);
  const { accepted, approved } = payoutHappening;
  await appendEvents(store, 'payout-po_1', [payoutWithCallback(receiver.url), accepted, approved]);
  start(store);
  await eventually(() => expect(sentTo(receiver).sort()).toEqual(['payment pending', 'payout approved']));
});

describe('a recurring token', () => {
  const first = (url: string) => requestedWithCallback(url, { recurring: true });
  const bodiesOf = async (store: EventStore) => (await webhooksOf(store)).map(({ body }) => body);

  it('is sent with its approval, although it is recorded later', async () => {
    const { store, receiver } = await given();
    start(store);
    await appendPayment(store, 'pay_1', [first(receiver.url), happening.accepted]);
    await appendPayment(store, 'pay_1', [
      ...[happening.approved, happening.reviews],
      happening.recurringTokenIssued,
    ]);
    await eventually(async () => expect(await statesOf(store)).toEqual(['delivered']));
    expect(receiver.received[0]?.body).toMatchObject({ status: 'approved', recurringToken: 'rec_1' });
  });

  it('that never arrives does not hold up the approval', async () => {
    const { store, receiver } = await given();
    start(store);
    await appendPayment(store, 'pay_1', [first(receiver.url), happening.accepted, happening.approved]);
    await eventually(async () => expect(await statesOf(store)).toEqual(['delivered']));
    expect((await bodiesOf(store))[0]).not.toHaveProperty('recurringToken');
  });

  it('whose record is damaged does not prevent the webhook of the approval', async () => {
    const { store, receiver } = await given();
    const damaged = { type: 'RecurringTokenIssued', data: { recurringToken: 7 } } as unknown as PaymentEvent;
    await appendPayment(store, 'pay_1', [
      ...[first(receiver.url), happening.accepted, happening.approved],
      damaged,
    ]);
    start(store);
    await pay(store, receiver, { token: 'pay_2' });
    await eventually(() => expect(receiver.received).toHaveLength(2));
    expect(await bodiesOf(store)).toMatchObject([{ status: 'approved' }]);
  });
});
