/** The answers of people to the reviews of a payment's calls and disputes, and their effects. */
import { describe, expect, it } from 'vitest';
import {
  attempt,
  decided,
  historyTo,
  inquired,
  observed,
  paymentAfter,
  refundSubmitted,
  sampleEvents,
} from '../testing/samples.ts';
import { missing, externalRefund, resolve } from '../testing/payment-story.ts';
import { resolvedByAPerson, type Evidence, type Resolution } from '../review.ts';
import type { ResolveReview } from '../shared-inputs.ts';
import { decide } from './payment-decide.ts';
import type { PaymentEvent, ReviewCode } from './payment-events.ts';
import { resolutionsOf } from './resolutions.ts';

const resolved = (code: ReviewCode, resolution: Resolution) => ({
  type: 'ReviewResolved',
  data: { code, number: 1, resolution, reason: 'asked them' },
});
const opened = (code: ReviewCode, evidence: Evidence = {}): PaymentEvent => ({
  type: 'ReviewOpened',
  data: { code, evidence },
});
const refusedAs = (code: string, more: object = {}) => ({ kind: 'refused', refusal: { code, ...more } });
const answered = (history: readonly PaymentEvent[], input: ResolveReview<ReviewCode>) =>
  decide(paymentAfter(history), input);

it.each<[ReviewCode, Resolution[]]>([
  ['attempt_not_found', ['check_again', 'payment_not_made']],
  ['refund_unresolved', ['check_again', 'refund_made', 'refund_not_made']],
  ['service_not_readable', ['check_again', 'acknowledged']],
  ['capture_unresolved', ['check_again']],
  ['void_unresolved', ['check_again']],
  ['dispute_opened', ['acknowledged', 'dispute_won', 'dispute_lost']],
  ['discrepancy', []],
])('%s allows %j', (code, allowed) => {
  const history = [...historyTo.unresolved, opened(code)];
  expect(resolutionsOf(paymentAfter(history), { code, number: 1 })).toEqual(allowed);
  expect(answered(history, resolve(code, 'payout_not_made'))).toEqual(
    refusedAs('resolution_not_allowed', { allowed }),
  );
  expect(answered(history, resolve(code, 'check_again', { number: 2 }))).toEqual(
    refusedAs('review_not_found'),
  );
});

it('a command for a payment that does not exist is refused', () => {
  for (const command of [
    resolve('discrepancy', 'keep_ours'),
    { type: 'SubmitCaptureOrVoid', operation: 'capture', window: attempt(1) } as const,
  ])
    expect(decide(undefined, command)).toEqual(refusedAs('payment_not_found'));
});

describe('an attempt that was not found', () => {
  const code = 'attempt_not_found';
  const evidence = { attemptNumber: 1 };

  it('has failed if a person says so', () => {
    expect(
      decided([...historyTo.unresolved, opened(code, evidence)], resolve(code, 'payment_not_made')),
    ).toEqual([resolved(code, 'payment_not_made'), { type: 'PaymentFailed', data: { reason: 'resolved' } }]);
  });

  it('may only be checked while its call is under way', () => {
    const payment = paymentAfter([...historyTo.requested, opened(code, evidence)]);
    expect(resolutionsOf(payment, { code, number: 1 })).toEqual(['check_again']);
  });
});

