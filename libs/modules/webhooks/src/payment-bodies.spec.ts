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

describe('a team gets a webhook', () => {
  it('for every change of status, and for nothing else', () => {
    expect(sent([accepted, pending, approved, happening.reviews])).toEqual([
      [],
      [],
      ['payment pending'],
      ['payment approved'],
      [],
    ]);
  });

  it('for a failed payment, as declined', () => {
    expect(sent([happening.refused, failed])).toEqual([[], [], ['payment declined']]);
  });

  it('for an authorization, even with the same status; not for a refused capture', () => {
    expect(sent([accepted, authorized, capturing, captureRefused])).toEqual([
      [],
      [],
      ['payment pending'],
      [],
      [],
    ]);
    expect(sent([accepted, pending, authorized]).at(-1)).toEqual(['payment pending']);
  });

  it('for a revised final status', () => {
    expect(sent([accepted, declined, revised]).at(-1)).toEqual(['payment approved']);
  });

  it('for another approved amount, even with the same status', () => {
    const changed = revisedTo(1_400);
    expect(sent([accepted, approved, changed, changed]).slice(-2)).toEqual([['payment approved'], []]);
  });

  it('for each dispute: opened, of another amount, won and lost', () => {
    const { disputed, disputeChanged, disputeLost, disputeWon } = happening;
    const history = [accepted, approved, disputed, disputed, disputeChanged, disputeLost, disputeWon];
    expect(sent(history).slice(3)).toEqual([
      ['dispute opened'],
      [],
      ['dispute opened'],
      ['dispute lost'],
      ['dispute won'],
    ]);
    expect(noticesAlong([accepted, approved, disputed]).at(-1)).toMatchObject([
      {
        body: {
          token: 'dsp_1',
          type: 'dispute',
          paymentToken: expect.any(String),
          amount: 600,
          currency: 'EUR',
        },
      },
    ]);
  });

  it('for an external refund only once everything is refunded', () => {
    const elsewhere = (amount: number): PaymentEvent => ({
      type: 'ExternalRefundObserved',
      data: { amount },
    });
    expect(sent([accepted, approved, elsewhere(1_400), elsewhere(100)]).slice(-2)).toEqual([
      [],
      ['payment refunded'],
    ]);
  });

  it('not for a recurring token alone', () => {
    expect(sent([accepted, approved, happening.recurringTokenIssued]).at(-1)).toEqual([]);
  });

  it('for the outcome of each refund', () => {
    expect(sent([accepted, approved, refunding, refundUnresolved, refundApproved]).slice(-3)).toEqual([
      [],
      [],
      ['refund approved'],
    ]);
    expect(sent([accepted, approved, refunding, refundDeclined]).at(-1)).toEqual(['refund declined']);
  });

  it('for the last refund and then for the refunded payment', () => {
    const history = [accepted, approved, refunding, refundedElsewhere, refundApproved];
    expect(sent(history).at(-1)).toEqual(['refund approved', 'payment refunded']);
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
    const ids = noticesAlong(history)
      .flat()
      .map(({ id }) => id);
    expect(
      noticesAlong(history)
        .flat()
        .map(({ id }) => id),
    ).toEqual(ids);
    expect(ids).toHaveLength(4);
    expect(new Set(ids).size).toBe(ids.length);
  });
});
