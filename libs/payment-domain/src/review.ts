/** What waits for a person: raised once, with evidence, and ended by what a person says or by what is found out later. */
import { z } from 'zod';

export const evidenceSchema = z.record(z.string(), z.union([z.string(), z.number(), z.boolean(), z.null()]));
/** Which attention is meant; without it, as in the oldest events, all that is open of its code. */
export const reviewNumberSchema = z.int().min(1);
export type Evidence = Readonly<Record<string, string | number | boolean | null>>;

export interface Review<Code extends string = string> {
  code: Code;
  evidence: Evidence;
  /** From 1, over the life of what it is about: tells it from others of its code, also from those that are over. */
  number: number;
}

/** What is open, and what a person has dealt with: the same finding is not brought before a person again. */
export interface Reviewable<Code extends string = string> {
  reviews: readonly Review<Code>[];
  acknowledged: readonly Review<Code>[];
  /** How many were raised until now; the latest has this number. */
  reviewCount: number;
}

export const noReviews = { reviews: [], acknowledged: [], reviewCount: 0 } as const;

/** The ways out that a person has. What each does is decided where the code belongs. */
export const resolutions = [
  /** It is dealt with elsewhere; it stays as it is here. */
  'acknowledged',
  /** The service may know more now. */
  'inquire_again',
  /** The person made sure that the service never made it, or undid it. */
  'payment_not_made',
  'payout_not_made',
  'refund_made',
  'refund_not_made',
] as const;
export const resolutionSchema = z.enum(resolutions);
export type Resolution = z.infer<typeof resolutionSchema>;

export interface ReviewOpened<Code extends string> {
  type: 'ReviewOpened';
  data: { code: Code; evidence: Record<string, string | number | boolean | null> };
}
export interface ReviewResolved<Code extends string> {
  type: 'ReviewResolved';
  /** Without a number: all that is open of the code. */
  data: { code: Code; resolution: string; reason: string; number?: number | undefined };
}

/** Of one text of a piece of evidence, characters: what the service sends may be of any length. */
const evidenceLengthMax = 256;

/** Raises attention unless the same code is open already, or a person has acknowledged this very evidence. */
export function openReview<Code extends string>(
  state: Pick<Reviewable, 'reviews' | 'acknowledged'>,
  code: Code,
  evidence: Evidence,
): ReviewOpened<Code>[] {
  if (isOpen(state, code)) return [];
  const short = Object.entries(evidence).map(([name, value]) => [
    name,
    typeof value === 'string' ? cutEvidence(value) : value,
  ]);
  const data = { code, evidence: Object.fromEntries(short) as ReviewOpened<Code>['data']['evidence'] };
  const isKnown = state.acknowledged.some(
    (known) => known.code === code && isSame(known.evidence, data.evidence),
  );
  return isKnown ? [] : [{ type: 'ReviewOpened', data }];
}

const cutEvidence = (text: string): string => text.slice(0, evidenceLengthMax);

/** As {@link raiseOnce}, where one may be open for each value of this one entry of the evidence. */
export function openReviewPer<Code extends string>(
  state: Reviewable,
  code: Code,
  evidence: Evidence,
  entry: string,
): ReviewOpened<Code>[] {
  const alike = state.reviews.filter((open) => isAbout(open, entry, evidence[entry]));
  return openReview({ ...state, reviews: alike }, code, evidence);
}

/** True where the evidence names this; nothing and an entry that is missing are the same. */
export const isAbout = (
  { evidence }: Pick<Review, 'evidence'>,
  entry: string,
  value: Evidence[string] | undefined,
): boolean =>
  (evidence[entry] ?? null) === (typeof value === 'string' ? cutEvidence(value) : (value ?? null));

const isSame = (a: Evidence, b: Evidence): boolean =>
  Object.keys(a).length === Object.keys(b).length &&
  Object.entries(a).every(([name, value]) => Object.hasOwn(b, name) && b[name] === value);

export const isOpen = <Code extends string>(
  { reviews }: Pick<Reviewable<Code>, 'reviews'>,
  code: Code,
): boolean => reviews.some((open) => open.code === code);

/** The one open attention that a person means. */
export const findOpen = <Code extends string>(
  { reviews }: Pick<Reviewable<Code>, 'reviews'>,
  { code, number }: Pick<Review<Code>, 'code' | 'number'>,
): Review<Code> | undefined => reviews.find((open) => open.code === code && open.number === number);

/** Ends those that are over: in one event where nothing of their code stays open, one by one where something does. */
export function resolveWhere<Code extends string>(
  { reviews }: Pick<Reviewable<Code>, 'reviews'>,
  isOver: (open: Review<Code>) => boolean,
  resolution: string,
  reason: string,
): ReviewResolved<Code>[] {
  const over = reviews.filter(isOver);
  return [...new Set(over.map(({ code }) => code))].flatMap((code) => {
    const ended = over.filter((each) => each.code === code);
    const isAll = ended.length === reviews.filter((open) => open.code === code).length;
    const numbers = isAll ? [{}] : ended.map(({ number }) => ({ number }));
    return numbers.map((which): ReviewResolved<Code> => ({
      type: 'ReviewResolved',
      data: { code, ...which, resolution, reason },
    }));
  });
}

/** Ends all that is open of a code, where it is. */
export const resolveOpen = <Code extends string>(
  state: Reviewable<Code>,
  code: Code,
  resolution: string,
  reason: string,
): ReviewResolved<Code>[] => resolveWhere(state, (open) => open.code === code, resolution, reason);

export function afterOpened<Code extends string>(
  { reviews, reviewCount }: Reviewable<Code>,
  { code, evidence }: Pick<Review<Code>, 'code' | 'evidence'>,
): Pick<Reviewable<Code>, 'reviews' | 'reviewCount'> {
  const number = reviewCount + 1;
  return { reviews: [...reviews, { code, evidence, number }], reviewCount: number };
}

/** After these the person does not want to hear of the same finding again. */
const lastWords: ReadonlySet<string> = new Set(resolutions.filter((each) => each !== 'inquire_again'));

export function afterResolved<Code extends string>(
  { reviews, acknowledged }: Reviewable<Code>,
  { code, number, resolution }: ReviewResolved<Code>['data'],
): Pick<Reviewable<Code>, 'reviews' | 'acknowledged'> {
  const ended = reviews.filter(
    (open) => open.code === code && (number === undefined || open.number === number),
  );
  return {
    reviews: reviews.filter((open) => !ended.includes(open)),
    acknowledged: lastWords.has(resolution) ? [...acknowledged, ...ended] : acknowledged,
  };
}
