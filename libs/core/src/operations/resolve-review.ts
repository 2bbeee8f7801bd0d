/** A person resolves a review. */
import { type Environment } from '../domain/values.ts';
import { type PaymentRefusal } from '../domain/payment/payment-commands.ts';
import { type PayoutRefusal } from '../domain/payout/payout-commands.ts';
import { type PayoutReviewCode, payoutReviewCodeSchema } from '../domain/payout/payout-events.ts';
import { type Resolution, type Review } from '../domain/review.ts';
import type { ResolveReview } from '../domain/shared-inputs.ts';
import { type ReviewCode, reviewCodeSchema } from '../domain/payment/payment-events.ts';
import { type Requester } from '../domain/requester.ts';
import { isOwnedBy, isToken } from '../domain/ownership.ts';
import { type Clock, omitUndefined } from '@tollgate/service-kit';
import { type Cause, type Executed, requireDone } from '../aggregates/repository.ts';
import {
  type AnySubject,
  type Subjects,
  isPayoutToken,
  stateOf,
  subjectsOf,
} from '../aggregates/subjects.ts';
import { type AwaitOutcomeDependencies, inquireBriefly } from './await-outcome.ts';
import { refuse } from './operation.ts';
import { type DecisionRecorder, recordDecision } from './recorded-decision.ts';
import { type KeyRefusal, proposerOf } from './who-may-resolve.ts';

export interface ResolveReviewDependencies extends DecisionRecorder {
  /** The environments in which a second person must agree before an answer takes effect. */
  reviewsByTwo: readonly Environment[];
  clock: Clock;
}

export interface ResolveReviewInput {
  caller: Requester;
  /** Of the reviewed record. */
  token: string;
  code: ReviewCode | PayoutReviewCode;
  /** The number of the review, within its code, as in the list of reviews. */
  number: number;
  resolution: Resolution;
  reason: string;
  cause: Cause;
}

export type ResolveReviewResult<Subject = AnySubject> =
  /** `proposed`: takes effect when a second person agrees. */
  | { kind: 'resolved' | 'proposed'; aggregate: Subject }
  | { kind: 'refused'; refusal: PaymentRefusal | PayoutRefusal | KeyRefusal };

/** The records of one kind that reviews are about. */
interface ReviewedRecords<Subject> {
  notFound: 'payment_not_found' | 'payout_not_found' | 'review_not_found';
  load(token: string): Promise<Subject | undefined>;
  stateOf(found: Subject): {
    environment: Environment;
    team?: string | undefined;
    reviews: readonly Pick<Review, 'code' | 'number'>[];
  };
  /** Undefined for a code that this kind does not have. */
  resolve(
    token: string,
    answer: ResolveReview<ResolveReviewInput['code']>,
    cause: Cause,
  ): Promise<Executed<Subject, unknown, PaymentRefusal | PayoutRefusal>> | undefined;
}

export async function resolveReview(
  deps: ResolveReviewDependencies & Subjects & Pick<AwaitOutcomeDependencies, 'inquire'>,
  input: ResolveReviewInput,
): Promise<ResolveReviewResult> {
  const { token, cause } = input;
  const { payments, payouts } = deps;
  const result = await resolveReviewIn<AnySubject>(deps, input, {
    notFound: isPayoutToken(token) ? 'payout_not_found' : 'payment_not_found',
    load: (each) => subjectsOf(deps, each).load(each),
    stateOf,
    resolve(each, { code, ...answer }) {
      const ofPayment = reviewCodeSchema.safeParse(code).data;
      const ofPayout = payoutReviewCodeSchema.safeParse(code).data;
      return isPayoutToken(each)
        ? ofPayout && payouts.execute(each, { ...answer, code: ofPayout }, cause)
        : ofPayment && payments.execute(each, { ...answer, code: ofPayment }, cause);
    },
  });
  if (result.kind !== 'resolved') return result;
  // From here on only an inquiry finds the provider's reaction. The answer takes effect without it.
  await inquireBriefly(deps, { token, cause });
  return { ...result, aggregate: (await subjectsOf(deps, token).load(token)) ?? result.aggregate };
}

/** As {@link resolveReview}, of any kind of record, without an inquiry. */
export async function resolveReviewIn<Subject>(
  deps: ResolveReviewDependencies,
  input: ResolveReviewInput,
  records: ReviewedRecords<Subject>,
): Promise<ResolveReviewResult<Subject>> {
  const { caller, token, code, number, resolution, reason, cause } = input;
  const found = isToken(token) ? await records.load(token) : undefined;
  if (found === undefined || !isOwnedBy(records.stateOf(found), caller))
    return refuse({ code: records.notFound });
  const state = records.stateOf(found);
  const proposer = proposerOf(deps, input, state);
  if (typeof proposer === 'string') return refuse({ code: proposer });
  if (isOpen(state.reviews, input)) await recordDecision(deps, input, { token, code, number, resolution });
  // The decision of an operator frees the discrepancy's reservation; that of a key of the gaining team does not.
  const releases = releasesIf(caller, resolution);
  const answer = {
    type: 'ResolveReview',
    code,
    number,
    resolution,
    reason,
    ...omitUndefined({ proposer, releases }),
  } as const;
  const executed = await records.resolve(token, answer, cause);
  if (executed === undefined) return refuse({ code: 'review_not_found' });
  if (executed.kind === 'refused') return executed;
  const { aggregate } = requireDone<Subject, unknown>(executed);
  return { kind: isOpen(records.stateOf(aggregate).reviews, input) ? 'proposed' : 'resolved', aggregate };
}

const isOpen = (reviews: readonly Pick<Review, 'code' | 'number'>[], { code, number }: ResolveReviewInput) =>
  reviews.some((review) => review.code === code && review.number === number);

const releasesIf = ({ operator }: Requester, resolution: Resolution) =>
  operator !== undefined && resolution === 'keep_ours' ? (true as const) : undefined;
