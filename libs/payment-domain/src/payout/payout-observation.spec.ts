import { scenario } from '@tollgate/testing';
import { describe, expect, test } from 'vitest';
import {
  observedPayout,
  payoutAfter,
  payoutCall,
  payoutHistoryTo,
  payoutReviewOpened,
  payoutReviewResolved,
  payoutSampleEvents,
} from '../../testing/payout-samples.ts';
import {
  accepted,
  afterAnswer,
  afterQuiet,
  beforeQuiet,
  callbackInquired,
  defer,
  deferred,
  disagreement,
  duringCall,
  inquired,
  missing,
  noOutcome,
  payoutDomain,
  retrieved,
  retrievedLater,
  revised,
  second,
  unknownStatus,
} from '../../testing/payout-story.ts';
import type { InquiryFailure } from '../failed-inquiry.ts';
import type { PayoutInput } from './payout-commands.ts';
import { decidePayout } from './payout-decide.ts';
import type { PayoutEvent } from './payout-events.ts';
import { payoutPhases } from './payout-machine.ts';
import { mayBePaidOut } from './payout-observation.ts';
import { payoutResolutionsOf } from './payout-resolutions.ts';

const { given } = scenario(payoutDomain);
const { requested, unresolved, pending, approved, declined, failed } = payoutHistoryTo;

// As a payment: what another installation had paid out under the same number was taken for ours.
describe('a payout under our number that was made before the call was announced', () => {
  const old = observedPayout('approved', { createdAt: payoutCall.sendBy - 300_001 });

  test('is not taken over: a review shows it', () => {
    given(unresolved)
      .when(inquired([old], beforeQuiet))
      .thenNothing();
    given(unresolved)
      .when(inquired([old]))
      .then([
        payoutReviewOpened('payout_not_found', {
          ...{ providerOrderNumber: 'po_1.1', observedServiceToken: 'token-a' },
          ...{ observedCreatedAt: payoutCall.sendBy - 300_001, hasOurCallback: null },
        }),
      ]);
    given(unresolved)
      .when(retrieved(old))
      .then([second('token-a', 'approved', null)]);
  });

  test('does not keep ours from being found', () =>
    given(unresolved)
      .when(inquired([old, observedPayout('approved', { serviceToken: 'token-b' })]))
      .then([
        accepted('inquiry', 'token-b'),
        payoutSampleEvents.PayoutApproved,
        second('token-a', 'approved', 'token-b'),
      ]));

  test('is not taken for a failed one of ours either', () => {
    for (const input of [inquired([old]), retrieved(old)])
      given(failed)
        .when(input)
        .then([second('token-a', 'approved', null)]);
  });
});

describe('a retrieval', () => {
  test('of an awaited payout under our own number counts as an inquiry', () => {
    given(unresolved)
      .when(retrieved(observedPayout('approved')))
      .then([accepted('inquiry'), payoutSampleEvents.PayoutApproved]);
    given(requested)
      .when(retrieved(observedPayout('pending'), afterAnswer))
      .then([noOutcome, accepted('inquiry')]);
  });

  test('of an awaited payout while the answer may still come changes nothing', () =>
    given(requested)
      .when(retrieved(observedPayout('approved'), duringCall))
      .thenNothing());

  test('without a number changes nothing about an awaited payout', () => {
    const { orderNumber: _, ...observed } = observedPayout('approved');
    given(unresolved).when(retrieved(observed)).thenNothing();
  });

  test('of another order while ours is awaited opens a review', () =>
    given(unresolved)
      .when(retrieved(observedPayout('approved', { orderNumber: 'po_2.1' })))
      .then([second('token-a', 'approved', null)]));

  test('shows what has become of it', () => {
    given(pending)
      .when(retrieved(observedPayout('approved')))
      .then([payoutSampleEvents.PayoutApproved]);
    given(pending)
      .when(retrieved(observedPayout('declined', { declineReason: 'do_not_honor' })))
      .then([payoutSampleEvents.PayoutDeclined]);
  });

  test.each([
    ['pending', pending],
    ['approved', approved],
    ['declined', declined],
  ] as const)('that shows no change writes nothing: %s', (status, history) =>
    given(history)
      .when(retrieved(observedPayout(status)))
      .thenNothing(),
  );

  test('of the time before it was decided does not take the decision back', () => {
    given(approved)
      .when(retrieved(observedPayout('pending')))
      .thenNothing();
    given(declined)
      .when(retrieved(observedPayout('pending')))
      .thenNothing();
  });

  test('that contradicts a final status is recorded as a revision and opens a review', () => {
    given(approved)
      .when(retrieved(observedPayout('declined', { declineReason: 'account_closed' })))
      .then(revised('approved', 'declined', { declineReason: 'account_closed' }));
    given(declined)
      .when(retrieved(observedPayout('approved')))
      .then(revised('declined', 'approved'));
  });

  test('that contradicts it again opens another review, even if one like it was acknowledged', () => {
    const history = [
      ...approved,
      ...revised('approved', 'declined'),
      payoutReviewResolved('final_status_revised', 'acknowledged', 'seen'),
      ...revised('declined', 'approved'),
      payoutReviewResolved('final_status_revised', 'acknowledged', 'seen', 2),
    ];
    given(history)
      .when(retrieved(observedPayout('declined')))
      .then(revised('approved', 'declined'));
  });

  test.each([{ amount: 999 }, { currency: 'USD' }, { orderNumber: 'po_2.1' }])(
    'with another amount or currency opens a review and takes no status: %j',
    (changes) => {
      const observed = observedPayout('approved', changes);
      given(pending)
        .when(retrieved(observed))
        .then([disagreement(observed)]);
      given(declined)
        .when(retrieved(observed))
        .then([disagreement(observed)]);
    },
  );

  test('with another token opens a review', () =>
    given(approved)
      .when(retrieved(observedPayout('approved', { serviceToken: 'token-b' })))
      .then([second('token-b', 'approved', 'token-a')]));

  test('with an unknown status opens a review', () =>
    given(pending)
      .when(retrieved(observedPayout('refunded')))
      .then([unknownStatus('refunded')]));
});