describe('a refund without an outcome', () => {
  const code = 'refund_unresolved';
  const evidence = { refundToken: 'refund-1', amount: 300, refundedAmount: 0, observedRefundedAmount: null };
  const review = (more: Evidence = {}) => [
    ...historyTo.approved,
    refundSubmitted('refund-1', 300),
    sampleEvents.RefundUnresolved,
    opened(code, { ...evidence, ...more }),
  ];
  const declined = { refundToken: 'refund-1', errors: [], reason: 'resolved' };

  it('was made, or was not', () => {
    expect(decided(review(), resolve(code, 'refund_made'))).toEqual([
      resolved(code, 'refund_made'),
      { type: 'RefundApproved', data: { refundToken: 'refund-1' } },
    ]);
    expect(decided(review(), resolve(code, 'refund_not_made'))).toEqual([
      resolved(code, 'refund_not_made'),
      { type: 'RefundDeclined', data: declined },
    ]);
  });

  it('covers the refunds that the evidence shows: the rest was refunded elsewhere', () => {
    const seen = review({ observedRefundedAmount: 500 });
    expect(decided(seen, resolve(code, 'refund_made')).slice(2)).toEqual([externalRefund(200)]);
    expect(decided(seen, resolve(code, 'refund_not_made')).slice(2)).toEqual([externalRefund(500)]);
    const impossible = review({ observedRefundedAmount: 1001 });
    expect(decided(impossible, resolve(code, 'refund_made'))).toHaveLength(2);
  });

  it('is reviewed again with the same evidence if it is to be checked again', () => {
    expect(decided(review(), resolve(code, 'check_again'))).toEqual([
      resolved(code, 'check_again'),
      opened(code, evidence),
    ]);
  });

  it('needs no answer once it is decided', () => {
    const seen = observed('approved', { refundedAmount: 300 });
    const events = decided(review(), inquired(seen, { inquiredAt: 60_000 }));
    expect(events.map(({ type }) => type)).toEqual(['RefundApproved', 'ReviewResolved']);
    const late = [...review(), { type: 'RefundApproved', data: { refundToken: 'refund-1' } } as const];
    expect(answered(late, resolve(code, 'refund_made'))).toEqual(refusedAs('review_not_found'));
  });
});

describe('several at once', () => {
  const code = 'refund_unresolved';
  const at = (sum: number | null) => ({ refundToken: 'b', amount: 200, observedRefundedAmount: sum });
  const history: PaymentEvent[] = [
    ...historyTo.approved,
    refundSubmitted('a', 300),
    { type: 'RefundDeclined', data: { refundToken: 'a', errors: [], reason: 'resolved' } },
    refundSubmitted('b', 200),
    { type: 'RefundUnresolved', data: { refundToken: 'b', reason: 'timeout' } },
  ];

  it('a refund that was not made: the sum may be that of an earlier one', () => {
    const events = decided([...history, opened(code, at(500))], resolve(code, 'refund_not_made'));
    const shown = events.flatMap(({ type, data }) =>
      type === 'ReviewOpened'
        ? [(data as { discrepancy?: { refundToken?: string } }).discrepancy?.refundToken]
        : [],
    );
    expect(shown).toEqual(['a']);
  });

  it('the review of a decided refund is not that of the refund in flight', () => {
    const about = [...history, opened(code, { ...at(null), refundToken: 'a' })];
    expect(answered(about, resolve(code, 'refund_made'))).toEqual(refusedAs('review_not_found'));
  });

  it('while a refund is in flight, no record of the provider can be accepted', () => {
    const shows = inquired(observed('approved', { amount: 900 }), { inquiredAt: 1 });
    for (const [before, allowed] of [
      [historyTo.approved, ['accept_theirs', 'keep_ours', 'check_again']],
      [history, ['keep_ours', 'check_again']],
    ] as const) {
      const payment = paymentAfter([...before, ...decided(before, shows)]);
      expect(resolutionsOf(payment, { code: 'discrepancy', number: 1 })).toEqual(allowed);
    }
  });

  it('each discrepancy has resolutions of its own', () => {
    const shown = (changes: object) => inquired(observed('approved', changes), { inquiredAt: 1 });
    const first = [...historyTo.approved, ...decided(historyTo.approved, shown({ amount: 900 }))];
    const both = paymentAfter([...first, ...decided(first, shown({ serviceToken: 'token-z' }))]);
    const allowed = [1, 2].map((number) => resolutionsOf(both, { code: 'discrepancy', number }));
    expect(allowed).toEqual([
      ['accept_theirs', 'keep_ours', 'check_again'],
      ['keep_ours', 'check_again'],
    ]);
  });

  it('a duplicate of a failed payment cannot become its record', () => {
    const [duplicate] = decided(
      historyTo.approved,
      inquired(observed('approved', { serviceToken: 'token-z' }), { inquiredAt: 1 }),
    );
    const payment = paymentAfter([...historyTo.failed, duplicate!]);
    expect(resolutionsOf(payment, { code: 'discrepancy', number: 1 })).toEqual(['keep_ours', 'check_again']);
  });

  it('a dispute is answered by its own review', () => {
    const of = (disputeToken: string) => [
      { ...sampleEvents.DisputeOpened, data: { ...sampleEvents.DisputeOpened.data, disputeToken } },
      opened('dispute_opened', { disputeToken }),
    ];
    const two = [...historyTo.approved, ...of('dsp_1'), ...of('dsp_2')];
    const events = decided(two, resolve('dispute_opened', 'dispute_won', { number: 2 }));
    expect(events.slice(1)).toMatchObject([{ type: 'DisputeWon', data: { disputeToken: 'dsp_2' } }]);
  });
});

