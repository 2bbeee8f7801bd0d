import { scenario } from '@tollgate/testing';
import { describe, expect, test } from 'vitest';
import {
  observedPayout,
  payoutAfter,
  payoutApprovalRequested,
  payoutCall,
  payoutHistoryTo,
  payoutRequested,
  requestPayout,
} from '../../testing/payout-samples.ts';
import {
  answered,
  defer,
  inquired,
  missing,
  payoutDomain,
  retrieved,
  second,
} from '../../testing/payout-story.ts';
import { approvalLastsMs } from './payout-approval.ts';
import type { AskPayoutApproval, ObservedPayout, PayoutInput } from './payout-commands.ts';
import type { PayoutEvent } from './payout-events.ts';
import type { Evidence } from '../review.ts';
import { payoutPhases } from './payout-machine.ts';
import { inquiryNeedOfPayout, isPayoutAwaited, payoutCallAnnouncedBy } from './payout-state.ts';

const { given } = scenario({ ...payoutDomain, againGives: () => 'nothing' as const });
const { awaiting_approval: awaiting, approval_granted: granted } = payoutHistoryTo;

const eventsOf = (history: readonly PayoutEvent[], input: PayoutInput): readonly PayoutEvent[] => {
  const decision = payoutDomain.decide(payoutAfter(history), input);
  return decision.kind === 'events' ? decision.events : [];
};

const askedAt = 50_000;
const lapsesAt = askedAt + approvalLastsMs;
const ask = (changes: Partial<AskPayoutApproval> = {}): AskPayoutApproval => {
  const { type: _, call, requestedAt: __, ...request } = requestPayout();
  const { account, providerOrderNumber } = call;
  return {
    ...request,
    type: 'AskPayoutApproval',
    account,
    providerOrderNumber,
    askedBy: 'key-1',
    askedAt,
    ...changes,
  };
};
const grant = (keyId = 'key-2', at = 60_000): PayoutInput => ({ type: 'GrantPayout', keyId, at });
const refuse = (keyId = 'key-2', at = 60_000, found?: readonly ObservedPayout[]): PayoutInput => ({
  ...{ type: 'RefusePayout', keyId, reason: 'not ours', at, found },
});
const lapse = (at: number, found: readonly ObservedPayout[] | undefined = []): PayoutInput => ({
  ...{ type: 'RecordApprovalLapsed', at, found },
});
const failed = (reason: 'approval-refused' | 'approval-lapsed'): PayoutEvent => ({
  type: 'PayoutFailed',
  data: { reason },
});
const wasGranted = (at = 60_000): PayoutEvent => ({
  type: 'PayoutApprovalGranted',
  data: { grantedBy: 'key-2', lapsesAt: at + approvalLastsMs },
});
const wasRefused: PayoutEvent[] = [
  { type: 'PayoutApprovalRefused', data: { refusedBy: 'key-2', reason: 'not ours' } },
  failed('approval-refused'),
];

describe('a payout that a second key must approve', () => {
  test('is recorded without a call, and lapses after a day', () => {
    given([])
      .when(ask())
      .then([payoutApprovalRequested(lapsesAt)]);
    expect(payoutCallAnnouncedBy(awaiting, payoutAfter(awaiting))).toBeUndefined();
    expect(isPayoutAwaited(payoutAfter(awaiting))).toBe(false);
    expect(inquiryNeedOfPayout(payoutAfter(awaiting))).toBe('open');
  });

  test.each(payoutPhases)('that is asked for again is what it is, in phase %s', (phase) => {
    given(payoutHistoryTo[phase]).when(ask()).thenNothing();
    given(payoutHistoryTo[phase])
      .when(ask({ fingerprint: 'other' }))
      .thenRefused('idempotency_key_reused');
  });

  test('is approved by another key, once, and waits to be sent', () => {
    given(awaiting).when(grant()).then([wasGranted()]);
    given(granted).when(grant()).thenNothing();
    given(granted).when(grant('key-3')).thenRefused('payout_not_awaiting_approval');
  });

  test.each([grant('key-1'), refuse('key-1')])('is never decided by the key that asked: $type', (command) => {
    given(awaiting).when(command).thenRefused('approval_by_requester');
    given(granted).when(command).thenRefused('approval_by_requester');
  });

  test.each(['awaiting_approval', 'approval_granted'] as const)(
    'is refused by another key in phase %s',
    (phase) => given(payoutHistoryTo[phase]).when(refuse()).then(wasRefused),
  );

  test.each(payoutPhases.filter((phase) => phase !== 'awaiting_approval' && phase !== 'approval_granted'))(
    'is not decided where none was asked for, in phase %s',
    (phase) => {
      given(payoutHistoryTo[phase]).when(grant()).thenRefused('payout_not_awaiting_approval');
      given(payoutHistoryTo[phase]).when(refuse()).thenRefused('payout_not_awaiting_approval');
    },
  );

  test('is not decided when it was sent, nor one that there is not', () => {
    const sent = [...granted, payoutRequested()];
    given(sent).when(grant()).thenNothing();
    given(sent).when(grant('key-3')).thenRefused('payout_not_awaiting_approval');
    given(sent).when(refuse()).thenRefused('payout_not_awaiting_approval');
    given([]).when(grant()).thenRefused('payout_not_found');
    given([]).when(refuse()).thenRefused('payout_not_found');
  });

  test('that was refused stays so', () => {
    given([...awaiting, ...wasRefused])
      .when(refuse())
      .thenNothing();
    given([...awaiting, ...wasRefused])
      .when(grant())
      .thenRefused('payout_not_awaiting_approval');
    given([...granted, ...wasRefused])
      .when(grant())
      .thenRefused('payout_not_awaiting_approval');
    given([...awaiting, ...wasRefused])
      .when(requestPayout())
      .thenNothing();
  });
});

