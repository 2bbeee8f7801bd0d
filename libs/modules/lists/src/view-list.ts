/** Filters of lists of payments and payouts. */
import type { PaymentStatus } from '@tollgate/core/money';
import type { PaymentPhase, PayoutPhase } from '@tollgate/core';
import type { PageQuery, PageRefused } from './list-page.ts';
import type { PaymentView, PayoutView } from '@tollgate/views';

/** Rows are counted up to here. */
export const totalCountMax = 100_000;

export interface ListQuery<Status extends string = string, Phase extends string = string> extends PageQuery {
  status?: Status;
  phase?: Phase;
  orderNumber?: string;
  /** Of refunds and disputes only. */
  paymentToken?: string;
  currency?: string;
  /** Milliseconds since the Unix epoch, inclusive. */
  createdFrom?: number;
  /** Milliseconds since the Unix epoch, exclusive. */
  createdBefore?: number;
  /** True: only those with an open review; false: only the others. */
  needsReview?: boolean;
  /** Only those with a call whose outcome is not known. */
  unresolved?: true;
  /** Only those with a refund that is not decided; of payments only. */
  refundOpen?: true;
  /** Names and texts, sorted by name; all of them must be so. */
  metadata?: readonly (readonly [name: string, text: string])[];
  withTotal?: boolean;
  /** By creation; newest first unless given. Of the lists over all teams only. */
  order?: ListOrder;
}
/** By creation, which is what every index of the lists ends with: no other order is read without looking at all rows. */
export type ListOrder = 'newest' | 'oldest';
export type PaymentListQuery = ListQuery<PaymentStatus, PaymentPhase | PayoutPhase>;
/** Of payouts, or of payments and payouts together. */
export type OperationListQuery = PaymentListQuery;

interface ListedPage<View> {
  kind: 'page';
  /** Newest first. */
  views: View[];
  /** Absent on the last page. */
  nextCursor?: string;
  /** On request; {@link totalCountMax} means that many or more, of each kind. */
  totalCount?: number;
  /** Rows that were looked at. */
  visited: number;
  /** Characters of the stored texts of the views. */
  length: number;
}
export type ViewList<View> = ListedPage<View> | PageRefused;
export type PaymentList = ViewList<PaymentView>;
export type PayoutList = ViewList<PayoutView>;
export type OperationView = PaymentView | PayoutView;
export type OperationList = ViewList<OperationView>;
