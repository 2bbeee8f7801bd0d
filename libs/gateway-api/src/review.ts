/** Reviews as teams see them: the code, since when, the evidence and the allowed resolutions. */
import { paymentStatusSchema } from '@tollgate/core/money';
import {
  paymentPhases,
  payoutPhases,
  payoutResolutionsOf,
  payoutReviewCodes,
  resolutionSchema,
  resolutionsOf,
  reviewCodes,
  statusOfPayoutPhase,
  statusOfPhase,
  type PaymentAggregate,
  type PayoutAggregate,
  type Review,
} from '@tollgate/core';
import { z } from 'zod';
import { oneOf, publicEvent, publicObject, showing } from './public-object.ts';
import { amount, currency, evidence, instant, orderNumber, shownAmount } from './values.ts';
import { unmatchedResolutions, type UnmatchedAggregate } from '@tollgate/books';

export const anyReviewCodes = [...new Set([...reviewCodes, ...payoutReviewCodes])];
const number = z
  .int()
  .min(1)
  .describe('Number of the review among those of its payment or payout; a resolution names it.');

const resolution = z.string().describe('How it was resolved.');
const reason = z.string().describe('Reason given by the person who resolved it.');
const proposal = z
  .object({ resolution: resolutionSchema.describe('The answer.'), reason, proposedAt: instant })
  .describe(
    'Under dual control: the proposal of the first person. It changes nothing until another person confirms it.',
  );

const review = publicObject({
  both: { code: oneOf(anyReviewCodes, 'Reason of the review.') },
  inAnswers: { number, since: instant, evidence, proposal: proposal.exactOptional() },
});

export const reviewSchema = review.answer;

/** The open reviews in a payment or payout. */
export const reviews = {
  inAnswers: z.array(review.answer).describe('The open reviews.'),
  inRecords: z.array(review.record).describe('The open reviews.'),
};

/** The open reviews of a payment or payout, each with the time at which it was opened. */
export const reviewsOf = <Code extends string>(
  { reviewsSince, updatedAt }: Pick<PaymentAggregate, 'reviewsSince' | 'updatedAt'>,
  open: readonly Review<Code>[],
) => open.map((each, place) => ({ ...each, since: reviewsSince[place] ?? updatedAt }));

const ownEntrySchema = z.object({
  token: z.string().describe('The payment or payout.'),
  kind: z.enum(['payment', 'payout']),
  ...review.answer.shape,
  resolutions: z.array(resolutionSchema).describe('The allowed resolutions.'),
  orderNumber: orderNumber.exactOptional(),
  amount,
  currency,
  status: paymentStatusSchema,
  phase: oneOf([...new Set([...paymentPhases, ...payoutPhases])]),
});

/** As the Payment Service shows it, without any checks. */
const unmatchedEntrySchema = z.object({
  token: z.string().describe('Identifies the review in a resolution.'),
  kind: z.literal('unmatched'),
  ...review.answer.shape,
  resolutions: ownEntrySchema.shape.resolutions,
  account: z.string().describe('The merchant account of the operation.'),
  operation: z.enum(['payment', 'payout']),
  orderNumber: z.string().describe('The order number that the Payment Service shows.').exactOptional(),
  createdAt: instant.exactOptional(),
  amount: shownAmount,
  refundedAmount: shownAmount,
  currency: z.string(),
  status: z.string(),
});
export const reviewEntrySchema = z.union([ownEntrySchema, unmatchedEntrySchema]);
export type PublicReviewEntry = z.infer<typeof reviewEntrySchema>;

/** An open review; `place` is its index among the open ones. */
export type ReviewEntry = { place: number; since: number } & (
  | { kind: 'payment'; view: PaymentAggregate }
  | { kind: 'payout'; view: PayoutAggregate }
  | { kind: 'unmatched'; view: UnmatchedAggregate }
);

const showEntry = showing(ownEntrySchema);
const showUnmatched = showing(unmatchedEntrySchema);

/** @throws RangeError if there is no review at that place */
export function toPublicReviewEntry(entry: ReviewEntry): PublicReviewEntry {
  if (entry.kind === 'unmatched') return toPublicUnmatchedEntry(entry);
  const { kind, since, view } = entry;
  const { terms, phase, status, open, resolutions } = subjectOf(entry);
  const { orderNumber: number, amount: asked, currency: inCurrency } = terms;
  const about = { orderNumber: number, amount: asked, currency: inCurrency, status, phase };
  return showEntry({ token: view.token, kind, ...open, since, resolutions, ...about });
}

function toPublicUnmatchedEntry({ since, place, view }: Extract<ReviewEntry, { kind: 'unmatched' }>) {
  const { token, unmatched } = view;
  const open = reviewAt(unmatched.reviews, { place });
  const resolutions = [...unmatchedResolutions];
  return showUnmatched({ ...unmatched, ...open, token, kind: 'unmatched', since, resolutions });
}

function subjectOf(entry: Exclude<ReviewEntry, { kind: 'unmatched' }>) {
  if (entry.kind === 'payment') {
    const { payment } = entry.view;
    const open = reviewAt(payment.reviews, entry);
    const resolutions = resolutionsOf(payment, open);
    return { ...payment, status: statusOfPhase(payment.phase), open, resolutions };
  }
  const { payout } = entry.view;
  const open = reviewAt(payout.reviews, entry);
  const resolutions = payoutResolutionsOf(payout, open);
  return { ...payout, status: statusOfPayoutPhase(payout.phase), open, resolutions };
}

/** For operators only: the first person's name, if a second one must agree. @throws as above */
export function proposedByOf(entry: ReviewEntry): string | undefined {
  const open: readonly Review[] =
    entry.kind === 'payment'
      ? entry.view.payment.reviews
      : entry.kind === 'payout'
        ? entry.view.payout.reviews
        : entry.view.unmatched.reviews;
  return reviewAt(open, entry).proposal?.proposedBy;
}

function reviewAt<Code extends string>(
  open: readonly Review<Code>[],
  { place }: Pick<ReviewEntry, 'place'>,
): Review<Code> {
  const found = open[place];
  if (found === undefined) throw new RangeError('a review of the index is not in its view');
  return found;
}

/** The events of reviews, the same for payments and payouts. */
export function reviewEvents(codes: readonly string[]) {
  const of = { code: oneOf(codes, 'The code of the review.'), number };
  return {
    ReviewOpened: publicEvent('A review was opened: a person must resolve it.', {
      code: oneOf(codes, 'Reason of the review.'),
      evidence,
    }),
    ReviewResolutionProposed: publicEvent(
      'The first of two people proposed a resolution. It changes nothing until another person confirms it.',
      { ...of, resolution: z.string().describe('The answer.'), reason },
    ),
    ReviewResolved: publicEvent('The review was resolved.', { ...of, resolution, reason }),
  };
}

/** The events of deferred callbacks, the same for payments and payouts. */
export const callbackEvents = {
  CallbackDeferred: publicEvent(
    'A callback arrived while the Payment Service could not be inquired. The gateway inquires later.',
  ),
  CallbackInquired: publicEvent('The gateway has inquired about the subject of a deferred callback.'),
};
