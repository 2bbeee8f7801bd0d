/** Filters of lists of payments and payouts. */
import type { OfOwners, PageQuery, PageRefused } from './list-page.ts';
import type { PaymentView, PayoutView } from '@tollgate/views';

/** Maximum count of rows. */
export const totalCountMax = 100_000;

export interface ListQuery extends PageQuery {
  status?: string;
  phase?: string;
  orderNumber?: string;
  /** For refunds and disputes only. */
  paymentToken?: string;
  currency?: string;
  /** Milliseconds since the Unix epoch, inclusive. */
  createdFrom?: number;
  /** Milliseconds since the Unix epoch, exclusive. */
  createdBefore?: number;
  /** True: only those with an open review; false: only the others. */
  needsReview?: boolean;
  /** Only those with a call without a known outcome. */
  unresolved?: true;
  /** Only payments with an undecided refund. */
  refundOpen?: true;
  /** Names and texts, sorted by name; all of them must match. */
  metadata?: readonly (readonly [name: string, text: string])[];
  withTotal?: boolean;
  /** By creation time. Only in lists over all teams. @default newest first */
  order?: ListOrder;
}
/** By creation, which every index of the lists ends with: any other order would scan all rows. */
export type ListOrder = 'newest' | 'oldest';

/** The entries of several owners; `accepts` filters by conditions without an index. */
export interface Listing<Entry> extends OfOwners<ListQuery> {
  accepts?: (entry: Entry) => boolean;
}

interface ListedPage<View> {
  kind: 'page';
  /** Newest first. */
  views: View[];
  /** Absent on the last page. */
  nextCursor?: string;
  /** On request; {@link totalCountMax} means that many or more, of each kind. */
  totalCount?: number;
  /** Rows visited. */
  visited: number;
  /** Characters of the stored texts of the views. */
  length: number;
}
export type ViewList<View> = ListedPage<View> | PageRefused;
export type OperationView = PaymentView | PayoutView;
