import type { PayoutEvent } from '@tollgate/core';
import { payoutApprovalRequested, payoutHappening, payoutRequested } from '@tollgate/views/testing';
import { describe, expect, it } from 'vitest';
import { payoutSubject } from './notices.ts';
import { noticesAlong as noticesOfHistory, payoutWithCallback, textsOf } from './testing/subjects.ts';

const url = 'https://shop.example/hook';
const { accepted, approved, declined, refused, unresolved, failed, revised, reviews } = payoutHappening;
const revisedTo = (from: 'approved' | 'declined', to: 'pending' | 'declined'): PayoutEvent => ({
  type: 'FinalStatusRevised',
  data: { from, to, serviceToken: 'service-token' },
});

/** The webhooks due for each event of a history. */
const noticesAlong = (events: readonly PayoutEvent[], first: PayoutEvent = payoutWithCallback(url)) =>
  noticesOfHistory(payoutSubject, 'payout-po_1', [first, ...events]);
const sent = (events: readonly PayoutEvent[]) => textsOf(noticesAlong(events));

describe('a team gets a webhook about its payout', () => {
  it('for every change of status, but not for its creation', () => {
    expect(sent([unresolved, reviews, accepted, approved, reviews])).toEqual([
      ...[[], [], [], []],
      ['payout approved'],
      [],
    ]);
    expect(sent([accepted, declined]).at(-1)).toEqual(['payout declined']);
  });

  it('for its approval by a second key, as pending, and for the refusal', () => {
    const { approvalGranted, approvalRefused } = payoutHappening;
    const asked = payoutApprovalRequested();
    const { terms } = payoutWithCallback(url).data as { terms: object };
    const waiting = { ...asked, data: { ...asked.data, terms } } as PayoutEvent;
    const statusesAlong = (events: readonly PayoutEvent[]) =>
      noticesAlong(events, waiting).map((notices) => notices.map(({ body }) => body.status));
    expect(statusesAlong([approvalGranted])).toEqual([[], ['pending']]);
    expect(statusesAlong([approvalRefused, failed])).toEqual([[], [], ['declined']]);
  });

  it('for a failure, as declined', () => {
    expect(sent([refused, failed])).toEqual([[], [], ['payout declined']]);
  });

  it('for a revised final status, including back to pending', () => {
    expect(sent([accepted, declined, revised]).at(-1)).toEqual(['payout approved']);
    expect(sent([accepted, approved, revisedTo('approved', 'declined')]).at(-1)).toEqual(['payout declined']);
    expect(sent([refused, failed, revisedTo('declined', 'pending')]).at(-1)).toEqual(['payout pending']);
  });

  it('only if it gave a callbackUrl', () => {
    expect(noticesAlong([accepted, approved], payoutRequested()).flat()).toEqual([]);
  });
});

describe('a webhook of a payout', () => {
  it("has our token, the team's order number, and nothing of the destination", () => {
    expect(noticesAlong([accepted, approved]).flat()).toEqual([
      {
        id: expect.stringMatching(/^whk_[0-9a-f]{32}$/),
        environment: 'sandbox',
        team: 'shop',
        url,
        at: 42,
        body: {
          token: 'po_1',
          type: 'payout',
          status: 'approved',
          orderNumber: 'P-1',
          amount: 300,
          currency: 'EUR',
          sequence: 2,
          occurredAt: expect.any(String),
        },
      },
    ]);
  });

  it('has the decline reason, and no longer once that was revised', () => {
    const [first, second] = noticesAlong([accepted, declined, revised]).flat();
    expect(first?.body).toMatchObject({ status: 'declined', declineReason: 'card_declined' });
    expect(second?.body).not.toHaveProperty('declineReason');
  });

  // The last webhook had 300, and the payout was of 100: the API and the topic contradicted it.
  it('for an amount other than reported, once it is approved', () => {
    const shown = {
      status: 'approved',
      amount: 100,
      currency: 'EUR',
      refundedAmount: null,
      authorizedAmount: null,
      orderNumber: null,
    };
    const of100: PayoutEvent[] = [
      {
        type: 'ReviewOpened',
        data: {
          code: 'discrepancy',
          evidence: { observedAmount: 100 },
          discrepancy: {
            kind: 'terms_disagree',
            operation: 'payout',
            serviceToken: accepted.data.serviceToken,
            ours: { ...shown, amount: 300 },
            theirs: shown,
          },
        },
      },
      {
        type: 'ReviewResolved',
        data: { code: 'discrepancy', number: 1, resolution: 'accept_theirs', reason: 'their list' },
      },
    ];
    const amountsAlong = (events: readonly PayoutEvent[]) =>
      noticesAlong(events).map((notices) => notices.map(({ body }) => [body.status, body.amount]));
    expect(amountsAlong([accepted, approved, ...of100]).slice(2)).toEqual([
      [['approved', 300]],
      [],
      [['approved', 100]],
    ]);
    expect(amountsAlong([accepted, ...of100, approved]).flat()).toEqual([['approved', 100]]);
  });
});
