/**
 * Reviews: what only a person can decide. Opened once with evidence; resolved by a person or by a later observation.
 */
import { z } from 'zod';
import { since } from './schema-version.ts';
import { instantSchema } from './values.ts';

const evidenceSchema = z.record(z.string(), z.union([z.string(), z.number(), z.boolean(), z.null()]));
export type Evidence = Readonly<z.infer<typeof evidenceSchema>>;

/**
 * From 1, over the life of a payment or payout: distinguishes a review from others of its code, resolved ones
 * included.
 */
const reviewNumberSchema = z.int().min(1);

/** What somebody has answered to a review, where a second person must agree before it holds. */
const proposalSchema = z.object({
  resolution: z.string(),
  reason: z.string(),
  /** The person's name: the same person cannot agree. */
  proposedBy: z.string(),
  /** Milliseconds since the Unix epoch. */
  proposedAt: instantSchema,
});
type Proposal = z.infer<typeof proposalSchema>;

/** Open reviews, and those that a person has acknowledged: the same finding does not open another one. */
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
    acknowledged: reviews,
    /** How many were opened so far; the latest has this number. */
    reviewCount: z.int().min(0),
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
}

export const noReviews = { reviews: [], acknowledged: [], reviewCount: 0 } as const;

/** The resolutions a person may choose from. Their effect is defined where the review's code belongs. */
export const resolutions = [
  /** It is settled elsewhere; nothing changes here. */
  'acknowledged',
  /** The service may know more now. */
  'inquire_again',
  /** The person confirmed that the service never made it, or undid it. */
  'payment_not_made',
  'payout_not_made',
  'refund_made',
  'refund_not_made',
  /** The service's terms hold: the payment or payout is of the amount that the evidence shows. */
  'observed_terms_apply',
] as const;
export const resolutionSchema = z.enum(resolutions);
export type Resolution = z.infer<typeof resolutionSchema>;

/** Data of the event, as stored. */
export const reviewOpenedSchema = <Code extends z.ZodType<string>>(code: Code) =>
  z.object({ code, evidence: evidenceSchema });
export const reviewResolvedSchema = <Code extends z.ZodType<string>>(
  code: Code,
  resolution: z.ZodType<string> = z.string(),
) => z.object({ code, number: reviewNumberSchema, resolution, reason: z.string() });
export const reviewResolutionProposedSchema = <Code extends z.ZodType<string>>(code: Code) =>
  since(2, z.object({ code, number: reviewNumberSchema, ...proposalSchema.shape }));

export interface ReviewOpened<Code extends string> {
  type: 'ReviewOpened';
  data: { code: Code; evidence: z.infer<typeof evidenceSchema> };
}
export interface ReviewResolved<Code extends string> {
  type: 'ReviewResolved';
  data: { code: Code; number: number; resolution: string; reason: string };
}
export interface ReviewResolutionProposed<Code extends string> {
  type: 'ReviewResolutionProposed';
  data: { code: Code; number: number } & Proposal;
}

/** Characters of one text of the evidence at most: the service's texts may have any length. */
const evidenceLengthMax = 256;
const cutEvidence = <Value>(value: Value) =>
  typeof value === 'string' ? value.slice(0, evidenceLengthMax) : value;
const asKept = (evidence: Evidence): Evidence =>
  Object.fromEntries(Object.entries(evidence).map(([name, value]) => [name, cutEvidence(value)]));

/** Opens a review unless one of its code is open, or a person has acknowledged this very evidence. */
export function openReview<Code extends string>(
  state: Pick<Reviewable, 'reviews' | 'acknowledged'>,
  code: Code,
  given: Evidence,
): ReviewOpened<Code>[] {
  if (isOpen(state, code)) return [];
  const evidence = asKept(given);
  const isKnown = state.acknowledged.some((known) => known.code === code && isSame(known.evidence, evidence));
  return isKnown ? [] : [{ type: 'ReviewOpened', data: { code, evidence } }];
}

/**
 * As {@link openReview}, where each finding takes the place of the one before about the same: who resolves it must have seen the latest,
 * and what was acknowledged before is asked about again.
 */