describe('the request that is repeated', () => {
  test('sends nothing before the approval', () => given(awaiting).when(requestPayout()).thenNothing());

  test('announces the call of an approved payout, once', () => {
    given(granted).when(requestPayout()).then([payoutRequested()]);
    const events = [payoutRequested()];
    expect(payoutCallAnnouncedBy(events, payoutAfter([...granted, ...events]))).toMatchObject({
      account: 'main',
    });
    given([...granted, ...events])
      .when(requestPayout())
      .thenNothing();
  });

  test('announces it through no other account than that which has its money', () =>
    given(granted)
      .when(requestPayout({ call: { ...payoutCall, account: 'other' } }))
      .thenNothing());

  test('announces nothing that nobody may send any more', () => {
    given(granted)
      .when(requestPayout({ requestedAt: 86_459_999 }))
      .then([payoutRequested()]);
    given(granted)
      .when(requestPayout({ requestedAt: 86_460_000 }))
      .thenNothing();
  });
});

describe('time', () => {
  test('ends what nobody approved, or sent', () => {
    given(awaiting).when(lapse(86_449_999)).thenNothing();
    given(awaiting)
      .when(lapse(86_450_000))
      .then([failed('approval-lapsed')]);
    given(granted)
      .when(lapse(86_460_000))
      .then([failed('approval-lapsed')]);
    given(payoutHistoryTo.unresolved).when(lapse(1e12)).thenNothing();
  });

  // Its team would be told that nothing was sent, and to send a new request.
  test('ends nothing while the service gives no answer to whether it was paid out', () =>
    given(granted).when({ type: 'RecordApprovalLapsed', at: 1e12 }).thenNothing());

  test('is not passed by a late approval; a late refusal ends what has not lapsed', () => {
    given(awaiting).when(grant('key-2', 86_450_000)).thenRefused('payout_not_awaiting_approval');
    // Where the service never answered, nothing else would end it.
    given(awaiting).when(refuse('key-2', 86_450_000)).then(wasRefused);
  });
});

test.each([answered('approved'), inquired([observedPayout('approved')]), missing()])(
  'what is shown under its number while nothing is announced is none of ours: $type',
  (fact) => {
    given(awaiting).when(fact).thenNothing();
    given(granted).when(fact).thenNothing();
  },
);

