import { scenario } from '@tollgate/testing';
import { describe, expect, test } from 'vitest';
import {
  observedPayout,
  payoutAfter,
  payoutHistoryTo,
  payoutReviewOpened,
  payoutReviewResolved,
  payoutSampleEvents,
  refusalError,
} from '../../testing/payout-samples.ts';
import {
  accepted,
  answered,
  beforeQuiet,
  callbackInquired,
  deferred,
  disagreement,
  duringCall,
  failedBecause,
  inquired,
  payoutDomain,
  refused,
  retrieved,
  revised,
  second,
} from '../../testing/payout-story.ts';
import { resolvedByAPerson } from '../review.ts';
import type { PayoutInput } from './payout-commands.ts';
import { decidePayout } from './payout-decide.ts';
import { mayBePaidOut } from './payout-observation.ts';
import { versionOfPayoutEvent, type PayoutReviewCode, type PayoutEvent } from './payout-events.ts';

const { given } = scenario(payoutDomain);
const { requested, unresolved, pending, approved, declined, failed } = payoutHistoryTo;

const resolve = (
  code: PayoutReviewCode,
  resolution: Extract<PayoutInput, { type: 'ResolveReview' }>['resolution'],
  number = 1,
): PayoutInput => ({
  type: 'ResolveReview',
  code,
  number,
  resolution,
  reason: 'asked the bank',
});
const said = (
  code: PayoutReviewCode,
  resolution: string,
  number = 1,
  reason = 'asked the bank',
): PayoutEvent => ({ type: 'ReviewResolved', data: { code, number, resolution, reason } });

describe('a review is resolved by what is found out', () => {
  const notFound = payoutReviewOpened('payout_not_found');
  const foundOut = (code: PayoutReviewCode) =>
    payoutReviewResolved(code, 'found', 'the service reported it later');
  const known = payoutReviewResolved('payout_not_found', 'found', 'what became of it is known by now');

  test('a payout that was not found and answers late', () =>
    given([...unresolved, notFound])
      .when(answered('pending'))
      .then([accepted('answer'), known]));

  test('a payout that was not found and is refused late', () =>
    given([...unresolved, notFound])
      .when(refused)
      .then([{ type: 'PayoutRefused', data: { errors: [refusalError] } }, failedBecause('refused'), known]));

  test('a payout that is found later', () =>
    given([...unresolved, notFound])
      .when(inquired([observedPayout('approved')]))
      .then([accepted('inquiry'), payoutSampleEvents.PayoutApproved, known]));

  test('a payout that is still not found stays under review', () =>
    given([...unresolved, notFound])
      .when(inquired([]))
      .thenNothing());

  test.each(['only_here', 'terms_disagree', 'unknown_status'] as const)(
    '%s, once it is shown as it should',
    (code) => {
      given([...pending, payoutReviewOpened(code)])
        .when(retrieved(observedPayout('approved')))
        .then([payoutSampleEvents.PayoutApproved, foundOut(code)]);
      given([...approved, payoutReviewOpened(code)])
        .when(retrieved(observedPayout('approved')))
        .then([foundOut(code)]);
    },
  );

  test.each(['second_payout_found', 'final_status_revised'] as const)(
    'but not %s, which a person must resolve',
    (code) =>
      given([...pending, payoutReviewOpened(code)])
        .when(retrieved(observedPayout('pending')))
        .thenNothing(),
  );

  test.each([
    ['a payout that the service has', pending, retrieved(observedPayout('pending'))],
    ['a final one', approved, retrieved(observedPayout('approved'))],
    ['one that is inquired', unresolved, inquired([], beforeQuiet)],
    ['a failed one', failed, inquired([])],
  ] as const)('a deferred callback ends with an inquiry about %s', (_, history, command) =>
    given([...history, deferred()])
      .when(command)
      .then([callbackInquired()]),
  );

  test('a deferred callback does not end with inquiries without a result', () => {
    const open = deferred();
    given([...requested, open])
      .when(inquired([], duringCall))
      .thenNothing();
    given([...pending, open])
      .when(inquired([observedPayout('approved')]))
      .thenNothing();
    const other = observedPayout('approved', { serviceToken: 'token-b' });
    given([...pending, open, second('token-b', 'approved', 'token-a')])
      .when(retrieved(other))
      .thenNothing();
  });
});

