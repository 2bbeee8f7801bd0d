import { scenario } from '@tollgate/testing';
import { describe, expect, test } from 'vitest';
import {
  observedPayout,
  payoutAfter,
  payoutHistoryTo,
  payoutReviewOpened,
  payoutRequested,
  payoutSampleEvents,
  payoutTerms,
  refusalError,
  requestPayout,
} from '../testing/payout-samples.ts';
import {
  accepted,
  afterAnswer,
  afterQuiet,
  answered,
  beforeQuiet,
  defer,
  duringCall,
  ended,
  failedBecause,
  inquired,
  lost,
  missing,
  noOutcome,
  notSent,
  payoutDomain,
  refused,
  retrieved,
  withoutReason,
} from '../testing/payout-story.ts';
import { errorsMax, textLengthMax } from '../values.ts';
import type { PayoutInput } from './payout-commands.ts';
import { decidePayout } from './payout-decide.ts';
import { decodePayoutEvent, type PayoutEvent } from './payout-events.ts';
import { payoutPhases } from './payout-machine.ts';

const { given } = scenario(payoutDomain);
const { requested, unresolved, pending, approved, declined, failed } = payoutHistoryTo;

describe('a request', () => {
  test('is recorded with its call, which it announces', () =>
    given([]).when(requestPayout()).then([payoutRequested()]));

  // The repeat for an approved payout announces its call: see the specs of the approval.
  test.each(payoutPhases.filter((each) => each !== 'approval_granted'))(
    'that is repeated with the same terms writes nothing, in phase %s',
    (phase) => given(payoutHistoryTo[phase]).when(requestPayout()).thenNothing(),
  );

  test.each(payoutPhases)('under a key that was used for other terms is refused, in phase %s', (phase) =>
    given(payoutHistoryTo[phase])
      .when(requestPayout({ fingerprint: 'fingerprint-2' }))
      .thenRefused('idempotency_key_reused'),
  );

  test('is identified by its fingerprint alone', () =>
    given(requested)
      .when(requestPayout({ terms: { ...payoutTerms, amount: 2000 }, team: 'other' }))
      .thenNothing());
});

test.each([
  answered('approved'),
  refused,
  lost,
  inquired([]),
  retrieved(observedPayout('approved')),
  missing(),
  defer(),
])('an observation of a payout that was never requested writes nothing: $type', (fact) =>
  given([]).when(fact).thenNothing(),
);

test.each<[string, PayoutInput, PayoutEvent[]]>([
  ['accepted, and not decided yet', answered('pending'), [accepted('answer')]],
  ['accepted and approved', answered('approved'), [accepted('answer'), payoutSampleEvents.PayoutApproved]],
  [
    'accepted and declined, which is not a refusal',
    answered('declined', { declineReason: 'do_not_honor' }),
    [accepted('answer'), payoutSampleEvents.PayoutDeclined],
  ],
  [
    'refused: it has failed, and is not attempted again',
    refused,
    [{ type: 'PayoutRefused', data: { errors: [refusalError] } }, failedBecause('refused')],
  ],
  [
    'not sent: it has failed, and is not attempted again',
    notSent,
    [payoutSampleEvents.PayoutNotSent, failedBecause('not-sent')],
  ],
])('the end of the call leaves a payout %s', (_, end, events) => {
  for (const history of [requested, unresolved]) given(history).when(end).then(events);
});

test('an unknown outcome leaves the payout unresolved', () =>
  given(requested).when(lost).then([payoutSampleEvents.PayoutUnresolved]));

test('an unknown outcome changes nothing about an unresolved payout', () =>
  given(unresolved).when(lost).thenNothing());

test.each([
  ['pending', pending],
  ['approved', approved],
  ['declined', declined],
] as const)('the result of an inquiry holds, whatever the late answer: %s', (_, history) => {
  for (const outcome of [
    refused,
    notSent,
    lost,
    answered('approved'),
    answered('declined'),
    answered('pending'),
  ])
    given(history).when(outcome).thenNothing();
});

