/** Reviews: cases that only a person can decide. Opened with evidence; resolved by a person or by a later observation. */
import { z } from 'zod';
import { discrepancySchema, recordedDiscrepancySchema, type Discrepancy } from './discrepancy.ts';
import { cutEvidence, instantSchema } from './values.ts';

const evidenceSchema = z.record(z.string(), z.union([z.string(), z.number(), z.boolean(), z.null()]));
export type Evidence = Readonly<z.infer<typeof evidenceSchema>>;

/** From 1, over the life of a payment or payout, including resolved reviews. */
const reviewNumberSchema = z.int().min(1);

/** The first answer to a review that takes two people. */
const proposalSchema = z.object({
  resolution: z.string(),
  reason: z.string(),
  /** The person's name: the same person cannot agree. */
  proposedBy: z.string(),
  proposedAt: instantSchema,
});
type Proposal = z.infer<typeof proposalSchema>;

export function reviewableShape<Code extends z.ZodType<string>>(code: Code) {
  const reviews = z
    .array(
      z.object({
        code,
        evidence: evidenceSchema.readonly(),
        number: reviewNumberSchema,
        /** The latest one. */
        proposal: proposalSchema.exactOptional(),
      }),
    )
    .readonly();
  return {
    reviews,
    /** Acknowledged evidence: the same evidence does not open another review. */
    acknowledged: reviews,
    /** Reviews opened so far; the latest has this number. */
    reviewCount: z.int().min(0),
    discrepancies: z.array(recordedDiscrepancySchema).readonly(),
  };
}
export interface Review<Code extends string = string> {
  code: Code;
  evidence: Evidence;
  number: number;
  proposal?: Proposal;
}
export interface Reviewable<Code extends string = string> {
  reviews: readonly Review<Code>[];
  acknowledged: readonly Review<Code>[];
  reviewCount: number;
  discrepancies: readonly z.infer<typeof recordedDiscrepancySchema>[];
}

export const noReviews = { reviews: [], acknowledged: [], reviewCount: 0, discrepancies: [] } as const;

/** All resolutions. Their effect is defined with the review's code. */
export const resolutions = [
  /** Discrepancy: the provider's record is correct. */
  'accept_theirs',
  /** Discrepancy: our record stays. */
  'keep_ours',
  /** Inquire again: the provider may know more now. */
  'check_again',
  /** Known; nothing changes. */
  'acknowledged',
  /** The provider never executed the call. */
  'payment_not_made',
  'payout_not_made',
  'refund_made',
  'refund_not_made',
  /** The bank has decided, and the provider's list does not show it. */
  'dispute_won',
  'dispute_lost',
] as const;
export const resolutionSchema = z.enum(resolutions);
export type Resolution = z.infer<typeof resolutionSchema>;

export const reviewOpenedSchema = <Code extends z.ZodType<string>>(code: Code) =>
  z.object({ code, evidence: evidenceSchema, discrepancy: discrepancySchema.exactOptional() });
export const reviewResolvedSchema = <Code extends z.ZodType<string>>(code: Code) =>
  z.object({
    code,
    number: reviewNumberSchema,
    resolution: z.string(),
    reason: z.string(),
    /** An operator keeps our record: the worst case of the discrepancy is no longer reserved. */
    releases: z.literal(true).exactOptional(),
  });
export const reviewResolutionProposedSchema = <Code extends z.ZodType<string>>(code: Code) =>
  z.object({ code, number: reviewNumberSchema, ...proposalSchema.shape });

export interface ReviewOpened<Code extends string> {
  type: 'ReviewOpened';
  data: { code: Code; evidence: z.infer<typeof evidenceSchema>; discrepancy?: Discrepancy };
}
export interface ReviewResolved<Code extends string> {
  type: 'ReviewResolved';
  data: { code: Code; number: number; resolution: string; reason: string; releases?: true };
}
export interface ReviewResolutionProposed<Code extends string> {
  type: 'ReviewResolutionProposed';
  data: { code: Code; number: number } & Proposal;
}

/**
 * Opens a review. One of each code is open at a time, with the latest evidence, because a person must have seen it.
 * Acknowledged evidence opens none.
 */
export function openReview<Code extends string>(
  { reviews, acknowledged }: Pick<Reviewable, 'reviews' | 'acknowledged'>,
  code: Code,
  found: Evidence,
): (ReviewOpened<Code> | ReviewResolved<Code>)[] {
  const evidence = Object.fromEntries(
    Object.entries(found).map(([name, value]) => [
      name,
      typeof value === 'string' ? cutEvidence(value) : value,
    ]),
  );
  const isOfCode = (each: Review): each is Review<Code> => each.code === code;
  const open = reviews.filter(isOfCode);
  const known = open.length > 0 ? open : acknowledged.filter(isOfCode);
  if (known.some((each) => isSame(each.evidence, evidence))) return [];
  return [
    ...resolveWhere({ reviews: open }, () => true, 'superseded', 'Newer evidence exists.'),
    { type: 'ReviewOpened', data: { code, evidence } },
  ];
}