describe('the review of a call', () => {
  it.each([
    ['capture_unresolved', 'capturing', 'approved'],
    ['void_unresolved', 'voiding', 'declined'],
  ] as const)('%s ends with its outcome; a person can only have it checked again', (code, phase, status) => {
    const history = [...historyTo[phase], opened(code)];
    expect(decided(history, resolve(code, 'check_again'))).toEqual([resolved(code, 'check_again')]);
    const events = decided(history, inquired(observed(status), { inquiredAt: 60_000 }));
    expect(events).toContainEqual(
      expect.objectContaining({ type: 'ReviewResolved', data: expect.objectContaining({ code }) }),
    );
  });

  it('of an earlier attempt ends, and the one of this attempt stays', () => {
    const code = 'attempt_not_found';
    const open = (attemptNumber: number) => [
      ...[...historyTo.unresolved, sampleEvents.AttemptNotFound, sampleEvents.AttemptStarted],
      ...[{ type: 'AttemptUnresolved', data: { attemptNumber: 2, reason: 'timeout' } } as const],
      opened(code, { attemptNumber }),
    ];
    const afterCallback = (number: number) =>
      decided(open(number), { type: 'DeferCallback', deferredAt: 1 }).map(({ type }) => type);
    expect(afterCallback(1)).toEqual(['CallbackDeferred', 'ReviewResolved']);
    expect(afterCallback(2)).toEqual(['CallbackDeferred']);
  });

  it('takes a second person if two must agree', () => {
    const code = 'attempt_not_found';
    const history = [...historyTo.unresolved, opened(code, { attemptNumber: 1 })];
    const by = (name: string) => resolve(code, 'payment_not_made', { proposer: { name, at: 5 } });
    const first = decided(history, by('ada'));
    expect(first.map(({ type }) => type)).toEqual(['ReviewResolutionProposed']);
    expect(decided([...history, ...first], by('bob')).map(({ type }) => type)).toEqual([
      'ReviewResolved',
      'PaymentFailed',
    ]);
  });
});

it('a dispute that the bank has decided meanwhile cannot be answered', () => {
  const review = opened('dispute_opened', { disputeToken: 'dsp_1' });
  const history = [...historyTo.approved, sampleEvents.DisputeOpened, review, sampleEvents.DisputeWon];
  expect(answered(history, resolve('dispute_opened', 'dispute_lost'))).toEqual(refusedAs('review_not_found'));
});

it('a payment that the provider never had has failed; one that it had is declined', () => {
  const acceptedOn = (history: readonly PaymentEvent[]) => {
    const found = [...history, ...decided(history, missing)];
    return decided(found, resolve('discrepancy', 'accept_theirs')).slice(1);
  };
  expect(acceptedOn(historyTo.init)).toEqual([
    { type: 'PaymentDeclined', data: { declineReason: resolvedByAPerson } },
  ]);
  expect(acceptedOn(historyTo.approved)).toEqual([
    {
      type: 'FinalStatusRevised',
      data: { from: 'approved', to: 'declined', declineReason: resolvedByAPerson },
    },
  ]);
});
