/** Inquiries about payouts: which of the provider's records is ours, which is a duplicate, and what a review shows. */
import { scenario } from '@tollgate/testing';
import { describe, expect, it } from 'vitest';
import { observedPayout, payoutAfter, payoutHistoryTo, refusalError } from '../testing/payout-samples.ts';
import {
  accepted,
  afterQuiet,
  answered,
  callbackInquired,
  deferred,
  differs,
  duringCall,
  failedBecause,
  inquired,
  missing,
  noOutcome,
  payoutDomain,
  resolvedAs,
  retrieved,
  second,
  withoutReason,
} from '../testing/payout-story.ts';
import { resolvedByAPerson } from '../review.ts';
import type { PayoutEvent } from './payout-events.ts';
import { mayBePaidOut } from './payout-observation.ts';

const { given } = scenario({ ...payoutDomain, againGives: () => 'nothing' as const });
const { requested, unresolved, pending, approved, declined, failed } = payoutHistoryTo;
const another = (status: string, changes: Parameters<typeof observedPayout>[1] = {}) =>
  observedPayout(status, { serviceToken: 'token-b', ...changes });
/** The announcement is at 100,000, and the clocks may differ by minutes. */
const longBefore = -1_000_000;
const approval: PayoutEvent = { type: 'PayoutApproved', data: {} };
const notFound = (evidence: object): PayoutEvent => ({
  type: 'ReviewOpened',
  data: { code: 'payout_not_found', evidence: { providerOrderNumber: 'po_1.1', ...evidence } },
});

describe('a search by the number of a payout', () => {
  it('of an unresolved one finds ours, and records the others as duplicates', () => {
    for (const found of [
      [observedPayout('approved'), another('approved')],
      [another('approved', { amount: 900 }), observedPayout('approved')],
      [another('declined'), observedPayout('approved')],
      [another('pending'), observedPayout('approved')],
    ]) {
      const { orderNumber: _, ...second } = found.find(({ serviceToken }) => serviceToken === 'token-b')!;
      const duplicate = differs('second_payout_found', null, { ...second, orderNumber: 'po_1.1' });
      given(unresolved)
        .when(inquired(found))
        .then([accepted('inquiry'), approval, ...(second.status === 'declined' ? [] : [duplicate])]);
    }
  });

  it('prefers our terms to a payout that was made, and one that is open to a declined one', () => {
    given(unresolved)
      .when(inquired([another('approved', { currency: 'USD' }), observedPayout('declined')]))
      .then([
        accepted('inquiry'),
        withoutReason,
        differs('second_payout_found', null, another('approved', { currency: 'USD' })),
      ]);
    given(unresolved)
      .when(inquired([another('declined'), observedPayout('pending')]))
      .then([accepted('inquiry')]);
  });

  it('finds none that was made before the announcement, or with callbacks elsewhere', () => {
    for (const changes of [{ createdAt: longBefore }, { hasOurCallback: false }]) {
      given(pending)
        .when(inquired([observedPayout('pending'), another('approved', changes)]))
        .then([second('token-b', 'approved')]);
      const found = observedPayout('approved', changes);
      const evidence = {
        observedServiceToken: 'token-a',
        observedCreatedAt: found.createdAt ?? null,
        hasOurCallback: found.hasOurCallback ?? null,
      };
      const events = payoutDomain.decide(payoutAfter(unresolved), inquired([found]));
      expect(events).toMatchObject({ events: expect.arrayContaining([notFound(evidence)]) });
    }
  });

  it('shows the order of another number in the review, and confirms no refusal by it', () => {
    const stranger = another('approved', { orderNumber: 'po_2.1' });
    const evidence = { observedServiceToken: 'token-b', observedCreatedAt: null, hasOurCallback: null };
    given(unresolved)
      .when(inquired([stranger]))
      .then([notFound(evidence)]);
    const refused: PayoutEvent = {
      type: 'PayoutUnresolved',
      data: { reason: 'refused', errors: [refusalError] },
    };
    given([...requested, refused])
      .when(inquired([stranger]))
      .then([notFound(evidence)]);
  });

  it('of one whose outcome is known records only the others', () => {
    given(approved)
      .when(inquired([observedPayout('declined'), another('approved')]))
      .then([second('token-b', 'approved')]);
  });

  it('proves nothing while the answer may arrive, not even a duplicate', () => {
    given(requested)
      .when(inquired([observedPayout('approved'), another('approved')], duringCall))
      .thenNothing();
  });

  it('ends the callbacks that it answers', () => {
    given([...approved, deferred('token-a'), deferred('token-c')])
      .when(inquired([]))
      .then([callbackInquired('token-a')]);
    given([...failed, deferred('token-b')])
      .when(inquired([another('declined')]))
      .then([callbackInquired('token-b')]);
    given([...unresolved, deferred('token-a')])
      .when(inquired([observedPayout('pending')]))
      .then([accepted('inquiry'), callbackInquired('token-a')]);
  });
});

