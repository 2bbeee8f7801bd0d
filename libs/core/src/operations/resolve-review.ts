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
  if (isUnmatchedToken(token)) return resolveUnmatched(deps, input);
  const found = isToken(token) ? await subjectsOf(deps, token).load(token) : undefined;
  if (found === undefined || !isOwnedBy(stateOf(found), caller)) {
    const code = isPayoutToken(token) ? 'payout_not_found' : 'payment_not_found';
    return { kind: 'refused', refusal: { code } };
  }
  const proposer = proposerOf(deps, input, stateOf(found));
  if (typeof proposer === 'string') return { kind: 'refused', refusal: { code: proposer } };
  await record(deps, input, stateOf(found).reviews);
  const executed = await execute(deps, input, proposer);
  if (executed === undefined) return { kind: 'refused', refusal: { code: 'review_not_found' } };
  if (executed.kind === 'refused') return executed;
  const { aggregate } = requireDone<AnySubject, unknown>(executed);
  if (isOpen(stateOf(aggregate).reviews, input)) return { kind: 'proposed', aggregate };
  // From here on only an inquiry finds the provider's reaction. The answer takes effect without it.
  await inquireBriefly(deps, { token, cause });
  return { kind: 'resolved', aggregate: (await subjectsOf(deps, token).load(token)) ?? found };
}

/** The operation belongs to no team's books: only the team that may see it may resolve it. */
async function resolveUnmatched(
  deps: ResolveReviewDependencies,
  input: ResolveReviewInput,
): Promise<ResolveReviewResult> {
  const { unmatched } = deps;
  const { caller, token, code, number, resolution, reason, cause } = input;
  const found = isToken(token) ? await unmatched.load(token) : undefined;
  const isShown = found !== undefined && isOwnedBy(found.unmatched, caller);
  if (!isShown || code !== 'discrepancy') return { kind: 'refused', refusal: { code: 'review_not_found' } };
  const proposer = proposerOf(deps, input, found.unmatched);
  if (typeof proposer === 'string') return { kind: 'refused', refusal: { code: proposer } };
  await record(deps, input, found.unmatched.reviews);
  const answer = {
    type: 'ResolveReview',
    code,
    number,
    resolution,
    reason,
    ...omitUndefined({ proposer }),
  } as const;
  const executed = await unmatched.execute(token, answer, cause);
  if (executed.kind === 'refused') return executed;
  const { aggregate } = requireDone(executed);
  const kind = isOpen(aggregate.unmatched.reviews, input) ? 'proposed' : 'resolved';
  return { kind, aggregate };
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
  { payments, payouts }: Subjects,
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
  if (isPayoutToken(token)) {
    const known = payoutReviewCodeSchema.safeParse(code).data;
    return known && payouts.execute(token, { ...answer, code: known }, cause);
  }
  const known = reviewCodeSchema.safeParse(code).data;
  return known && payments.execute(token, { ...answer, code: known }, cause);
}
