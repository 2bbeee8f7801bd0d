import { describe, expect, test } from 'vitest';
import {
  foldPayout,
  payoutAfter,
  payoutCall,
  payoutHistoryTo,
  payoutRequested,
  payoutSampleEvents,
  refusalError,
} from '../testing/payout-samples.ts';
import { callbackInquired, deferred } from '../testing/payout-story.ts';
import { InvariantViolation } from '../invariant.ts';
import type { PayoutEvent } from './payout-events.ts';
import { payoutPhaseOf, payoutPhases, payoutStateOf, payoutWalk } from './payout-machine.ts';
import {
  evolvePayout,
  isApprovalOver,
  isPayoutAwaited,
  inquiryNeedOfPayout,
  payoutCallAnnouncedBy,
  payoutQuietUntil,
  toPayoutMachineEvent,
} from './payout-state.ts';

const laterEvents = Object.values(payoutSampleEvents).filter(
  ({ type }) => type !== 'PayoutRequested' && type !== 'PayoutApprovalRequested',
);

function frozen<Value>(value: Value): Value {
  if (typeof value === 'object' && value !== null) Object.values(Object.freeze(value)).forEach(frozen);
  return value;
}

test.each(laterEvents)('no payout begins with $type', (event) => {
  expect(() => evolvePayout(undefined, event)).toThrow(InvariantViolation);
});

test('a payout that a second key must approve begins without a call', () => {
  const payout = payoutAfter(payoutHistoryTo.awaiting_approval);
  expect(payout).toMatchObject({
    phase: 'awaiting_approval',
    askedBy: 'key-1',
    approval: { lapsesAt: 86_450_000 },
    call: { account: 'main', providerOrderNumber: 'po_1.1', sendBy: 0, answerBy: 0, quietUntil: 0 },
  });
  const granted = payoutAfter(payoutHistoryTo.approval_granted);
  expect(granted.approval).toEqual({ grantedBy: 'key-2', lapsesAt: 86_460_000 });
  expect(payoutAfter([...payoutHistoryTo.approval_granted, payoutRequested()])).toMatchObject({
    phase: 'requested',
    call: payoutCall,
    approval: granted.approval,
  });
});

test.each<[string, PayoutEvent[]]>([
  ['PayoutApproved occurred before the first event', [payoutSampleEvents.PayoutApproved]],
  [
    'PayoutApprovalRequested occurred after the first event',
    [payoutRequested(), payoutSampleEvents.PayoutApprovalRequested],
  ],
])('a broken stream: %s', (problem, history) => {
  expect(() => foldPayout(history)).toThrow(new InvariantViolation(problem));
});

describe.each(payoutPhases)('in phase %s', (phase) => {
  const again = [payoutSampleEvents.PayoutApprovalRequested, payoutRequested()];

  test.each(again.filter(({ type }) => phase !== 'approval_granted' || type !== 'PayoutRequested'))(
    'a payout that begins a second time is a damaged stream: $type',
    (event) => {
      expect(() => evolvePayout(payoutAfter(payoutHistoryTo[phase]), event)).toThrow(InvariantViolation);
    },
  );

  test.each(laterEvents)("$type leads to the machine's next state, or breaks the stream", (event) => {
    const before = frozen(payoutAfter(payoutHistoryTo[phase]));
    const next = payoutWalk.next(payoutStateOf(phase), toPayoutMachineEvent(event as never));
    if (next === undefined) expect(() => evolvePayout(before, event)).toThrow(InvariantViolation);
    else expect(evolvePayout(before, event).phase).toBe(payoutPhaseOf(next));
  });
});

test('an acceptance has the provider’s token', () => {
  expect(payoutAfter(payoutHistoryTo.pending).serviceToken).toBe('token-a');
});

test('a refusal has its errors, and the failure its reason', () => {
  const { errors, failure } = payoutAfter(payoutHistoryTo.failed);
  expect(errors).toEqual([{ ...refusalError, message: 'A sentence.' }]);
  expect(failure).toBe('refused');
});

test('a declined payout has its reason', () => {
  expect(payoutAfter(payoutHistoryTo.declined).declineReason).toBe('do_not_honor');
});

test('only what awaits an approval can be too old for it', () => {
  const { awaiting_approval: awaiting, requested } = payoutHistoryTo;
  expect([86_449_999, 86_450_000].map((at) => isApprovalOver(payoutAfter(awaiting), at))).toEqual([
    false,
    true,
  ]);
  expect(isApprovalOver(payoutAfter(requested), 86_450_000)).toBe(false);
});

test('the outcome may be known after the quiet period, and after a later callback', () => {
  const { pending } = payoutHistoryTo;
  const late: PayoutEvent = { type: 'CallbackDeferred', data: { deferredAt: 170_000 } };
  const early: PayoutEvent = { type: 'CallbackDeferred', data: { deferredAt: 1 } };
  expect(
    [pending, [...pending, early], [...pending, late]].map((each) => payoutQuietUntil(payoutAfter(each))),
  ).toEqual([160_000, 160_000, 170_000]);
});

test('a revision drops the reasons of the superseded status', () => {
  const revised: PayoutEvent = { type: 'FinalStatusRevised', data: { from: 'declined', to: 'approved' } };
  const approved = payoutAfter([...payoutHistoryTo.declined, revised]);
  expect(approved).not.toHaveProperty('declineReason');
  expect(approved.serviceToken).toBe('token-a');
  const turnedUp = payoutAfter([
    ...payoutHistoryTo.failed,
    { ...revised, data: { ...revised.data, serviceToken: 'token-b' } },
  ]);
  expect(turnedUp).not.toHaveProperty('failure');
  expect(turnedUp).toMatchObject({ serviceToken: 'token-b', errors: [] });
});

test('a revision to declined has the new reason', () => {
  const revised: PayoutEvent = {
    type: 'FinalStatusRevised',
    data: { from: 'approved', to: 'declined', declineReason: 'account_closed' },
  };
  expect(payoutAfter([...payoutHistoryTo.approved, revised]).declineReason).toBe('account_closed');
});

test.each([
  ['requested', 'unresolved'],
  ['unresolved', 'unresolved'],
  ['pending', 'open'],
  ['approved', 'settled'],
  ['declined', 'settled'],
  ['failed', 'settled'],
] as const)('the need of an inquiry about a payout that is %s: %s', (phase, need) => {
  const payout = payoutAfter(payoutHistoryTo[phase]);
  expect(inquiryNeedOfPayout(payout)).toBe(need);
  expect(isPayoutAwaited(payout)).toBe(need === 'unresolved');
});

test.each(payoutPhases)('a deferred callback is unresolved until it is inquired, in phase %s', (phase) => {
  const history = payoutHistoryTo[phase];
  const waiting = [...history, deferred('token-b')];
  expect(inquiryNeedOfPayout(payoutAfter(waiting))).toBe('unresolved');
  const over = payoutAfter([...waiting, callbackInquired('token-b')]);
  expect(inquiryNeedOfPayout(over)).toBe(inquiryNeedOfPayout(payoutAfter(history)));
});

test('only the request announces a call', () => {
  const payout = payoutAfter([payoutRequested()]);
  const { account, providerOrderNumber, sendBy, answerBy, quietUntil } = payoutCall;
  const window = { sendBy, answerBy, quietUntil };
  expect(payoutCallAnnouncedBy([payoutRequested()], payout)).toEqual({
    operation: 'payout',
    account,
    window,
    providerOrderNumber,
  });
  expect(payoutCallAnnouncedBy([], payout)).toBeUndefined();
  expect(payoutCallAnnouncedBy(laterEvents, payout)).toBeUndefined();
});