describe('what a person resolves', () => {
  test('ends only when a second person agrees, where it takes two', () => {
    const answer = resolve('payout_not_found', 'payout_not_made');
    const by = (name: string, history: readonly PayoutEvent[]) =>
      decidePayout(payoutAfter(history), { ...answer, proposer: { name, at: 5 } } as PayoutInput);
    const history = [...unresolved, payoutReviewOpened('payout_not_found')];
    const proposed: PayoutEvent = {
      type: 'ReviewResolutionProposed',
      data: {
        ...{ code: 'payout_not_found', number: 1, resolution: 'payout_not_made', reason: 'asked the bank' },
        ...{ proposedBy: 'ada', proposedAt: 5 },
      },
    };
    expect(by('ada', history)).toEqual({ kind: 'events', events: [proposed] });
    expect(by('ada', [...history, proposed])).toEqual({ kind: 'events', events: [] });
    expect(by('bob', [...history, proposed])).toEqual({
      kind: 'events',
      events: [said('payout_not_found', 'payout_not_made'), failedBecause('resolved')],
    });
  });

  test('must be there', () => {
    given([]).when(resolve('payout_not_found', 'inquire_again')).thenRefused('payout_not_found');
    given(unresolved).when(resolve('payout_not_found', 'inquire_again')).thenRefused('review_not_found');
  });

  const always = ['inquire_again', 'acknowledged'];
  test.each([
    ['final_status_revised', approved, ['acknowledged']],
    ['payout_not_found', unresolved, ['inquire_again', 'payout_not_made']],
    ['second_payout_found', pending, ['acknowledged']],
    ['only_here', approved, always],
    ['only_here', pending, [...always, 'payout_not_made']],
    ['terms_disagree', declined, always],
    ['terms_disagree', unresolved, always],
    ['terms_disagree', pending, [...always, 'payout_not_made']],
    ['service_not_readable', pending, always],
    ['unknown_status', pending, [...always, 'payout_not_made']],
    ['unknown_status', declined, always],
  ] as const)('%s (%#) has its ways out, and no others', (code, history, allowed) => {
    const open = [...history, payoutReviewOpened(code)];
    for (const resolution of [
      ...(['acknowledged', 'inquire_again', 'payout_not_made', 'payment_not_made'] as const),
      ...(['refund_made', 'refund_not_made'] as const),
    ]) {
      const decision = decidePayout(payoutAfter(open), resolve(code, resolution));
      if (allowed.includes(resolution as never)) expect(decision).toMatchObject({ kind: 'events' });
      else
        expect(decision).toEqual({ kind: 'refused', refusal: { code: 'resolution_not_allowed', allowed } });
    }
  });

  test('is the one of this code and this number', () => {
    const both = [...approved, payoutReviewOpened('second_payout_found', { serviceToken: 'token-b' })];
    const history = [...both, payoutReviewOpened('second_payout_found', { serviceToken: 'token-c' })];
    given(history)
      .when(resolve('second_payout_found', 'acknowledged', 2))
      .then([said('second_payout_found', 'acknowledged', 2)]);
    given(history)
      .when(resolve('second_payout_found', 'acknowledged', 3))
      .thenRefused('review_not_found');
    given(history)
      .when(resolve('unknown_status', 'acknowledged', 1))
      .thenRefused('review_not_found');
  });

  test('is recorded with the reason', () =>
    given([...approved, payoutReviewOpened('terms_disagree')])
      .when(resolve('terms_disagree', 'acknowledged'))
      .then([said('terms_disagree', 'acknowledged')]));

  test('a payout that was never made has failed', () =>
    given([...unresolved, payoutReviewOpened('payout_not_found')])
      .when(resolve('payout_not_found', 'payout_not_made'))
      .then([said('payout_not_found', 'payout_not_made'), failedBecause('resolved')]));

  test('a payout that was never made is not asked about any more', () =>
    given([...unresolved, payoutReviewOpened('service_not_readable'), payoutReviewOpened('payout_not_found')])
      .when(resolve('payout_not_found', 'payout_not_made', 2))
      .then([
        said('payout_not_found', 'payout_not_made', 2),
        failedBecause('resolved'),
        payoutReviewResolved('service_not_readable', 'found', 'what became of it is known by now'),
      ]));

  test('a payout that the service had and undid is declined', () =>
    given([...pending, payoutReviewOpened('only_here')])
      .when(resolve('only_here', 'payout_not_made'))
      .then([
        said('only_here', 'payout_not_made'),
        { type: 'PayoutDeclined', data: { declineReason: 'resolved_by_a_person' } },
      ]));

  test('inquired again without result, it opens another review', () =>
    given([
      ...unresolved,
      payoutReviewOpened('payout_not_found'),
      payoutReviewResolved('payout_not_found', 'inquire_again', 'x'),
    ])
      .when(inquired([]))
      .then([payoutReviewOpened('payout_not_found', { providerOrderNumber: 'po_1.1' })]));

  // What may have gone out was held no longer from the answer on, however long the inquiry after it took.
  test.each(['terms_disagree', 'unknown_status'] as const)(
    'inquired again, %s stays in review until the service has answered',
    (code) => {
      const evidence = { observedStatus: 'approved', observedAmount: 900 };
      given([...failed, payoutReviewOpened(code, evidence)])
        .when(resolve(code, 'inquire_again'))
        .then([said(code, 'inquire_again'), payoutReviewOpened(code, evidence)]);
    },
  );

  test('a status that nobody knows is in review once, however long its name', () => {
    const shown = retrieved({ ...observedPayout('pending'), status: 'processing'.repeat(50) });
    const decision = decidePayout(payoutAfter(pending), shown);
    expect(decision).toMatchObject({
      events: [
        { type: 'ReviewOpened', data: { evidence: { observedAmount: 1000, observedCurrency: 'EUR' } } },
      ],
    });
    const history = [...pending, ...(decision.kind === 'events' ? decision.events : [])];
    given(history).when(shown).thenNothing();
  });

  test('acknowledged, the same finding opens no further review, and another one does', () => {
    const known = observedPayout('approved', { amount: 999 });
    const history = [
      ...pending,
      disagreement(known),
      payoutReviewResolved('terms_disagree', 'acknowledged', 'seen'),
    ];
    given(history).when(retrieved(known)).thenNothing();
    const other = observedPayout('declined', { amount: 999 });
    given(history)
      .when(retrieved(other))
      .then([
        said('terms_disagree', 'superseded', 1, 'the service showed something else'),
        disagreement(other),
      ]);
    given([
      ...approved,
      second('token-b', 'approved', 'token-a'),
      payoutReviewResolved('second_payout_found', 'acknowledged', 'x'),
    ])
      .when(retrieved(observedPayout('declined', { serviceToken: 'token-b' })))
      .thenNothing();
  });
});

