/** What lists of payments and payouts are asked by. */
import type { PaymentStatus } from '@tollgate/payment-api/values';
import type { PaymentPhase } from '@tollgate/payment-domain';
import type { PageQuery, PageRefused } from './list-page.ts';
import type { PaymentDocument } from './payment-document.ts';
import type { PayoutDocument } from './payout-document.ts';

/** Rows are counted up to here. */
export const totalCountMax = 100_000;

export interface ListQuery<Status extends string = string, Phase extends string = string> extends PageQuery {
  status?: Status;
  phase?: Phase;
  orderNumber?: string;
  currency?: string;
  /** Milliseconds since the Unix epoch, inclusive. */
  createdFrom?: number;
  /** Milliseconds since the Unix epoch, exclusive. */
  createdBefore?: number;
  /** True: only those that wait for a person; false: only the others. */
  attention?: boolean;
  withTotal?: boolean;
}
export type PaymentListQuery = ListQuery<PaymentStatus, PaymentPhase>;
/** Of payouts, or of payments and payouts together; payouts have some of the statuses and phases of payments. */
export type OperationListQuery = PaymentListQuery;

export interface ListedPage<Document> {
  kind: 'page';
  /** Newest first. */
  documents: Document[];
  /** Absent on the last page. */
  nextCursor?: string;
  /** Where asked for; {@link totalCountMax} stands for that many or more, of each kind. */
  totalCount?: number;
}
export type DocumentList<Document> = ListedPage<Document> | PageRefused;
export type PaymentList = DocumentList<PaymentDocument>;
export type PayoutList = DocumentList<PayoutDocument>;
export type OperationDocument = PaymentDocument | PayoutDocument;
export type OperationList = DocumentList<OperationDocument>;