describe('a retrieval by the token in a callback', () => {
  it('of an awaited payout is its outcome', () => {
    given([...unresolved, deferred('token-a')])
      .when(retrieved(observedPayout('approved')))
      .then([accepted('inquiry'), approval, callbackInquired('token-a')]);
    given(requested)
      .when(retrieved(observedPayout('pending')))
      .then([noOutcome, accepted('inquiry')]);
  });

  it('proves nothing while the answer may arrive, or without an order number', () => {
    given(requested)
      .when(retrieved(observedPayout('approved'), duringCall))
      .thenNothing();
    const { orderNumber: _, ...unnamed } = observedPayout('approved');
    given(unresolved).when(retrieved(unnamed)).thenNothing();
  });

  it('is a duplicate if another call made it', () => {
    for (const changes of [{ orderNumber: 'po_2.1' }, { createdAt: longBefore }])
      given([...unresolved, deferred('token-b')])
        .when(retrieved(another('approved', changes)))
        .then([
          differs('second_payout_found', null, { ...another('approved'), ...changes }),
          callbackInquired('token-b'),
        ]);
    given([...approved, deferred('token-b')])
      .when(retrieved(another('approved')))
      .then([second('token-b', 'approved'), callbackInquired('token-b')]);
  });
});

describe('a late answer', () => {
  it('with another token is a duplicate', () => {
    const { orderNumber: _, ...unnamed } = another('approved');
    given(pending)
      .when(answered('approved', { serviceToken: 'token-b' }))
      .then([differs('second_payout_found', null, unnamed)]);
  });

  it('to a payout that failed here is a revision', () => {
    const [revised] = [payoutDomain.decide(payoutAfter(failed), answered('approved'))];
    expect(revised).toMatchObject({
      events: [{ type: 'ReviewOpened', data: { evidence: { kind: 'final_status_revised' } } }],
    });
  });
});

describe('before its announcement', () => {
  it('nothing at the provider is the effect of a payout, whatever it shows', () => {
    for (const history of [payoutHistoryTo.awaiting_approval, payoutHistoryTo.approval_granted])
      for (const input of [
        inquired([observedPayout('odd')]),
        inquired([observedPayout('approved', { amount: 900 }), another('approved')]),
        retrieved(observedPayout('approved', { amount: 900 })),
        answered('approved', { amount: 900 }),
      ])
        given(history).when(input).thenNothing();
  });
});

describe('a payout is missing at the provider', () => {
  it('only under its own token, and until a person has accepted that', () => {
    given(approved).when(missing('token-z')).thenNothing();
    const accepted: PayoutEvent = {
      type: 'FinalStatusRevised',
      data: { from: 'approved', to: 'declined', declineReason: resolvedByAPerson },
    };
    given([...approved, accepted])
      .when(missing())
      .thenNothing();
  });
});

describe('a payout that was never pending by our record', () => {
  it('differs as soon as the provider shows it pending', () => {
    const notMade = [...unresolved, failedBecause('resolved')];
    const byAPerson: PayoutEvent = { type: 'PayoutDeclined', data: { declineReason: resolvedByAPerson } };
    for (const history of [notMade, [...pending, byAPerson]])
      given(history)
        .when(retrieved(observedPayout('pending')))
        .then([differs('final_status_revised', 'declined', observedPayout('pending'))]);
    given(declined)
      .when(retrieved(observedPayout('pending')))
      .thenNothing();
  });
});

it('other money is not ours: another amount, currency or number', () => {
  for (const changes of [{ amount: 900 }, { currency: 'USD' }, { orderNumber: 'po_2.1' }])
    given(pending)
      .when(retrieved(observedPayout('approved', changes), afterQuiet))
      .then([differs('terms_disagree', 'pending', observedPayout('approved', changes))]);
});

it('a payout may be paid out while a record at the provider is open and not declined', () => {
  const mayBe = (...more: PayoutEvent[]) => mayBePaidOut(payoutAfter([...approved, ...more]));
  const declinedThere = differs('final_status_revised', 'approved', observedPayout('declined'));
  const onlyHere = differs('only_here', 'approved', null);
  expect(mayBe()).toBe(false);
  expect(mayBe(second('token-b', 'approved'))).toBe(true);
  expect(mayBe(second('token-b', 'approved'), declinedThere)).toBe(true);
  expect(mayBe(second('token-b', 'approved'), resolvedAs('keep_ours'))).toBe(false);
  expect(mayBe(declinedThere)).toBe(false);
  expect(mayBe(onlyHere)).toBe(false);
});