// Its money had come back, a person said so, and its bank paid it once more: nobody was asked, and its team was told to pay it again.
test('what was acknowledged is new where something else was shown between', () => {
  const [out, back] = (['approved', 'declined'] as const).map((status) =>
    observedPayout(status, { amount: 999 }),
  );
  const answeredOnce = (history: readonly PayoutEvent[], shown: typeof out, ...last: PayoutEvent[]) => {
    const decision = decidePayout(payoutAfter([...history]), retrieved(shown!));
    return [...history, ...(decision.kind === 'events' ? decision.events : []), ...last];
  };
  const undone = [
    said('terms_disagree', 'payout_not_made'),
    { type: 'PayoutDeclined', data: { declineReason: resolvedByAPerson } } as const,
  ];
  const seenBack = answeredOnce(
    answeredOnce(pending, out, ...undone),
    back,
    said('terms_disagree', 'acknowledged', 2),
  );
  given(seenBack).when(retrieved(back!)).thenNothing();
  const again = payoutAfter(answeredOnce(seenBack, out));
  expect(again.reviews).toMatchObject([{ code: 'terms_disagree', evidence: { observedStatus: 'approved' } }]);
  expect(mayBePaidOut(again)).toBe(true);
});

// Nothing was taken over from what had another amount, and no resolution could: a payout of 900 that was paid out stayed
// pending for ever, with 1000 reserved, or was resolved as not made, and what had gone out counted nowhere.
describe('a payout that the service shows with another amount', () => {
  const shows = (amount: number, status = 'approved') => retrieved(observedPayout(status, { amount }));
  const decided = (history: readonly PayoutEvent[], input: PayoutInput): PayoutEvent[] => {
    const decision = decidePayout(payoutAfter(history), input);
    return decision.kind === 'events' ? [...decision.events] : [];
  };
  const disagreeing = [...pending, ...decided(pending, shows(900))];
  const answer = resolve('terms_disagree', 'observed_terms_apply');
  const applied = [...disagreeing, said('terms_disagree', 'observed_terms_apply')];

  test('is of that amount once a person says so; its status follows by the next inquiry', () => {
    given(disagreeing)
      .when(answer)
      .then([said('terms_disagree', 'observed_terms_apply')]);
    expect(payoutAfter(applied)).toMatchObject({ phase: 'pending', terms: { amount: 900 }, reviews: [] });
    given(applied).when(shows(900)).then([payoutSampleEvents.PayoutApproved]);
  });

  test('opens another review where it shows yet another one by then', () =>
    given(applied)
      .when(shows(800))
      .then([
        payoutReviewOpened('terms_disagree', {
          ...(disagreement(observedPayout('approved', { amount: 800 })).data as { evidence: object })
            .evidence,
          amount: 900,
        }),
      ]));

  test('that was final under the amount that was asked for is of that amount, and stays final', () => {
    const history = [...approved, ...decided(approved, shows(900))];
    expect(payoutAfter([...history, ...decided(history, answer)])).toMatchObject({
      ...{ phase: 'approved', terms: { amount: 900 } },
      reviews: [],
    });
  });

  test('that a person had resolved as not made is revised once it is paid out after all', () => {
    const asPending = retrieved(observedPayout('pending', { amount: 900 }));
    const doubted = [...pending, ...decided(pending, asPending)];
    const unmade = [...doubted, ...decided(doubted, resolve('terms_disagree', 'payout_not_made'))];
    expect(payoutAfter(unmade)).toMatchObject({ phase: 'declined', reviews: [] });
    const shown = [...unmade, ...decided(unmade, shows(900))];
    expect(decided(shown, resolve('terms_disagree', 'observed_terms_apply', 2))).toMatchObject([
      { type: 'ReviewResolved' },
      { type: 'FinalStatusRevised', data: { from: 'declined', to: 'approved' } },
      { type: 'ReviewOpened', data: { code: 'final_status_revised' } },
    ]);
  });

  // Its answer was lost, a person resolved it as not made, and then it was there: 900 were out, and counted nowhere.
  // Until an inquiry had answered after that, which may take an hour, it was failed and nothing in review: nothing was held, and its
  // team was told to send another one.
  test.each(['approved', 'pending'] as const)('that had failed is revised by the answer (%s)', (status) => {
    const found = inquired([observedPayout(status, { amount: 900 })]);
    const gone = [...unresolved, payoutReviewOpened('payout_not_found')];
    const given = [...gone, ...decided(gone, resolve('payout_not_found', 'payout_not_made'))];
    expect(payoutAfter(given).phase).toBe('failed');
    const shown = [...given, ...decided(given, found)];
    const of900 = [...shown, ...decided(shown, resolve('terms_disagree', 'observed_terms_apply', 2))];
    expect(of900.slice(shown.length)).toMatchObject([
      { type: 'ReviewResolved' },
      { type: 'FinalStatusRevised', data: { from: 'declined', to: status, serviceToken: 'token-a' } },
      { type: 'ReviewOpened', data: { code: 'final_status_revised' } },
    ]);
    expect(payoutAfter(of900)).toMatchObject({ phase: status, terms: { amount: 900 } });
    expect(decided(of900, found)).toEqual([]);
  });

  test('that was declined stays so where it was shown declined', () => {
    const history = [...declined, ...decided(declined, shows(900, 'declined'))];
    given(history)
      .when(answer)
      .then([said('terms_disagree', 'observed_terms_apply')]);
  });

  // It stayed declined, nothing was held, and its team was told to pay it again.
  test('that was declined is pending where it was shown so', () => {
    const history = [...declined, ...decided(declined, shows(900, 'pending'))];
    given(history)
      .when(answer)
      .then([said('terms_disagree', 'observed_terms_apply'), ...revised('declined', 'pending')]);
    expect(payoutAfter([...history, ...decided(history, answer)]).terms.amount).toBe(900);
  });

  // Shown as declined first, it held nothing and its team was told to send another one, for as long as nobody answered.
  test('opens a review anew when it shows something else', () => {
    const before = retrieved(observedPayout('declined', { amount: 900 }));
    const history = [...failed, ...decided(failed, before)];
    given(history).when(before).thenNothing();
    given(history)
      .when(shows(900))
      .then([
        said('terms_disagree', 'superseded', 1, 'the service showed something else'),
        disagreement(observedPayout('approved', { amount: 900 })),
      ]);
  });

  test('is asked about once, however often and in whichever order it and another one are shown', () => {
    const [one, other] = ['token-a', 'token-b'].map((serviceToken, index) =>
      observedPayout('approved', { amount: 900 - index, serviceToken }),
    ) as [ReturnType<typeof observedPayout>, ReturnType<typeof observedPayout>];
    const shown = [retrieved(other), inquired([one, other]), retrieved(other), inquired([other, one])];
    const history = shown.reduce<PayoutEvent[]>((all, each) => [...all, ...decided(all, each)], [...failed]);
    expect(
      payoutAfter(history)
        .reviews.map(({ code }) => code)
        .sort(),
    ).toEqual(['second_payout_found', 'terms_disagree']);
    for (const each of [...shown, retrieved(one)]) given(history).when(each).thenNothing();
  });

  test.each<[string, Record<string, string | number | null>]>([
    ['another currency', { observedAmount: 900, observedCurrency: 'USD' }],
    ['another number', { observedAmount: 900, observedOrderNumber: 'po_2.1' }],
    ['a payout beside it', { observedAmount: 900, observedServiceToken: 'token-b' }],
    ['no amount', {}],
    ['an amount that is none', { observedAmount: 0.5 }],
    ['the amount that was asked for', { observedAmount: 1000 }],
  ])('stays what it is where the evidence has %s', (_, evidence) => {
    given([...pending, payoutReviewOpened('terms_disagree', evidence)])
      .when(answer)
      .thenRefused('resolution_not_allowed');
  });

  test('is nothing that a release before reads past', () => {
    const versions = applied.map((event) => versionOfPayoutEvent(event as never));
    expect(versions).toEqual([...disagreeing.map(() => 1), 2]);
    expect(versionOfPayoutEvent(said('terms_disagree', 'acknowledged') as never)).toBe(1);
  });
});
