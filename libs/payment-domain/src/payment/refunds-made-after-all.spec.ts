import { expect, test } from 'vitest';
import { historyTo, paymentAfter, refundSubmitted } from '../../testing/samples.ts';
import type { Evidence } from '../review.ts';
import type { PaymentEvent, ReviewCode } from './payment-events.ts';
import { mayBeMade, mayHaveBeenMade } from './refunds.ts';

const external = { type: 'ExternalRefundObserved', data: { amount: 200 } } as const;
const review = (code: ReviewCode, evidence: Evidence) => ({ code, evidence, number: 1 });
const shown = (observedRefundedAmount: number) => ({ observedRefundedAmount });
const named = review('refund_disagrees', { refundToken: 'refund-1' });
const other = review('refund_disagrees', { refundToken: 'refund-2' });
const [beside, enough] = [review('only_here', {}), review('terms_disagree', shown(500))];

test.each([
  ['resolved', 'is named', [named], true],
  ['resolved', 'is not named', [other], false],
  ['resolved', 'is named beside another review', [beside, named], true],
  ['resolved', 'has room in what is shown', [enough], true],
  ['resolved', 'has no room in what is shown', [review('unknown_status', shown(499))], false],
  ['resolved', 'has room in what shows no sums', [review('only_here', shown(500))], false],
  ['refused', 'was refused, and is named', [named], false],
  ['declined', 'was declined, and has room', [enough], false],
] as const)('(%s) may be made where it %s: %j', (reason, _, reviews, may) => {
  const history: PaymentEvent[] = [
    ...historyTo.approved,
    external,
    refundSubmitted('refund-1', 300),
    { type: 'RefundDeclined', data: { refundToken: 'refund-1', errors: [], reason } },
  ];
  const payment = paymentAfter(history);
  const [refund] = payment.refunds;
  expect(mayBeMade({ ...payment, reviews }, refund!)).toBe(may);
  expect(mayHaveBeenMade({ ...payment, acknowledged: reviews }, refund!)).toBe(may);
});

test('may not be made while it has no outcome', () => {
  const payment = paymentAfter([...historyTo.approved, refundSubmitted('refund-1', 300)]);
  const [refund] = payment.refunds;
  expect(mayBeMade({ ...payment, reviews: [named] }, refund!)).toBe(false);
  expect(mayHaveBeenMade({ ...payment, acknowledged: [named] }, refund!)).toBe(false);
});
