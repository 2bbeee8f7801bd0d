/** What waits for a person, as a team sees it: what it is about, since when, why, and the ways out. */
import {
  payoutResolutionsOf,
  resolutionsOf,
  statusOfPayoutPhase,
  statusOfPhase,
  type Review,
  type Resolution,
} from '@tollgate/payment-domain';
import { InvariantViolation, given } from '@tollgate/service-kit';
import type { ReviewEntry } from './index-reviews.ts';
import { toIso, toPublicEvidence, type PublicReview } from '@tollgate/views';

export interface PublicReviewEntry extends PublicReview {
  /** Of the payment or payout. */
  token: string;
  kind: 'payment' | 'payout';
  /** What a person may answer. */
  resolutions: readonly Resolution[];
  orderNumber?: string;
  amount: number;
  currency: string;
  status: string;
  phase: string;
}

export function toPublicReviewEntry(entry: ReviewEntry): PublicReviewEntry {
  const { kind, view } = entry;
  const { terms, phase, status, reviews, resolutions } = subjectOf(entry);
  const { orderNumber, amount, currency } = terms;
  return {
    token: view.token,
    kind,
    code: reviews.code,
    number: reviews.number,
    since: toIso(entry.since),
    evidence: toPublicEvidence(reviews.evidence),
    resolutions,
    ...given({ orderNumber }),
    ...{ amount, currency, status, phase },
  };
}

function subjectOf(entry: ReviewEntry) {
  if (entry.kind === 'payment') {
    const { payment } = entry.view;
    const reviews = at(payment.reviews, entry);
    const resolutions = resolutionsOf(payment, reviews.code);
    return { ...payment, status: statusOfPhase(payment.phase), reviews, resolutions };
  }
  const { payout } = entry.view;
  const reviews = at(payout.reviews, entry);
  const resolutions = payoutResolutionsOf(payout, reviews.code);
  return { ...payout, status: statusOfPayoutPhase(payout.phase), reviews, resolutions };
}

function at<Code extends string>(reviews: readonly Review<Code>[], { place }: ReviewEntry): Review<Code> {
  const found = reviews[place];
  if (found === undefined) throw new InvariantViolation('an attention of the index is not in its document');
  return found;
}
