/**
 * A discrepancy: our record and the provider's disagree. There is one record per provider token. It is replaced when the provider
 * shows something else, and ends when both agree. A review with the code `discrepancy` is open until a person resolves it.
 */
import { z } from 'zod';
import type { Evidence, Reviewable, ReviewOpened, ReviewResolved } from './review.ts';
import { cut, cutEvidence, reportedSumSchema, textSchema } from './values.ts';

/** The kind of disagreement, for people: all kinds are handled alike. */
const discrepancyKinds = [
  /** Ours is final, and the provider shows another status. */
  'final_status_revised',
  /** The provider has it, and our books do not. */
  'only_at_service',
  /** Our books have it, and the provider does not. */
  'only_here',
  /** The refunded sums differ, or a refund that failed here may have taken effect. */
  'refund_disagrees',
  'second_payment_found',
  'second_payout_found',
  /** Another amount, currency or order number. */
  'terms_disagree',
  /** A status that is not in the specification. */
  'unknown_status',
] as const;
export type DiscrepancyKind = (typeof discrepancyKinds)[number];

/** One side. Amounts are minor units if the provider follows its interface, and any number otherwise. */
const sideSchema = z.object({
  status: textSchema,
  amount: z.number(),
  currency: textSchema,
  /** Null if not shown, which does not mean 0. */
  refundedAmount: reportedSumSchema,
  authorizedAmount: reportedSumSchema,
  orderNumber: z.union([textSchema, z.null()]),
});
export type Side = z.infer<typeof sideSchema>;

export const discrepancySchema = z.object({
  kind: z.enum(discrepancyKinds),
  operation: z.enum(['payment', 'payout']),
  serviceToken: textSchema,
  /** Set if it concerns one refund of the payment: our token of that refund. */
  refundToken: textSchema.exactOptional(),
  ours: z.union([sideSchema, z.null()]),
  theirs: z.union([sideSchema, z.null()]),
});
export type Discrepancy = z.infer<typeof discrepancySchema>;

/**
 * The stored record. `open`: a review waits; `kept`: a person keeps our record, and the worst case stays reserved;
 * `released`: an operator keeps our record, and nothing is reserved.
 */
export const recordedDiscrepancySchema = discrepancySchema.extend({
  number: z.int().min(1),
  state: z.enum(['open', 'kept', 'released']),
});
export type RecordedDiscrepancy = z.infer<typeof recordedDiscrepancySchema>;

type Recorded = Pick<Reviewable, 'discrepancies'>;
type Events = (ReviewOpened<'discrepancy'> | ReviewResolved<'discrepancy'>)[];

const keyOf = ({ refundToken, serviceToken }: Pick<Discrepancy, 'refundToken' | 'serviceToken'>): string =>
  refundToken ?? serviceToken;

/** @param key the provider's token, or our token of a refund */
export const findDiscrepancy = ({ discrepancies }: Recorded, key: string): RecordedDiscrepancy | undefined =>
  discrepancies.find((each) => keyOf(each) === cut(key));

export const theirSide = (observed: {
  status: string;
  amount: number;
  currency: string;
  refundedAmount?: number | null | undefined;
  authorizedAmount?: number | null | undefined;
  orderNumber?: string | undefined;
}): Side => ({
  status: cutEvidence(observed.status),
  amount: observed.amount,
  currency: cutEvidence(observed.currency),
  refundedAmount: observed.refundedAmount ?? null,
  authorizedAmount: observed.authorizedAmount ?? null,
  orderNumber: observed.orderNumber === undefined ? null : cutEvidence(observed.orderNumber),
});

/** Maximum records of duplicates per payment or payout. One more replaces the one with the smallest amount, or is ignored. */
const duplicatesMax = 10;

/** Records what the provider shows; no event if it is already recorded. */
export function observeDiscrepancy(state: Recorded, shown: Discrepancy): Events {
  const discrepancy = { ...shown, serviceToken: cut(shown.serviceToken) };
  const known = findDiscrepancy(state, keyOf(discrepancy));
  if (known?.kind === discrepancy.kind && isSameSide(known.theirs, discrepancy.theirs)) return [];
  const smallest = known === undefined ? smallestDuplicate(state, discrepancy) : undefined;
  if (smallest !== undefined && amountIn(smallest) >= amountIn(discrepancy)) return [];
  return [
    ...resolveAs('superseded', 'The provider shows a different record.', known ?? smallest),
    { type: 'ReviewOpened', data: { code: 'discrepancy', evidence: evidenceOf(discrepancy), discrepancy } },
  ];
}

