/** A person resolves a review. */
import {
  type PaymentRefusal,
  type PayoutRefusal,
  type PayoutReviewCode,
  type Resolution,
  type ReviewCode,
  payoutReviewCodeSchema,
  reviewCodeSchema,
} from '@tollgate/payment-domain';
import { type Caller, isOwnedBy, isToken } from '@tollgate/teams';
import type { Clock } from '@tollgate/service-kit';
import type { Cause } from '../aggregates/repository.ts';
import {
  type AnySubject,
  type Subjects,
  isPayoutToken,
  stateOf,
  subjectsOf,
} from '../aggregates/subjects.ts';
import type { InquiryResult } from '../inquiries/inquiry-result.ts';
import { inquireBriefly } from './await-outcome.ts';

export interface ResolveReviewDependencies extends Subjects {
  inquire: (token: string, cause: Cause) => Promise<InquiryResult>;
  clock: Clock;
}

export interface ResolveReviewInput {
  caller: Caller;
  /** Of a payment or a payout. */
  token: string;
  code: ReviewCode | PayoutReviewCode;
  /** Which one of this code, as the list of reviews shows it. */
  number: number;
  resolution: Resolution;
  reason: string;
  cause: Cause;
}

export type ResolveReviewResult =
  { kind: 'resolved'; aggregate: AnySubject } | { kind: 'refused'; refusal: PaymentRefusal | PayoutRefusal };

export async function resolveReview(
  deps: ResolveReviewDependencies,
  input: ResolveReviewInput,
): Promise<ResolveReviewResult> {
  const { caller, token, cause } = input;
  const found = isToken(token) ? await subjectsOf(deps, token).load(token) : undefined;
  if (found === undefined || !isOwnedBy(stateOf(found), caller)) {
    const code = isPayoutToken(token) ? 'payout_not_found' : 'payment_not_found';
    return { kind: 'refused', refusal: { code } };
  }
  const executed = await execute(deps, input);
  if (executed === undefined) return { kind: 'refused', refusal: { code: 'review_not_found' } };
  if (executed.kind === 'refused') return executed;
  // From here on only an inquiry finds what the provider does about it. The answer stands without it.
  await inquireBriefly(deps, { token, cause });
  return { kind: 'resolved', aggregate: (await subjectsOf(deps, token).load(token)) ?? found };
}

/** Undefined for a code that this kind of subject does not have. */
async function execute(
  { payments, payouts }: Subjects,
  { token, code, number, resolution, reason, cause }: ResolveReviewInput,
) {
  const answer = { type: 'ResolveReview', number, resolution, reason } as const;
  if (isPayoutToken(token)) {
    const known = payoutReviewCodeSchema.safeParse(code).data;
    return known && payouts.execute(token, { ...answer, code: known }, cause);
  }
  const known = reviewCodeSchema.safeParse(code).data;
  return known && payments.execute(token, { ...answer, code: known }, cause);
}
