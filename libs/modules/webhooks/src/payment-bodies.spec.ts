import type { PaymentEvent } from '@tollgate/core';
import { happening, requested } from '@tollgate/views/testing';
import { describe, expect, it } from 'vitest';
import { paymentSubject } from './notices.ts';
import { noticesAlong as noticesOfHistory, requestedWithCallback, textsOf } from './testing/subjects.ts';

const url = 'https://shop.example/hook';
const { accepted, pending, held: authorized, approved, declined, failed, captureRefused } = happening;
const { confirming: capturing } = happening;
const { refunding, refundApproved, refundDeclined, refundUnresolved, refundedElsewhere, revised } = happening;

/** The webhooks due for each event of a history. */
const noticesAlong = (events: readonly PaymentEvent[], first: PaymentEvent = requestedWithCallback(url)) =>
  noticesOfHistory(paymentSubject, 'payment-pay_1', [first, ...events]);
const sent = (events: readonly PaymentEvent[]) => textsOf(noticesAlong(events));

/** The provider contradicts itself: another amount is approved. */
const revisedTo = (amount: number): PaymentEvent => ({
  type: 'FinalStatusRevised',
  data: { from: 'approved', to: 'approved', amount },
});

const { disputed, disputeChanged, disputeLost, disputeWon } = happening;
const refundedOutside = (amount: number): PaymentEvent => ({
  type: 'ExternalRefundObserved',
  data: { amount },
});

describe('a team gets a webhook', () => {
  /** The webhooks for the last events of each history. */
  it.each<[string, PaymentEvent[], ...texts: string[][]]>([
    ['for a pending payment', [accepted, pending], [], ['payment pending']],
    [
      'for every change of status',
      [accepted, pending, approved, happening.reviews],
      ['payment approved'],
      [],
    ],
    ['for a failed payment, as declined', [happening.refused, failed], [], ['payment declined']],
    [
      'for an authorization; not for a refused capture',
      [accepted, authorized, capturing, captureRefused],
      ...[[], ['payment pending'], [], []],
    ],
    ['for an authorization, even with the same status', [accepted, pending, authorized], ['payment pending']],
    ['for a revised final status', [accepted, declined, revised], ['payment approved']],
    [
      'for another approved amount, even with the same status',
      [accepted, approved, revisedTo(1_400), revisedTo(1_400)],
      ...[['payment approved'], []],
    ],
    [
      'for each dispute: opened, of another amount, won and lost',
      [accepted, approved, disputed, disputed, disputeChanged, disputeLost, disputeWon],
      ...[['dispute opened'], [], ['dispute opened'], ['dispute lost'], ['dispute won']],
    ],
    [
      'for an external refund only once everything is refunded',
      [accepted, approved, refundedOutside(1_400), refundedOutside(100)],
      ...[[], ['payment refunded']],
    ],
    ['not for a recurring token alone', [accepted, approved, happening.recurringTokenIssued], []],
    [
      'for the outcome of a refund',
      [accepted, approved, refunding, refundUnresolved, refundApproved],
      ...[[], [], ['refund approved']],
    ],
    ['for a declined refund', [accepted, approved, refunding, refundDeclined], ['refund declined']],
    [
      'for the last refund and then for the refunded payment',
      [accepted, approved, refunding, refundedElsewhere, refundApproved],
      ['refund approved', 'payment refunded'],
    ],
  ])('%s', (_rule, history, ...texts) => {
    expect(sent([...history]).slice(-texts.length)).toEqual(texts);
  });

  it('of a dispute about the payment, the amount and the currency', () => {
    const ofPayment = { token: 'dsp_1', type: 'dispute', paymentToken: expect.any(String) as string };
    const body = { ...ofPayment, amount: 600, currency: 'EUR' };
    expect(noticesAlong([accepted, approved, disputed]).at(-1)).toMatchObject([{ body }]);
  });

  it('only if it gave a callbackUrl', () => {
    expect(noticesAlong([accepted, approved], requested()).flat()).toEqual([]);
  });
});