describe('a failed payout', () => {
  test('stays failed with its first reason', () => {
    for (const outcome of [refused, notSent, lost]) given(failed).when(outcome).thenNothing();
  });

  test.each([answered('declined'), inquired([observedPayout('declined')]), inquired([])])(
    'declined or absent at the provider is unchanged: $type',
    (fact) => given(failed).when(fact).thenNothing(),
  );
});

describe('an inquiry by the payout’s own number', () => {
  test('while the answer may still arrive changes nothing, whatever it found', () => {
    given(requested).when(inquired([], duringCall)).thenNothing();
    given(requested)
      .when(inquired([observedPayout('approved')], duringCall))
      .thenNothing();
  });

  test('after that abandons the answer', () =>
    given(requested).when(inquired([], afterAnswer)).then([noOutcome]));

  test('finds the payout and its status', () => {
    const found = [observedPayout('approved')];
    given(requested)
      .when(inquired(found, afterAnswer))
      .then([noOutcome, accepted('inquiry'), payoutSampleEvents.PayoutApproved]);
    given(unresolved)
      .when(inquired(found, duringCall))
      .then([accepted('inquiry'), payoutSampleEvents.PayoutApproved]);
  });

  test('finds it if the deployment omits order numbers', () => {
    const { orderNumber: _, ...found } = observedPayout('declined');
    given(unresolved)
      .when(inquired([found]))
      .then([accepted('inquiry'), withoutReason]);
  });

  test('does not find it before the end of the quiet period: that proves nothing', () =>
    given(unresolved).when(inquired([], beforeQuiet)).thenNothing());

  test('does not find it after that: a review opens, and it stays unresolved', () =>
    given(unresolved)
      .when(inquired([], afterQuiet))
      .then([payoutReviewOpened('payout_not_found', { providerOrderNumber: 'po_1.1' })]));

  // Its inquiry failed, and it waited for a person.
  test('does not find a refused one: it has failed, with its reason', () => {
    const errors = [{ code: 'balance_less_than_amount', kind: 'processing_error' }];
    const refused: PayoutEvent[] = [
      ...requested,
      { type: 'PayoutUnresolved', data: { reason: 'refused', errors } },
    ];
    given(refused).when(inquired([], beforeQuiet)).thenNothing();
    given(refused)
      .when(inquired([], afterQuiet))
      .then([
        { type: 'PayoutRefused', data: { errors } },
        { type: 'PayoutFailed', data: { reason: 'refused' } },
      ]);
  });

  test('that is the first after the quiet period abandons the answer and opens the review at once', () =>
    given(requested)
      .when(inquired([], afterQuiet))
      .then([noOutcome, payoutReviewOpened('payout_not_found', { providerOrderNumber: 'po_1.1' })]));
});

test('untrusted texts are cut to a length that can be read back', () => {
  const long = 'x'.repeat(textLengthMax + 1);
  const commands: readonly [readonly PayoutEvent[], PayoutInput][] = [
    [requested, ended({ kind: 'unknown', reason: long })],
    [requested, ended({ kind: 'not-sent', reason: long })],
    [requested, ended({ kind: 'refused', errors: Array(errorsMax + 1).fill(refusalError) })],
    [pending, retrieved(observedPayout('declined', { declineReason: long }))],
    [approved, retrieved(observedPayout('declined', { declineReason: long }))],
    [pending, retrieved(observedPayout(long))],
    [pending, retrieved(observedPayout('approved', { currency: long, orderNumber: long }))],
    [pending, defer(long)],
  ];
  for (const [history, command] of commands) {
    const decision = decidePayout(payoutAfter(history), command);
    if (decision.kind === 'refused') throw new Error(decision.refusal.code);
    expect(decision.events.length).toBeGreaterThan(0);
    for (const event of decision.events) expect(decodePayoutEvent(event)).toEqual(event);
  }
});