// A payout that a person had resolved as undone went out after all, and no review was opened.
test('a payout resolved as undone that the service still has is a revision and opens a review', () => {
  const history: PayoutEvent[] = [
    ...pending,
    { type: 'PayoutDeclined', data: { declineReason: 'resolved_by_a_person' } },
  ];
  for (const status of ['pending', 'approved'] as const)
    given(history)
      .when(retrieved(observedPayout(status)))
      .then(revised('declined', status));
  given(history)
    .when(retrieved(observedPayout('declined')))
    .thenNothing();
  const again = payoutAfter([...history, ...revised('declined', 'pending')]);
  expect(again.phase).toBe('pending');
  expect(again.declineReason).toBeUndefined();
});

test.each([
  ['terms_disagree', 'approved', true],
  ['terms_disagree', 'pending', true],
  ['unknown_status', 'processing', true],
  ['second_payout_found', undefined, true],
  ['terms_disagree', 'declined', false],
  ['second_payout_found', 'declined', false],
  ['service_not_readable', 'approved', false],
] as const)(
  'a review %s of what is shown as %s says that it may be paid out: %s',
  (code, observedStatus, may) => {
    const [opened] = [payoutReviewOpened(code, observedStatus === undefined ? {} : { observedStatus })];
    expect(mayBePaidOut(payoutAfter([...declined, opened]))).toBe(may);
    expect(mayBePaidOut(payoutAfter([...declined, payoutReviewOpened('only_here'), opened]))).toBe(may);
    expect(mayBePaidOut(payoutAfter(declined))).toBe(false);
  },
);

