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

  // That of a payout that is approved announces its call: see the specs of the approval.
  test.each(payoutPhases.filter((each) => each !== 'approval_granted'))(
    'that is repeated with the same terms writes nothing, in phase %s',
    (phase) => given(payoutHistoryTo[phase]).when(requestPayout()).thenNothing(),
  );

  test.each(payoutPhases)('under a key that was used for other terms is refused, in phase %s', (phase) =>
    given(payoutHistoryTo[phase])
      .when(requestPayout({ fingerprint: 'fingerprint-2' }))
      .thenRefused('idempotency_key_reused'),
  );

  test('is known by its fingerprint and not by what it says besides', () =>
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
])('a fact about a payout that was never requested is nothing: $type', (fact) =>
  given([]).when(fact).thenNothing(),
);

describe.each([
  ['requested', requested],
  ['unresolved', unresolved],
] as const)('the end of the call of a payout that is %s', (_, history) => {
  test('accepted, and not decided yet', () =>
    given(history)
      .when(answered('pending'))
      .then([accepted('answer')]));

  test('accepted and approved', () =>
    given(history)
      .when(answered('approved'))
      .then([accepted('answer'), payoutSampleEvents.PayoutApproved]));

  test('accepted and declined, which is no refusal', () =>
    given(history)
      .when(answered('declined', { declineReason: 'do_not_honor' }))
      .then([accepted('answer'), payoutSampleEvents.PayoutDeclined]));

  test('refused: it has failed, and is not tried again', () =>
    given(history)
      .when(refused)
      .then([{ type: 'PayoutRefused', data: { errors: [refusalError] } }, failedBecause('refused')]));

  test('not sent: it has failed, and is not tried again', () =>
    given(history)
      .when(notSent)
      .then([payoutSampleEvents.PayoutNotSent, failedBecause('not-sent')]));
});

test('an outcome that is not known leaves the payout unresolved', () =>
  given(requested).when(lost).then([payoutSampleEvents.PayoutUnresolved]));

test('an unknown outcome changes nothing about an unresolved payout', () =>
  given(unresolved).when(lost).thenNothing());

test.each([
  ['pending', pending],
  ['approved', approved],
  ['declined', declined],
] as const)('what an inquiry has found stands, whatever the late answer says: %s', (_, history) => {
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
  test('stays failed, whichever failure is reported later', () => {
    for (const outcome of [refused, notSent, lost]) given(failed).when(outcome).thenNothing();
  });

  test.each([answered('declined'), inquired([observedPayout('declined')]), inquired([])])(
    'that the service shows declined, or not at all, is as it is: $type',
    (fact) => given(failed).when(fact).thenNothing(),
  );
});

describe('an inquiry by the payout’s own number', () => {
  test('while the answer may still come changes nothing, whatever it found', () => {
    given(requested).when(inquired([], duringCall)).thenNothing();
    given(requested)
      .when(inquired([observedPayout('approved')], duringCall))
      .thenNothing();
  });

  test('after that gives the answer up', () =>
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

  test('finds it where the deployment leaves out order numbers', () => {
    const { orderNumber: _, ...found } = observedPayout('declined');
    given(unresolved)
      .when(inquired([found]))
      .then([accepted('inquiry'), withoutReason]);
  });

  test('does not find it before the service is quiet: that proves nothing', () =>
    given(unresolved).when(inquired([], beforeQuiet)).thenNothing());

  test('does not find it after that: a review is opened, and it stays unresolved', () =>
    given(unresolved)
      .when(inquired([], afterQuiet))
      .then([payoutReviewOpened('payout_not_found', { providerOrderNumber: 'po_1.1' })]));

  // Its inquiry failed, and it stood before a person.
  test('does not find one that was refused: it has failed, with its reason', () => {
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

  test('that is the first after the quiet period gives up and calls at once', () =>
    given(requested)
      .when(inquired([], afterQuiet))
      .then([noOutcome, payoutReviewOpened('payout_not_found', { providerOrderNumber: 'po_1.1' })]));

  test('takes its own out of what was found', () => {
    const foreign = observedPayout('approved', { orderNumber: 'po_2.1', serviceToken: 'token-z' });
    given(unresolved)
      .when(inquired([foreign, observedPayout('pending')]))
      .then([accepted('inquiry')]);
  });
});

test('what comes from outside is cut to what can be read back', () => {
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
