/**
 * A payment or payout that an account at the provider has and our books do not: made before Tollgate, by another user of the
 * same account, or by another installation. It belongs to no team's books; a person decides.
 */
import {
  type Decision,
  type Resolution,
  type ResolveReview,
  type ReviewRefusal,
  InvariantViolation,
  afterOpened,
  afterProposed,
  afterResolved,
  environmentSchema,
  events,
  findOpen,
  instantSchema,
  noReviews,
  observeDiscrepancy,
  proposalFor,
  refuse,
  reportedSumSchema,
  reviewOpenedSchema,
  reviewResolutionProposedSchema,
  reviewResolvedSchema,
  reviewableShape,
  theirSide,
  unreachable,
} from '@tollgate/core';
import { maskedText, omitUndefined } from '@tollgate/service-kit';
import { z } from 'zod';
import { type EventOf, eventFamily } from '@tollgate/event-store';

export const unmatchedStreamPrefix = 'unmatched-';
export const unmatchedTokenPrefix = 'unm';
export const unmatchedStream = (token: string): string => `${unmatchedStreamPrefix}${token}`;

export const operationKindSchema = z.enum(['payment', 'payout']);
export type OperationKind = z.infer<typeof operationKindSchema>;

const unmatchedReviewCodeSchema = z.literal('discrepancy');
type UnmatchedReviewCode = z.infer<typeof unmatchedReviewCodeSchema>;

const textLengthMax = 255;
const textSchema = z.string().max(textLengthMax);

/** The provider's record: amounts are minor units if it follows its interface, and any number otherwise. */
const factsSchema = z.object({
  environment: environmentSchema,
  account: z.string(),
  operation: operationKindSchema,
  serviceToken: textSchema,
  status: textSchema,
  amount: z.number(),
  refundedAmount: reportedSumSchema,
  currency: textSchema,
  orderNumber: textSchema.optional(),
  createdAt: instantSchema.optional(),
});
export type UnmatchedFacts = z.infer<typeof factsSchema>;

/** Data of each event type, as stored. */
const eventSchemas = {
  /** `team`: the only team of the account at that time, which may see it; absent if there are several. */
  UnmatchedObserved: factsSchema.extend({ team: z.string().optional() }),
  ReviewOpened: reviewOpenedSchema(unmatchedReviewCodeSchema),
  ReviewResolutionProposed: reviewResolutionProposedSchema(unmatchedReviewCodeSchema),
  ReviewResolved: reviewResolvedSchema(unmatchedReviewCodeSchema),
} as const;

export type UnmatchedEvent = EventOf<typeof eventSchemas>;

export const { decode: decodeUnmatchedEvent, versionOf: versionOfUnmatchedEvent } = eventFamily(eventSchemas);

export const unmatchedSchema = eventSchemas.UnmatchedObserved.extend(
  reviewableShape(unmatchedReviewCodeSchema),
);
export type Unmatched = z.infer<typeof unmatchedSchema>;

interface ObserveUnmatched {
  type: 'ObserveUnmatched';
  facts: UnmatchedFacts;
  team?: string;
}
export type UnmatchedInput = ObserveUnmatched | ResolveReview<UnmatchedReviewCode>;

/**
 * It is not inquired: reconciliation shows it as long as it exists. Adoption ends it; otherwise the next reconciliation
 * opens the review again.
 */
export const unmatchedResolutions: readonly Resolution[] = ['accept_theirs', 'keep_ours'];

export function decideUnmatched(
  state: Unmatched | undefined,
  input: UnmatchedInput,
): Decision<UnmatchedEvent, ReviewRefusal> {
  if (input.type === 'ObserveUnmatched') return events(...observe(state, input));
  const open = state && findOpen(state, input);
  if (open === undefined) return refuse({ code: 'review_not_found' });
  const { code, number, resolution, reason } = input;
  if (!unmatchedResolutions.includes(resolution))
    return refuse({ code: 'resolution_not_allowed', allowed: unmatchedResolutions });
  const proposed = proposalFor(open, input);
  if (proposed !== undefined) return events(...proposed);
  return events({ type: 'ReviewResolved', data: { code, number, resolution, reason } });
}

function observe(state: Unmatched | undefined, { facts, team }: ObserveUnmatched): UnmatchedEvent[] {
  const data = { ...toKeep(facts), ...omitUndefined({ team }) };
  const { operation, serviceToken } = data;
  const sides = { ours: null, theirs: theirSide(data) };
  return [
    ...(state !== undefined && isSame(state, data) ? [] : [{ type: 'UnmatchedObserved' as const, data }]),
    ...observeDiscrepancy(state ?? noReviews, { kind: 'only_at_service', operation, serviceToken, ...sides }),
  ];
}

/** Bounded, and without card numbers: the texts are foreign. */
function toKeep({ orderNumber, createdAt, ...facts }: UnmatchedFacts): UnmatchedFacts {
  const kept = (text: string) => maskedText(text, textLengthMax);
  const { serviceToken, status, currency } = facts;
  return {
    ...facts,
    serviceToken: kept(serviceToken),
    status: kept(status),
    currency: kept(currency),
    ...omitUndefined({
      orderNumber: orderNumber && kept(orderNumber),
      createdAt: instantSchema.safeParse(createdAt).data,
    }),
  };
}

const isSame = (state: Unmatched, data: Partial<Unmatched>): boolean =>
  Object.keys(eventSchemas.UnmatchedObserved.shape).every(
    (name) => state[name as keyof Unmatched] === data[name as keyof Unmatched],
  );

/** @throws InvariantViolation if the first event is not UnmatchedObserved */
export function evolveUnmatched(state: Unmatched | undefined, event: UnmatchedEvent): Unmatched {
  if (event.type === 'UnmatchedObserved') {
    const { reviews, acknowledged, reviewCount, discrepancies } = state ?? noReviews;
    return { ...event.data, reviews, acknowledged, reviewCount, discrepancies };
  }
  if (state === undefined) throw new InvariantViolation(`${event.type} came before UnmatchedObserved`);
  switch (event.type) {
    case 'ReviewOpened':
      return { ...state, ...afterOpened(state, event.data) };
    case 'ReviewResolutionProposed':
      return { ...state, ...afterProposed(state, event.data) };
    case 'ReviewResolved':
      return { ...state, ...afterResolved(state, event.data) };
    default:
      return unreachable(event);
  }
}