// A bank declined it, and took it up again: it stayed declined, nothing was held, no inquiry was due after a month, and its team was told to
// pay it again. What was in doubt about it had even ended by that.
describe('a payout that is under way at the service after it has ended', () => {
  const again = observedPayout('pending');
  const unknown = unknownStatus('processing');
  const over = payoutReviewResolved('unknown_status', 'found', 'the service reported it later');
  const openAgain = payoutReviewOpened('final_status_revised', {
    ...{ from: 'approved', to: 'pending', serviceToken: 'token-a' },
  });

  test.each([approved, declined])(
    'may be an older picture, which says nothing about doubts (%#)',
    (...history) =>
      given([...history, unknown])
        .when(retrieved(again, afterQuiet, afterQuiet - 30 * 60_000 + 1))
        .thenNothing(),
  );

  test('is pending half an hour after it was declined', () => {
    given(declined).when(retrievedLater(again)).then(revised('declined', 'pending'));
    given([...declined, unknown])
      .when(retrievedLater(again))
      .then([...revised('declined', 'pending'), over]);
    const pendingAgain = [...declined, ...revised('declined', 'pending')];
    expect(payoutAfter(pendingAgain)).toMatchObject({ phase: 'pending', serviceToken: 'token-a' });
    given(pendingAgain).when(retrievedLater(again)).thenNothing();
    given(pendingAgain)
      .when(retrieved(observedPayout('approved')))
      .then([{ type: 'PayoutApproved', data: {} }]);
  });

  test('is in review half an hour after it was approved, until it is shown so again', () => {
    given(approved).when(retrievedLater(again)).then([openAgain]);
    given([...approved, openAgain])
      .when(retrievedLater(again))
      .thenNothing();
    given([...approved, openAgain])
      .when(retrieved(observedPayout('approved')))
      .then([payoutReviewResolved('final_status_revised', 'found', 'the service reported it later')]);
    const acknowledged = [
      ...[...approved, openAgain],
      payoutReviewResolved('final_status_revised', 'acknowledged', 'asked the bank'),
    ];
    given(acknowledged).when(retrievedLater(again)).thenNothing();
  });

  test('is in review also where one about its being declined before is open', () => {
    const approvedAfterAll: PayoutEvent[] = [
      ...[...declined, ...revised('declined', 'pending')],
      { type: 'PayoutApproved', data: {} },
    ];
    given(approvedAfterAll).when(retrievedLater(again)).then([openAgain]);
    given([...approvedAfterAll, openAgain])
      .when(retrieved(observedPayout('approved')))
      .then([payoutReviewResolved('final_status_revised', 'found', 'the service reported it later', 2)]);
  });

  test('is declined after that by a revision', () => {
    given([...approved, openAgain])
      .when(retrieved(observedPayout('declined')))
      .then([
        revised('approved', 'declined')[0]!,
        payoutReviewResolved('final_status_revised', 'superseded', 'the service showed something else'),
        revised('approved', 'declined')[1]!,
      ]);
  });

  test('is in doubt with another amount', () =>
    given(declined)
      .when(retrievedLater({ ...again, amount: 900 }))
      .then([disagreement({ ...again, amount: 900 })]));
});

test('no more than ten second payouts open a review', () => {
  const others = Array.from({ length: 12 }, (_, index) =>
    observedPayout('approved', { serviceToken: `token-${index}` }),
  );
  const decision = decidePayout(payoutAfter(approved), inquired(others));
  expect(decision).toMatchObject({ events: { length: 10 } });
});

describe('the service does not know the payout that it accepted', () => {
  test.each([pending, approved, declined])('a review is opened (%#)', (...history) =>
    given(history)
      .when(missing())
      .then([payoutReviewOpened('only_here', { serviceToken: 'token-a' })]),
  );

  test('or one that is not ours changes nothing', () => {
    given(pending).when(missing('token-b')).thenNothing();
    given(unresolved).when(missing()).thenNothing();
    given(failed).when(missing()).thenNothing();
  });
});

test.each(payoutPhases)('a callback is deferred in phase %s, once, and opens no review', (phase) => {
  given(payoutHistoryTo[phase]).when(defer()).then([deferred()]);
  given([...payoutHistoryTo[phase], deferred()])
    .when(defer())
    .thenNothing();
});

describe('a deferred callback that names what it is about', () => {
  const both = [...pending, deferred('token-b'), deferred('token-a')];

  test('is one of its own', () => {
    given([...pending, deferred('token-a')])
      .when(defer('token-b'))
      .then([deferred('token-b')]);
    given(both).when(defer('token-b')).thenNothing();
  });

  test('ends with an inquiry about just that', () => {
    given(both)
      .when(retrieved(observedPayout('pending')))
      .then([callbackInquired('token-a')]);
    given(both)
      .when({ type: 'RecordCallbackInquired', serviceToken: 'token-b' })
      .then([callbackInquired('token-b')]);
    given([...unresolved, deferred('token-a')])
      .when(inquired([observedPayout('pending')]))
      .then([accepted('inquiry'), callbackInquired('token-a')]);
  });

  test('ends also where the service does not show our own payout any more', () =>
    given([...both, deferred()])
      .when(missing())
      .then([
        payoutReviewOpened('only_here', { serviceToken: 'token-a' }),
        callbackInquired('token-a'),
        callbackInquired(),
      ]));

  test('ends where what it names is known as a second payout', () =>
    given(both)
      .when(retrieved(observedPayout('approved', { serviceToken: 'token-b' })))
      .then([second('token-b', 'approved', 'token-a'), callbackInquired('token-b')]));
});