function smallestDuplicate({ discrepancies }: Recorded, { kind }: Discrepancy) {
  if (kind !== 'second_payment_found' && kind !== 'second_payout_found') return undefined;
  const duplicates = discrepancies.filter((each) => each.kind === kind);
  if (duplicates.length < duplicatesMax) return undefined;
  return duplicates.toSorted((a, b) => amountIn(a) - amountIn(b))[0];
}

const amountIn = ({ theirs }: Pick<Discrepancy, 'theirs'>): number => theirs?.amount ?? 0;

/** The provider's record agrees with ours. */
export const endDiscrepancy = (state: Recorded, key: string | undefined): Events =>
  key === undefined
    ? []
    : resolveAs('found', 'The provider shows what our record has.', findDiscrepancy(state, key));

const resolveAs = (resolution: string, reason: string, known: RecordedDiscrepancy | undefined): Events =>
  known === undefined
    ? []
    : [{ type: 'ReviewResolved', data: { code: 'discrepancy', number: known.number, resolution, reason } }];

/** Reopens the record under a new number: its worst case stays reserved until the next inquiry is answered. */
export const reopen = ({ number: _, state: __, ...discrepancy }: RecordedDiscrepancy): Events => [
  { type: 'ReviewOpened', data: { code: 'discrepancy', evidence: evidenceOf(discrepancy), discrepancy } },
];

const isSameSide = (one: Side | null, other: Side | null): boolean =>
  one === null || other === null
    ? one === other
    : Object.entries(one).every(([name, value]) => other[name as keyof Side] === value);

/** The record as shown in a review. */
function evidenceOf({ kind, serviceToken, refundToken, ours, theirs }: Discrepancy): Evidence {
  return {
    kind,
    serviceToken: cutEvidence(serviceToken),
    ...(refundToken !== undefined && { refundToken }),
    ...(ours !== null && {
      status: ours.status,
      amount: ours.amount,
      currency: ours.currency,
      refundedAmount: ours.refundedAmount,
      providerOrderNumber: ours.orderNumber,
    }),
    observedStatus: theirs === null ? null : cutEvidence(theirs.status),
    ...(theirs !== null && {
      observedAmount: theirs.amount,
      observedCurrency: cutEvidence(theirs.currency),
      observedRefundedAmount: theirs.refundedAmount,
      observedAuthorizedAmount: theirs.authorizedAmount,
      observedOrderNumber: theirs.orderNumber === null ? null : cutEvidence(theirs.orderNumber),
    }),
  };
}

/**
 * Minor units that must not be paid out or refunded while both sides disagree. Payment: what remains by our record and not by
 * the provider's. Payout: what left by the provider's record and not by ours.
 *
 * @param discrepancy with our current side
 */
export function worstCaseOf({
  operation,
  ours,
  theirs,
}: Pick<Discrepancy, 'operation' | 'ours' | 'theirs'>): number {
  if (operation === 'payment') return Math.max(0, leftIn(ours) - leftIn(theirs, ours));
  const isOtherMoney = ours !== null && theirs?.currency !== ours.currency;
  return isOtherMoney ? 0 : Math.max(0, paidOutIn(theirs) - paidOutIn(ours));
}

function leftIn(side: Side | null, ours = side): number {
  if (side === null || !isPaid(side) || side.currency !== ours?.currency) return 0;
  const refunded = isRefundedByWord(side) ? side.amount : (side.refundedAmount ?? ours.refundedAmount ?? 0);
  return Math.max(0, Math.floor(Math.min(side.amount, Number.MAX_SAFE_INTEGER) - Math.max(0, refunded)));
}

const paidOutIn = (side: Side | null): number =>
  side === null || side.status === 'declined'
    ? 0
    : Math.ceil(Math.min(Math.max(0, side.amount), Number.MAX_SAFE_INTEGER));

export const isPaid = ({ status }: Pick<Side, 'status'>): boolean =>
  status === 'approved' || status === 'refunded';

/** True if the provider shows a refund without an amount: it may be everything. */
export const isRefundedByWord = ({
  status,
  refundedAmount,
}: {
  status: string;
  refundedAmount?: number | null | undefined;
}): boolean => status === 'refunded' && (refundedAmount ?? 0) === 0;