describe('a webhook', () => {
  it("has the fields of the specification's callback, with our token and the team's order number", () => {
    const [notice] = noticesAlong([accepted, approved]).flat();
    expect(notice).toEqual({
      id: expect.stringMatching(/^whk_[0-9a-f]{32}$/),
      environment: 'sandbox',
      team: 'shop',
      url,
      at: 42,
      body: {
        token: 'pay_1',
        type: 'payment',
        status: 'approved',
        orderNumber: 'order-1',
        amount: 1_500,
        currency: 'EUR',
        sanitizedMask: '439296******1251',
        sequence: 2,
        occurredAt: expect.any(String),
      },
    });
  });

  it('has the reason of a decline', () => {
    const [notice] = noticesAlong([accepted, declined]).flat();
    expect(notice?.body).toMatchObject({ status: 'declined', declineReason: 'insufficient funds' });
  });

  it('has the approved amount, or else the requested one', () => {
    const amountsOf = (events: readonly PaymentEvent[]) =>
      noticesAlong(events)
        .flat()
        .map(({ body }) => body.amount);
    expect(amountsOf([accepted, approved, revisedTo(1_400)])).toEqual([1_500, 1_400]);
    expect(amountsOf([accepted, declined, revised])).toEqual([1_500, 1_400]);
    const undone: PaymentEvent = { type: 'FinalStatusRevised', data: { from: 'approved', to: 'declined' } };
    expect(amountsOf([accepted, declined, revised, undone])).toEqual([1_500, 1_400, 1_500]);
  });

  it('has the alias of the recurring token issued by the payment', () => {
    const history = [accepted, approved, happening.recurringTokenIssued, refunding, refundedElsewhere];
    const notices = noticesAlong([...history, refundApproved]).flat();
    expect(notices.map(({ body }) => [`${body.type} ${body.status}`, body.recurringToken])).toEqual([
      ['payment approved', undefined],
      ['refund approved', undefined],
      ['payment refunded', 'rec_1'],
    ]);
  });

  it('does not have the alias that the payment was charged with', () => {
    const first = requestedWithCallback(url, { recurringToken: 'rec_0' });
    expect(noticesAlong([accepted, approved], first).flat()[0]?.body).not.toHaveProperty('recurringToken');
  });

  it("of a refund has its token and amount, and its payment's token", () => {
    const notice = noticesAlong([accepted, approved, refunding, refundApproved]).flat().at(-1);
    expect(notice?.body).toEqual({
      token: 'ref_1',
      paymentToken: 'pay_1',
      type: 'refund',
      status: 'approved',
      orderNumber: 'order-1',
      amount: 500,
      currency: 'EUR',
      sequence: 4,
      occurredAt: expect.any(String),
    });
  });

  it('has null if the payment has no order number', () => {
    const bare = requestedWithCallback(url);
    if (bare.type !== 'PaymentRequested') throw new Error('no request');
    const { orderNumber: _, ...terms } = bare.data.terms;
    const first: PaymentEvent = { ...bare, data: { ...bare.data, terms } };
    expect(noticesAlong([accepted, approved], first).flat()[0]?.body.orderNumber).toBeNull();
  });

  it('is ordered by its sequence, which webhooks of one event share', () => {
    const notices = noticesAlong([
      ...[accepted, pending, approved, refunding, refundedElsewhere, refundApproved],
    ]).flat();
    expect(notices.map(({ body }) => [`${body.type} ${body.status}`, body.sequence])).toEqual([
      ['payment pending', 2],
      ['payment approved', 3],
      ['refund approved', 6],
      ['payment refunded', 6],
    ]);
  });

  it('has the same unique id whenever its event is read', () => {
    const history = [accepted, pending, approved, refunding, refundedElsewhere, refundApproved];
    const [ids, again] = [noticesAlong(history), noticesAlong(history)].map((notices) =>
      notices.flat().map(({ id }) => id),
    );
    expect(again).toEqual(ids);
    expect([ids?.length, new Set(ids).size]).toEqual([4, 4]);
  });
});