describe('an inquiry that failed', () => {
  const failedInquiry = (reason: InquiryFailure, failedAt = 0): PayoutInput => ({
    ...{ type: 'RecordInquiryFailed', account: 'main' },
    reason,
    failedAt,
  });
  const unreadable = (reason: InquiryFailure) =>
    payoutReviewOpened('service_not_readable', { reason, account: 'main' });

  test.each(['account_missing', 'refused'] as const)('as %s opens a review at once', (reason) => {
    for (const history of [requested, unresolved, pending])
      given(history)
        .when(failedInquiry(reason))
        .then([unreadable(reason)]);
    for (const history of [approved, declined, failed])
      given(history).when(failedInquiry(reason)).thenNothing();
  });

  test.each([
    ['an hour', unresolved, 3_600_000],
    ['a day', pending, 86_400_000],
    // Since the callback was deferred, though the payout is final.
    ['an hour', [...approved, deferred()], 3_600_000],
  ] as const)('without an answer opens a review after %s', (_, history, patienceMs) => {
    given(history)
      .when(failedInquiry('no_answer', afterQuiet + patienceMs - 1))
      .thenNothing();
    given(history)
      .when(failedInquiry('no_answer', afterQuiet + patienceMs))
      .then([unreadable('no_answer')]);
  });

  test('is over with the next one that is answered', () => {
    const over = payoutReviewResolved('service_not_readable', 'retrieved', 'the service was asked later');
    const of = (history: readonly PayoutEvent[]) => [...history, unreadable('refused')];
    given(of(unresolved)).when(inquired([], beforeQuiet)).then([over]);
    given(of(pending))
      .when(retrieved(observedPayout('pending')))
      .then([over]);
    given(of(pending)).when(missing('token-b')).then([over]);
  });
});

// One that was in doubt was in no review any more once another one under its number was taken for ours.
describe('two under the number of a payout that has failed', () => {
  const after = (history: readonly PayoutEvent[], shown: Parameters<typeof retrieved>[0]) => {
    const decision = decidePayout(payoutAfter([...history]), retrieved(shown));
    return [...history, ...(decision.kind === 'events' ? decision.events : [])];
  };
  const frozen = after(failed, observedPayout('frozen', { serviceToken: 'token-b' }));
  const asSecond = {
    code: 'second_payout_found',
    evidence: { serviceToken: 'token-b', observedStatus: 'frozen' },
  };

  test.each(['pending', 'approved'])(
    'what is in doubt is beside the one that is ours, which is %s',
    (status) => {
      const taken = after(frozen, observedPayout(status));
      expect(payoutAfter(taken)).toMatchObject({ serviceToken: 'token-a', phase: status });
      expect(payoutAfter(taken).reviews).toMatchObject([{ code: 'final_status_revised' }, asSecond]);
      // Asked about the other one, a person could call ours not made.
      for (const review of payoutAfter(taken).reviews)
        expect(payoutResolutionsOf(payoutAfter(taken), review)).toEqual(['acknowledged']);
      expect(after(taken, observedPayout(status))).toEqual(taken);
    },
  );

  test('of what was shown of the other one, the latest status counts, and the largest amount', () => {
    const shown = [
      observedPayout('approved', { serviceToken: 'token-b', amount: 900 }),
      observedPayout('frozen', { serviceToken: 'token-b', amount: 5_000 }),
    ];
    const taken = after(shown.reduce(after, failed), observedPayout('approved'));
    expect(payoutAfter([...taken]).reviews).toMatchObject([
      { code: 'final_status_revised' },
      { code: 'second_payout_found', evidence: { observedStatus: 'frozen', observedAmount: 5_000 } },
    ]);
  });

  test('neither ends what is in doubt about the other, nor takes its place', () => {
    for (const status of ['frozen', 'declined'])
      expect(payoutAfter(after(frozen, observedPayout(status))).reviews).toMatchObject([
        { code: 'unknown_status', evidence: { observedServiceToken: 'token-b' } },
        ...(status === 'frozen' ? [{ code: 'unknown_status' }] : []),
      ]);
  });
});

// It was held at the amount that it was first seen with.
test('a second payout that grows is in review with what it is now', () => {
  const first = second('token-b', 'approved', 'token-a');
  const grown = observedPayout('approved', { serviceToken: 'token-b', amount: 1_100 });
  given([...approved, first])
    .when(retrieved(grown))
    .then([
      payoutReviewResolved('second_payout_found', 'superseded', 'the service showed something else'),
      {
        ...first,
        data: { ...first.data, evidence: expect.objectContaining({ observedAmount: 1_100 }) },
      } as PayoutEvent,
    ]);
  const smaller = observedPayout('approved', { serviceToken: 'token-b', amount: 900 });
  given([...approved, first])
    .when(retrieved(smaller))
    .thenNothing();
});