// The simulation, seed 5161 of the world with backups: what was approved and paid behind the backup waited for its approval once more,
// and would have been paid a second time.
describe('what was paid out under its number', () => {
  const found = second('token-a', 'approved', null);
  const seen = (history: readonly PayoutEvent[]) => [...history, found];
  const resolved = (resolution: string, reason: string): PayoutEvent => ({
    type: 'ReviewResolved',
    data: { code: 'second_payout_found', number: 1, resolution, reason },
  });
  const foundToBe = resolved('found', 'what became of it is known by now');
  const superseded = resolved('superseded', 'the service showed something else');
  const acknowledged = resolved('acknowledged', 'another one');

  test('opens a review also where it was declined: the service may revise that', () =>
    given(awaiting)
      .when(retrieved(observedPayout('declined')))
      .then([second('token-a', 'declined', null)]));

  test.each([
    ['awaiting approval', awaiting],
    ['approved', granted],
  ])('opens a review of one that is %s, once', (_, history) => {
    const fact = retrieved(observedPayout('approved'));
    given(history).when(fact).then([found]);
    given(seen(history)).when(fact).thenNothing();
    given([...seen(history), acknowledged])
      .when(fact)
      .thenNothing();
  });

  test('keeps it from being approved and sent until somebody has acknowledged that', () => {
    given(seen(awaiting)).when(grant()).thenRefused('payout_in_review');
    given(seen(granted)).when(requestPayout()).thenRefused('payout_in_review');
    given([...seen(awaiting), acknowledged])
      .when(grant())
      .then([wasGranted()]);
    given([...seen(granted), acknowledged])
      .when(requestPayout())
      .then([payoutRequested()]);
  });

  test('does not keep it from being asked for, and refused once the service says what became of that', () => {
    given(seen(awaiting)).when(ask()).thenNothing();
    given(seen(awaiting)).when(requestPayout()).thenNothing();
    given(seen(granted)).when(refuse()).thenRefused('payout_in_review');
    // Found since it was looked for, or in the list of another account.
    given(seen(granted))
      .when(refuse('key-2', 60_000, []))
      .thenRefused('payout_in_review');
    given([...seen(granted), acknowledged])
      .when(refuse('key-2', 1e12))
      .then(wasRefused);
  });

  // Its team was told that it had lapsed, that nothing was sent, and to send a new one.
  test('keeps it from lapsing until somebody has acknowledged that', () => {
    given(seen(awaiting)).when(lapse(1e12)).thenNothing();
    given(seen(granted)).when(lapse(1e12)).thenNothing();
    given(seen(granted))
      .when(requestPayout({ requestedAt: 1e12 }))
      .thenRefused('payout_in_review');
    given([...seen(granted), acknowledged])
      .when(lapse(1e12))
      .then([failed('approval-lapsed')]);
  });

  const acceptedBefore: PayoutEvent = {
    type: 'PayoutAccepted',
    data: { serviceToken: 'token-a', evidence: 'before-announcement' },
  };
  const [refusal] = wasRefused as [PayoutEvent, PayoutEvent];

  test.each([
    ['approved', [acceptedBefore, { type: 'PayoutApproved', data: {} }]],
    ['declined', [acceptedBefore, { type: 'PayoutDeclined', data: {} }]],
    ['pending', [acceptedBefore]],
  ] as const)(
    'is this payout where it is refused or lapses, and is what was asked for: %s',
    (status, events) => {
      const shown = [observedPayout(status)];
      for (const history of [awaiting, granted]) {
        given(history)
          .when(refuse('key-2', 60_000, shown))
          .then([refusal, ...events]);
        given(history).when(lapse(1e12, shown)).then(events);
        // Nothing is left to be answered.
        given(seen(history))
          .when(refuse('key-2', 60_000, shown))
          .then([refusal, ...events, foundToBe]);
        given(seen(history))
          .when(lapse(1e12, shown))
          .then([...events, foundToBe]);
      }
    },
  );

  test('is another one where other money was asked for: it is in review when this one has ended', () => {
    const other = observedPayout('approved', { amount: 700 });
    const inReview: PayoutEvent = {
      type: 'ReviewOpened',
      data: {
        code: 'second_payout_found',
        evidence: {
          serviceToken: 'token-a',
          observedStatus: 'approved',
          observedAmount: 700,
          knownServiceToken: null,
        },
      },
    };
    given(awaiting)
      .when(refuse('key-2', 60_000, [other]))
      .then([refusal, inReview, failed('approval-refused')]);
    given(awaiting)
      .when(lapse(1e12, [other]))
      .then([inReview]);
  });

  // It was taken over an hour later: the money of whoever had acknowledged another one was gone for good.
  test('stays another one where a person has acknowledged that', () => {
    const shown = [observedPayout('approved')];
    const history = [...seen(awaiting), acknowledged];
    given(history)
      .when(lapse(1e12, shown))
      .then([failed('approval-lapsed')]);
    given(history)
      .when(refuse('key-2', 60_000, shown))
      .then(wasRefused);
    given([...history, ...wasRefused])
      .when(inquired(shown))
      .thenNothing();
    given([...history, ...wasRefused])
      .when(retrieved(observedPayout('approved')))
      .thenNothing();
  });

  // 700 were taken for the 500 that were asked for, which were there as well: it waited for ever.
  test('is, of several, the one that was asked for, whatever was paid out', () => {
    const other = observedPayout('approved', { serviceToken: 'token-b', amount: 700 });
    given(payoutHistoryTo.unresolved)
      .when(inquired([other, observedPayout('pending')]))
      .then([
        { type: 'PayoutAccepted', data: { serviceToken: 'token-a', evidence: 'inquiry' } },
        {
          type: 'ReviewOpened',
          data: {
            code: 'second_payout_found',
            evidence: {
              ...{ serviceToken: 'token-b', observedStatus: 'approved', observedAmount: 700 },
              knownServiceToken: 'token-a',
            },
          },
        },
      ]);
  });

  test('is not asked about again where an earlier release has not kept what was shown', () => {
    const {
      observedStatus: _,
      observedAmount: __,
      ...evidence
    } = (found as { data: { evidence: Evidence } }).data.evidence;
    const old: PayoutEvent = { type: 'ReviewOpened', data: { code: 'second_payout_found', evidence } };
    given([...awaiting, old, acknowledged])
      .when(retrieved(observedPayout('approved')))
      .thenNothing();
  });

  // Declined when somebody looked, and paid out after all: it was neither held nor asked about.
  test('opens another review in its place when it is paid out after all, also where it was acknowledged', () => {
    const declined = second('token-a', 'declined', null);
    const fact = retrieved(observedPayout('approved'));
    given([...awaiting, declined])
      .when(fact)
      .then([superseded, found]);
    given([...awaiting, declined, acknowledged])
      .when(fact)
      .then([found]);
    given([...awaiting, found])
      .when(retrieved(observedPayout('declined')))
      .thenNothing();
  });

  test('has ten open reviews at most; who has answered them is asked about the next', () => {
    const ten = Array.from({ length: 10 }, (_, index) => second(`token-${index}`, 'declined', null));
    const fact = retrieved(observedPayout('declined'));
    given([...awaiting, ...ten])
      .when(fact)
      .thenNothing();
    given([...awaiting, ...ten, acknowledged])
      .when(fact)
      .then([second('token-a', 'declined', null)]);
  });

  // Ten that were declined kept the one that was paid out from being seen, and its team was told to send another.
  test('is asked about however many are in review that nothing was paid out for, and before them', () => {
    const ten = Array.from({ length: 10 }, (_, index) => second(`token-${index}`, 'declined', null));
    given([...awaiting, ...ten])
      .when(retrieved(observedPayout('approved')))
      .then([found]);
    const declined = Array.from({ length: 10 }, (_, index) =>
      observedPayout('declined', { serviceToken: `token-${index}`, amount: 700 }),
    );
    const paidOut = observedPayout('approved', { amount: 700 });
    const [shown] = eventsOf(awaiting, lapse(1e12, [...declined, paidOut]));
    expect(shown).toMatchObject({ data: { evidence: { serviceToken: 'token-a' } } });
  });

  // Its request was repeated behind a backup that knew nothing of it, and so is younger than it.
  test('is this payout also where it is older than the request for it', () =>
    given(awaiting)
      .when(refuse('key-2', 60_000, [observedPayout('approved', { createdAt: 1 })]))
      .then([refusal, acceptedBefore, { type: 'PayoutApproved', data: {} }]));

  // It was in review as another one, and asked about once more as one of other terms.
  test('is asked about once where it is of other terms', () => {
    const other = observedPayout('approved', { amount: 700 });
    const refused = [...awaiting, ...eventsOf(awaiting, refuse('key-2', 60_000, [other]))];
    expect(payoutAfter(refused).reviews).toMatchObject([{ code: 'second_payout_found' }]);
    for (const fact of [retrieved(other), inquired([other])]) given(refused).when(fact).thenNothing();
  });

  test('is in review when the service answers: that it did not is over', () => {
    const silent: PayoutEvent = {
      type: 'ReviewOpened',
      data: { code: 'service_not_readable', evidence: { reason: 'no_answer', account: 'main' } },
    };
    const answers: PayoutEvent = {
      type: 'ReviewResolved',
      data: {
        ...{ code: 'service_not_readable', number: 2, resolution: 'retrieved' },
        reason: 'the service was asked later',
      },
    };
    const shown = [observedPayout('approved', { amount: 700 })];
    const seen700 = eventsOf(awaiting, lapse(1e12, shown));
    given([...awaiting, ...seen700, silent])
      .when(lapse(1e12, shown))
      .then([answers]);
    given([...awaiting, ...seen700, silent])
      .when({ type: 'RecordApprovalLapsed', at: 1e12, found: undefined })
      .thenNothing();
    // Nor is it held up by a callback that names nothing.
    const callback: PayoutEvent = { type: 'CallbackDeferred', data: { deferredAt: 1 } };
    given([...awaiting, ...seen700, silent, callback])
      .when(lapse(1e12, shown))
      .then([{ type: 'CallbackInquired', data: {} }, answers]);
  });
});

test('a callback about it is deferred and inquired as any', () =>
  given(awaiting)
    .when(defer())
    .then([{ type: 'CallbackDeferred', data: { deferredAt: 160_000 } }]));