export const openInstead = <Code extends string>(
  state: Reviewable<Code>,
  code: Code,
  evidence: Evidence,
  serviceToken: string,
): (ReviewOpened<Code> | ReviewResolved<Code>)[] => [
  ...resolveWhere(
    state,
    (open) => open.code === code && isAboutToken(serviceToken)(open),
    'superseded',
    'the service showed something else',
  ),
  ...openReview({ reviews: [], acknowledged: [] }, code, evidence),
];

/**
 * As {@link openReview}; where one about the same `observedServiceToken` is open, the finding takes its place if it differs: who resolves
 * it must have seen the latest. What was acknowledged of other doubts about that is forgotten: it is new where it is shown again.
 */
export function openLatest<Code extends string>(
  { reviews, acknowledged }: Pick<Reviewable<Code>, 'reviews' | 'acknowledged'>,
  code: Code,
  given: Evidence,
): (ReviewOpened<Code> | ReviewResolved<Code>)[] {
  const evidence = asKept(given);
  const isOfSame = isAboutToken(evidence['observedServiceToken']);
  const open = reviews.filter((each) => each.code === code && isOfSame(each));
  const seen = acknowledged.filter(isOfSame);
  const isThis = (each: Review<Code>) => each.code === code && isSame(each.evidence, evidence);
  if ((open.length > 0 ? open : seen).some(isThis)) return [];
  const isOver = (each: Review<Code>) =>
    open.includes(each) || (isAboutDoubt({ code }) && isAboutDoubt(each));
  return [
    ...resolveWhere(
      { reviews: [...open, ...seen] },
      isOver,
      'superseded',
      'the service showed something else',
    ),
    { type: 'ReviewOpened', data: { code, evidence } },
  ];
}

/** True where the evidence is about this payment or payout: also where it names none, or none is known. */
export const isAboutToken = (serviceToken: Evidence[string] | undefined) => {
  const token = cutEvidence(serviceToken);
  return ({ evidence }: Pick<Review, 'evidence'>): boolean =>
    token === undefined || (evidence['observedServiceToken'] ?? token) === token;
};

/** As {@link openReview}, where one may be open for each value of this entry of the evidence. */
export function openReviewPer<Code extends string>(
  state: Reviewable,
  entry: string,
  code: Code,
  evidence: Evidence,
): ReviewOpened<Code>[] {
  const alike = state.reviews.filter((open) => isAbout(open, entry, evidence[entry]));
  return openReview({ ...state, reviews: alike }, code, evidence);
}

/** True where the evidence names this; an entry that is missing equals null. */
export const isAbout = (
  { evidence }: Pick<Review, 'evidence'>,
  entry: string,
  value: Evidence[string] | undefined,
): boolean => (evidence[entry] ?? null) === (cutEvidence(value) ?? null);

const isSame = (a: Evidence, b: Evidence): boolean =>
  Object.keys(a).length === Object.keys(b).length &&
  Object.entries(a).every(([name, value]) => Object.hasOwn(b, name) && b[name] === value);

export const isOpen = <Code extends string>(
  { reviews }: Pick<Reviewable<Code>, 'reviews'>,
  code: Code,
): boolean => reviews.some((open) => open.code === code);

/** The open review that a person resolves. */
export const findOpen = <Code extends string>(
  { reviews }: Pick<Reviewable<Code>, 'reviews'>,
  { code, number }: Pick<Review<Code>, 'code' | 'number'>,
): Review<Code> | undefined => reviews.find((open) => open.code === code && open.number === number);

/** The person who answers a review where a second person must agree. */
export interface Proposer {
  /** The person's name. */
  name: string;
  /** When, milliseconds since the Unix epoch. */
  at: number;
}

/**
 * What is recorded of an answer that a second person must agree with; undefined where it holds now, because this is the second
 * person, or because it takes one only. The same person may give better reasons.
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

/** However the name is spelt. */
const isSamePerson = (one: string, other: string): boolean => folded(one) === folded(other);
const folded = (name: string): string => name.normalize('NFKC').toLowerCase().trim();

/** Resolves the open reviews that are over. */
export const resolveWhere = <Code extends string>(
  { reviews }: Pick<Reviewable<Code>, 'reviews'>,
  isOver: (open: Review<Code>) => boolean,
  resolution: string,
  reason: string,
): ReviewResolved<Code>[] =>
  reviews
    .filter(isOver)
    .map(({ code, number }) => ({ type: 'ReviewResolved', data: { code, number, resolution, reason } }));

