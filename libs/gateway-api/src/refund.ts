/** A refund, as a part of its payment and on its own. */
import {
  isAbout,
  doubtsAbout,
  refundSchema as keptRefundSchema,
  type PaymentAggregate,
  type Refund,
} from '@tollgate/core';
import { InvariantViolation } from '@tollgate/service-kit';
import { z } from 'zod';
import { oneOf, publicObject, showing } from './public-object.ts';
import { reviews, reviewsOf } from './review.ts';
import { age, amount, currency, errors, example, metadata } from './values.ts';

export const refundToken = z.string().meta({ description: 'The refund.', examples: ['ref_…'] });
export const paymentToken = z
  .string()
  .meta({ description: 'The payment.', examples: [example.paymentToken] });

export const refundStatuses = ['pending', 'approved', 'declined'] as const;
type RefundStatus = (typeof refundStatuses)[number];
export const refundPhases = keptRefundSchema.shape.state.options;

const refund = publicObject({
  both: {
    token: refundToken,
    amount,
    metadata: metadata.exactOptional(),
    status: z.enum(refundStatuses),
    phase: oneOf(refundPhases, '`unresolved`: sent, and the outcome is not known yet.'),
    ...age,
  },
  inAnswers: { currency, errors: errors.describe('Reasons of the failure; empty if it did not fail.') },
});

export const paymentRefundSchema = refund.answer;

/** The refunds in a payment. */
export const refunds = {
  inAnswers: z.array(refund.answer),
  inRecords: z.array(refund.record).describe('Its refunds, in the order of their requests.'),
};

export const refundSchema = refund.answer.extend({
  paymentToken,
  reviews: reviews.inAnswers.describe(
    'The open reviews of its payment that are about this refund. While a review is open, the status may be wrong.',
  ),
});
export type PublicRefund = z.infer<typeof refundSchema>;

const statuses: Record<Refund['state'], RefundStatus> = {
  submitted: 'pending',
  unresolved: 'pending',
  accepted: 'pending',
  approved: 'approved',
  declined: 'declined',
};

export const statusOfRefundPhase = (phase: Refund['state']): RefundStatus => statuses[phase];

/** The public fields of a refund, without its payment's token. */
export function refundOf(kept: Refund, { payment, refundTimes }: PaymentAggregate) {
  const { refundToken: token, amount: asked, metadata: noted, state, declined } = kept;
  const times = refundTimes[payment.refunds.indexOf(kept)];
  if (times === undefined) throw new InvariantViolation('a refund belongs to another payment');
  return {
    metadata: noted,
    token,
    amount: asked,
    currency: payment.terms.currency,
    status: statuses[state],
    phase: state,
    errors: declined?.errors ?? [],
    createdAt: times.createdAt,
    updatedAt: times.updatedAt,
  };
}

const show = showing(refundSchema);

/** With the reviews of its payment that concern it, by name or by the refunded sum. */
export function toPublicRefund(kept: Refund, view: PaymentAggregate): PublicRefund {
  const { token, payment } = view;
  const doubts = doubtsAbout(payment, kept);
  const about = reviewsOf(view, payment.reviews).filter(
    (each) =>
      isAbout(each, 'refundToken', kept.refundToken) || doubts.some(({ number }) => number === each.number),
  );
  return show({ ...refundOf(kept, view), paymentToken: token, reviews: about });
}