const isSame = (a: Evidence, b: Evidence): boolean =>
  Object.keys(a).length === Object.keys(b).length &&
  Object.entries(a).every(([name, value]) => Object.hasOwn(b, name) && b[name] === value);

/** True if the evidence matches; a missing entry equals null. */
export const isAbout = (
  { evidence }: Pick<Review, 'evidence'>,
  entry: string,
  value: Evidence[string] | undefined,
): boolean => (evidence[entry] ?? null) === (value ?? null);

export const isOpen = <Code extends string>(
  { reviews }: Pick<Reviewable<Code>, 'reviews'>,
  code: Code,
): boolean => reviews.some((open) => open.code === code);

export const findOpen = <Code extends string>(
  { reviews }: Pick<Reviewable<Code>, 'reviews'>,
  { code, number }: Pick<Review<Code>, 'code' | 'number'>,
): Review<Code> | undefined => reviews.find((open) => open.code === code && open.number === number);

/** The person who answers a review if a second person must agree. */
export interface Proposer {
  name: string;
  /** Milliseconds since the Unix epoch. */
  at: number;
}

/**
 * The record of a first answer; undefined if the answer takes effect now, because this is the second person or one is
 * enough. The same person may improve the note.
 */
export function proposalFor<Code extends string>(
  { code, number, proposal }: Review<Code>,
  {
    resolution,
    reason,
    proposer,
  }: { resolution: Resolution; reason: string; proposer?: Proposer | undefined },
): ReviewResolutionProposed<Code>[] | undefined {
  if (proposer === undefined) return undefined;
  const { name: proposedBy, at: proposedAt } = proposer;
  if (proposal?.resolution === resolution) {
    if (!isSamePerson(proposal.proposedBy, proposedBy)) return undefined;
    if (proposal.reason === reason) return [];
  }
  const data = { code, number, resolution, reason, proposedBy, proposedAt };
  return [{ type: 'ReviewResolutionProposed', data }];
}

/** However the name is spelled. */
const isSamePerson = (one: string, other: string): boolean => folded(one) === folded(other);
const folded = (name: string): string => name.normalize('NFKC').toLowerCase().trim();

/** Resolves the reviews that are over. */
export const resolveWhere = <Code extends string>(
  { reviews }: Pick<Reviewable<Code>, 'reviews'>,
  isOver: (open: Review<Code>) => boolean,
  resolution = 'found',
  reason = 'The provider reported the outcome later.',
): ReviewResolved<Code>[] =>
  reviews
    .filter(isOver)
    .map(({ code, number }) => ({ type: 'ReviewResolved', data: { code, number, resolution, reason } }));

type AfterReview<Code extends string> = Pick<
  Reviewable<Code>,
  'reviews' | 'acknowledged' | 'reviewCount' | 'discrepancies'
>;

export function afterOpened<Code extends string>(
  { reviews, acknowledged, reviewCount, discrepancies }: Reviewable<Code>,
  { code, evidence, discrepancy }: ReviewOpened<Code>['data'],
): AfterReview<Code> {
  const number = reviewCount + 1;
  return {
    reviews: [...reviews, { code, evidence, number }],
    acknowledged,
    reviewCount: number,
    discrepancies:
      discrepancy === undefined
        ? discrepancies
        : [...discrepancies, { ...discrepancy, number, state: 'open' }],
  };
}

export function afterProposed<Code extends string>(
  { reviews }: Pick<Reviewable<Code>, 'reviews'>,
  { code, number, ...proposal }: ReviewResolutionProposed<Code>['data'],
): Pick<Reviewable<Code>, 'reviews'> {
  const about = findOpen({ reviews }, { code, number });
  return { reviews: reviews.map((open) => (open === about ? { ...open, proposal } : open)) };
}

export function afterResolved<Code extends string>(
  { reviews, acknowledged, reviewCount, discrepancies }: Reviewable<Code>,
  { number, resolution, releases }: ReviewResolved<Code>['data'],
): AfterReview<Code> {
  const isOther = (each: { number: number }) => each.number !== number;
  const state = releases === true ? 'released' : 'kept';
  return {
    reviews: reviews.filter(isOther),
    acknowledged: [
      ...acknowledged.filter(isOther),
      ...(resolution === 'acknowledged' ? reviews.filter((each) => !isOther(each)) : []),
    ],
    reviewCount,
    discrepancies:
      resolution === 'keep_ours'
        ? discrepancies.map((each) => (isOther(each) ? each : { ...each, state }))
        : discrepancies.filter(isOther),
  };
}

/** Decline reason after a person resolved it as not executed by the provider. */
export const resolvedByAPerson = 'resolved_by_a_person';
