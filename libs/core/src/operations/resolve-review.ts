/** A person resolves a review. */
import { type Environment } from '../domain/values.ts';
import { type PaymentRefusal } from '../domain/payment/payment-commands.ts';
import { type PayoutRefusal } from '../domain/payout/payout-commands.ts';
import { type PayoutReviewCode, payoutReviewCodeSchema } from '../domain/payout/payout-events.ts';
import { type Proposer, type Resolution, type Review } from '../domain/review.ts';
import { type ReviewCode, reviewCodeSchema } from '../domain/payment/payment-events.ts';
import { type Requester } from '../domain/requester.ts';
import { isOwnedBy, isToken } from '../domain/ownership.ts';
import { type Clock, omitUndefined } from '@tollgate/service-kit';
import { type Cause, requireDone } from '../aggregates/repository.ts';
import {
  type AnySubject,
  type Subjects,
  isPayoutToken,
  stateOf,
  subjectsOf,
} from '../aggregates/subjects.ts';
import {
  type UnmatchedAggregate,
  type UnmatchedOperations,
  isUnmatchedToken,
} from '../aggregates/unmatched.ts';
import type { InquiryResult } from '../inquiry/inquiries.ts';
import { inquireBriefly } from './await-outcome.ts';
import { type DecisionRecorder, recordDecision } from './recorded-decision.ts';

export interface ResolveReviewDependencies extends Subjects, DecisionRecorder {
  unmatched: UnmatchedOperations;
  inquire: (token: string, cause: Cause) => Promise<InquiryResult>;
  /** The environments in which a second person must agree before an answer takes effect. */
  reviewsByTwo: readonly Environment[];
  clock: Clock;
}

export interface ResolveReviewInput {
  caller: Requester;
  /** Of a payment, a payout, or an operation that only the provider has. */
  token: string;
  code: ReviewCode | PayoutReviewCode;
  /** The number of the review, within its code, as in the list of reviews. */
  number: number;
  resolution: Resolution;
  reason: string;
  cause: Cause;
}

export type ResolveReviewResult =
  /** `proposed`: takes effect when a second person agrees. */
  | { kind: 'resolved' | 'proposed'; aggregate: AnySubject | UnmatchedAggregate }
  | {
      kind: 'refused';
      refusal: PaymentRefusal | PayoutRefusal | KeyRefusal;
    };

/**
 * `person_required`: two people must decide, and a key is not a person. `operator_required`: the gaining team cannot decide.
 */
interface KeyRefusal {
  code: 'person_required' | 'operator_required';
}

/** These can free money of a wallet. A key of the team may give the others, which free none. */
export const operatorResolutions: readonly Resolution[] = [
  'accept_theirs',
  'payout_not_made',
  'refund_not_made',
  'dispute_won',
  'dispute_lost',
];

export async function resolveReview(
  deps: ResolveReviewDependencies,
  input: ResolveReviewInput,
): Promise<ResolveReviewResult> {
  const { caller, token, cause } = input;
  const found = isToken(token) ? await repositoryOf(deps, token).load(token) : undefined;
  if (found === undefined || !isOwnedBy(reviewedIn(found), caller))
    return { kind: 'refused', refusal: { code: notFound(token) } };
  const proposer = proposerOf(deps, input, reviewedIn(found));
  if (typeof proposer === 'string') return { kind: 'refused', refusal: { code: proposer } };
  await record(deps, input, reviewedIn(found).reviews);
  const executed = await execute(deps, input, proposer);
  if (executed === undefined) return { kind: 'refused', refusal: { code: 'review_not_found' } };
  if (executed.kind === 'refused') return executed;
  const { aggregate } = requireDone<AnySubject | UnmatchedAggregate, unknown>(executed);
  if (isOpen(reviewedIn(aggregate).reviews, input)) return { kind: 'proposed', aggregate };
  // It belongs to no team's books: no inquiry concerns it.
  if ('unmatched' in aggregate) return { kind: 'resolved', aggregate };
  // From here on only an inquiry finds the provider's reaction. The answer takes effect without it.
  await inquireBriefly(deps, { token, cause });
  return { kind: 'resolved', aggregate: (await subjectsOf(deps, token).load(token)) ?? aggregate };
}

const repositoryOf = (deps: ResolveReviewDependencies, token: string) =>
  isUnmatchedToken(token) ? deps.unmatched : subjectsOf(deps, token);

const reviewedIn = (found: AnySubject | UnmatchedAggregate) =>
  'unmatched' in found ? found.unmatched : stateOf(found);

function notFound(token: string) {
  if (isUnmatchedToken(token)) return 'review_not_found';
  return isPayoutToken(token) ? 'payout_not_found' : 'payment_not_found';
}

/**
 * Undefined if any caller is enough. One human may have several keys, so a key does not count as a person if two are needed.
 */
function proposerOf(
  { reviewsByTwo, clock }: ResolveReviewDependencies,
  { caller: { operator }, resolution }: ResolveReviewInput,
  { environment }: { environment: Environment },
): Proposer | KeyRefusal['code'] | undefined {
  const takesTwo = reviewsByTwo.includes(environment);
  if (operator !== undefined) return takesTwo ? { name: operator.person, at: clock.now() } : undefined;
  if (takesTwo) return 'person_required';
  return operatorResolutions.includes(resolution) ? 'operator_required' : undefined;
}

const isOpen = (reviews: readonly Pick<Review, 'code' | 'number'>[], { code, number }: ResolveReviewInput) =>
  reviews.some((review) => review.code === code && review.number === number);

async function record(
  deps: ResolveReviewDependencies,
  input: ResolveReviewInput,
  open: readonly Pick<Review, 'code' | 'number'>[],
): Promise<void> {
  const { token, code, number, resolution } = input;
  if (!isOpen(open, input)) return;
  await recordDecision(deps, input, { token, code, number, resolution });
}

const releasesIf = ({ operator }: Requester, resolution: Resolution) =>
  operator !== undefined && resolution === 'keep_ours' ? (true as const) : undefined;

/** Undefined for a code that this kind of subject does not have. */
async function execute(
  { payments, payouts, unmatched }: ResolveReviewDependencies,
  { caller, token, code, number, resolution, reason, cause }: ResolveReviewInput,
  proposer: Proposer | undefined,
) {
  const answer = {
    type: 'ResolveReview',
    number,
    resolution,
    reason,
    // The decision of an operator frees the discrepancy's reservation; that of a key of the gaining team does not.
    ...omitUndefined({ proposer, releases: releasesIf(caller, resolution) }),
  } as const;
  if (isUnmatchedToken(token))
    return code === 'discrepancy' ? unmatched.execute(token, { ...answer, code }, cause) : undefined;
  if (isPayoutToken(token)) {
    const known = payoutReviewCodeSchema.safeParse(code).data;
    return known && payouts.execute(token, { ...answer, code: known }, cause);
  }
  const known = reviewCodeSchema.safeParse(code).data;
  return known && payments.execute(token, { ...answer, code: known }, cause);
}