/** As {@link resolveWhere}, for all of these codes. */
export const resolveOpen = <Code extends string>(
  state: Reviewable<Code>,
  codes: readonly Code[],
  resolution: string,
  reason: string,
): ReviewResolved<Code>[] => resolveWhere(state, ({ code }) => codes.includes(code), resolution, reason);

/**
 * The service shows what was asked for, and it is understood: what was in doubt about that token is over, and what was acknowledged of it
 * is forgotten. A status that is taken over ends by itself what was acknowledged of doubts, and the open review of what was open again.
 *
 * @param events that take a status over, if any
 */
export function endDoubtsAfter<Code extends string>(
  { reviews, acknowledged }: Pick<Reviewable<Code>, 'reviews' | 'acknowledged'>,
  events: readonly unknown[],
  { serviceToken, isOpenAgain }: { serviceToken: string; isOpenAgain: (about: Review<Code>) => boolean },
): ReviewResolved<Code>[] {
  const isOfSame = isAboutToken(serviceToken);
  return resolveWhere(
    {
      reviews:
        events.length === 0
          ? [...reviews, ...acknowledged]
          : [...reviews.filter(isAboutDoubt), ...acknowledged.filter(isOpenAgain)],
    },
    (about) => (isAboutDoubt(about) || isOpenAgain(about)) && isOfSame(about),
    'found',
    'the service reported it later',
  );
}

export const isAboutDoubt = ({ code }: Pick<Review, 'code'>): boolean =>
  doubtCodes.some((each) => each === code);

export function afterOpened<Code extends string>(
  { reviews, reviewCount }: Reviewable<Code>,
  { code, evidence }: Pick<Review<Code>, 'code' | 'evidence'>,
): Pick<Reviewable<Code>, 'reviews' | 'reviewCount'> {
  const number = reviewCount + 1;
  return { reviews: [...reviews, { code, evidence, number }], reviewCount: number };
}

export function afterProposed<Code extends string>(
  { reviews }: Pick<Reviewable<Code>, 'reviews'>,
  { code, number, ...proposal }: ReviewResolutionProposed<Code>['data'],
): Pick<Reviewable<Code>, 'reviews'> {
  const about = findOpen({ reviews }, { code, number });
  return { reviews: reviews.map((open) => (open === about ? { ...open, proposal } : open)) };
}

/** What is found again after these is new: nobody has accepted it as it is. */
const notLastWords: readonly string[] = ['inquire_again', 'observed_terms_apply'] satisfies Resolution[];
/** After these the same finding opens no further review. */
const lastWords: ReadonlySet<string> = new Set(resolutions.filter((each) => !notLastWords.includes(each)));

export function afterResolved<Code extends string>(
  { reviews, acknowledged }: Reviewable<Code>,
  { code, number, resolution }: ReviewResolved<Code>['data'],
): Pick<Reviewable<Code>, 'reviews' | 'acknowledged'> {
  const resolved = findOpen({ reviews }, { code, number });
  const left = {
    reviews: reviews.filter((open) => open !== resolved),
    // What was acknowledged is over as well.
    acknowledged: acknowledged.filter((each) => each.code !== code || each.number !== number),
  };
  if (resolved === undefined || !lastWords.has(resolution)) return left;
  const { proposal: _, ...accepted } = resolved;
  return { ...left, acknowledged: [...left.acknowledged, accepted] };
}

/** Decline reason of what a person resolved as undone by the service. */
export const resolvedByAPerson = 'resolved_by_a_person';

/** What the service shows, or does not show, as long as nobody understands it. */
export const doubtCodes = ['only_here', 'terms_disagree', 'unknown_status'] as const;

/** What was acknowledged of these is over: where it comes again, it is new. */
export const afterDoubts = <State extends Pick<Reviewable, 'acknowledged'>>(
  state: State,
  over: readonly string[],
): State =>
  state.acknowledged.length === 0
    ? state
    : { ...state, acknowledged: state.acknowledged.filter(({ code }) => !over.includes(code)) };
