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
} from '../testing/payout-samples.ts';
import { answered, inquired, missing, payoutDomain } from '../testing/payout-story.ts';
import { approvalLastsMs } from './payout-decide.ts';
import type { AskPayoutApproval, PayoutInput } from './payout-commands.ts';
import type { PayoutEvent } from './payout-events.ts';
import { payoutPhases } from './payout-machine.ts';
import { inquiryNeedOfPayout, isPayoutAwaited, payoutCallAnnouncedBy } from './payout-state.ts';

const { given } = scenario({ ...payoutDomain, againGives: () => 'nothing' as const });
const { awaiting_approval: awaiting, approval_granted: granted } = payoutHistoryTo;

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
    askedAt,
    ...changes,
  };
};
const grant = (keyId = 'key-2', at = 60_000): PayoutInput => ({ type: 'GrantPayout', keyId, at });
const refuse = (keyId = 'key-2'): PayoutInput => ({ type: 'RefusePayout', keyId, reason: 'not ours' });
const lapse = (at: number): PayoutInput => ({ type: 'RecordApprovalLapsed', at });
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

  test.each(payoutPhases)('is unchanged by a repeat, in phase %s', (phase) => {
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

  test.each([grant('key-1'), refuse('key-1')])('is never decided by the requesting key: $type', (command) => {
    given(awaiting).when(command).thenRefused('approval_by_requester');
    given(granted).when(command).thenRefused('approval_by_requester');
  });

  test.each(['awaiting_approval', 'approval_granted'] as const)(
    'is refused by another key in phase %s',
    (phase) => given(payoutHistoryTo[phase]).when(refuse()).then(wasRefused),
  );

  test.each(payoutPhases.filter((phase) => phase !== 'awaiting_approval' && phase !== 'approval_granted'))(
    'is not decided if no approval was requested, in phase %s',
    (phase) => {
      given(payoutHistoryTo[phase]).when(grant()).thenRefused('payout_not_awaiting_approval');
      for (const key of ['key-1', 'key-2'])
        given(payoutHistoryTo[phase]).when(refuse(key)).thenRefused('payout_not_awaiting_approval');
    },
  );

  test('is not decided after it was sent, nor if it does not exist', () => {
    const sent = [...granted, payoutRequested()];
    given(sent).when(grant()).thenNothing();
    given(sent).when(grant('key-3')).thenRefused('payout_not_awaiting_approval');
    given(sent).when(refuse()).thenRefused('payout_not_awaiting_approval');
    given([]).when(grant()).thenRefused('payout_not_found');
    given([]).when(refuse()).thenRefused('payout_not_found');
  });

  test('once refused, stays refused', () => {
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

describe('a repeated request', () => {
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

  test('announces it only through the account of its reservation', () =>
    given(granted)
      .when(requestPayout({ call: { ...payoutCall, account: 'other' } }))
      .thenNothing());

  test('announces nothing after the approval has lapsed', () => {
    given(granted)
      .when(requestPayout({ requestedAt: 86_459_999 }))
      .then([payoutRequested()]);
    given(granted)
      .when(requestPayout({ requestedAt: 86_460_000 }))
      .thenNothing();
  });
});

describe('time', () => {
  test('ends a payout that was not approved, or not sent', () => {
    given(awaiting).when(lapse(86_449_999)).thenNothing();
    given(awaiting)
      .when(lapse(86_450_000))
      .then([failed('approval-lapsed')]);
    given(granted)
      .when(lapse(86_460_000))
      .then([failed('approval-lapsed')]);
    given(payoutHistoryTo.unresolved).when(lapse(1e12)).thenNothing();
  });

  test('cannot be undone by a late approval; a late refusal ends a payout that has not lapsed', () => {
    given(awaiting).when(grant('key-2', 86_450_000)).thenRefused('payout_not_awaiting_approval');
    // If the provider never answered, nothing else would end it.
    given(awaiting).when(refuse()).then(wasRefused);
  });
});

test.each([answered('approved'), inquired([observedPayout('approved')]), missing()])(
  'before the announcement, a payout under its number is foreign: $type',
  (fact) => {
    given(awaiting).when(fact).thenNothing();
    given(granted).when(fact).thenNothing();
  },
);
