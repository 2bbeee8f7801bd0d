/** A refund, as a part of its payment and on its own. */
import {
  isAbout,
  doubtsAbout,
  refundSchema as keptRefundSchema,
  type PaymentAggregate,
  type Refund,
} from '@tollgate/core';
import { z } from 'zod';
import { oneOf, publicObject, showing } from './public-object.ts';
import { reviews, reviewsOf } from './review.ts';
import { amount, currency, errors, example, metadata } from './values.ts';

export const refundToken = z.string().meta({ description: 'The refund.', examples: ['ref_…'] });
export const paymentToken = z
  .string()
  .meta({ description: 'The payment.', examples: [example.paymentToken] });

const refund = publicObject({
  both: {
    token: refundToken,
    amount,
    metadata: metadata.exactOptional(),
    status: z.enum(['pending', 'approved', 'declined']),
    phase: oneOf(
      keptRefundSchema.shape.state.options,
      '`unresolved`: sent, and the outcome is not known yet.',
    ),
  },
  inAnswers: { currency, errors: errors.describe('Why nothing was refunded; empty otherwise.') },
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
    'The open reviews of its payment that are about this refund. While there is one, its status may be wrong.',
  ),
});
export type PublicRefund = z.infer<typeof refundSchema>;

const statuses: Record<Refund['state'], z.infer<typeof refund.answer>['status']> = {
  submitted: 'pending',
  unresolved: 'pending',
  accepted: 'pending',
  approved: 'approved',
  declined: 'declined',
};

/** The public fields of a refund, without its payment's token. */
export const refundOf = (
  { refundToken: token, amount: asked, metadata: noted, state, declined }: Refund,
  inCurrency: string,
) => ({
  metadata: noted,
  token,
  amount: asked,
  currency: inCurrency,
  status: statuses[state],
  phase: state,
  errors: declined?.errors ?? [],
});

const show = showing(refundSchema);

/** With the reviews of its payment that are about it, by name or by what the provider shows as given back. */
export function toPublicRefund(kept: Refund, view: PaymentAggregate): PublicRefund {
  const { token, payment } = view;
  const doubts = doubtsAbout(payment, kept);
  const about = reviewsOf(view, payment.reviews).filter(
    (each) =>
      isAbout(each, 'refundToken', kept.refundToken) || doubts.some(({ number }) => number === each.number),
  );
  return show({ ...refundOf(kept, payment.terms.currency), paymentToken: token, reviews: about });
}
