/** What lists of payments and payouts are asked by, and what that is in SQL. */
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

export interface Condition {
  sql: string;
  values: (string | number)[];
}

/**
 * The rows of a query, whatever the page, in the table of payments as in that of payouts. One index leads to the rows of
 * the most selective filter in the order of the answer; the unary plus keeps SQLite, which has no statistics here, from
 * choosing another one.
 */
export function toCondition(query: ListQuery): Condition {
  const { environment, team, orderNumber, attention, phase, status, currency, createdFrom, createdBefore } =
    query;
  const filters = [
    { column: 'order_number', value: orderNumber },
    { column: 'phase', value: phase },
    { column: 'status', value: status },
    { column: 'currency', value: currency },
  ].filter((filter): filter is { column: string; value: string } => filter.value !== undefined);
  const isLedByAttention = attention === true && orderNumber === undefined;
  const terms: [string, ...(string | number)[]][] = [
    ['environment = ?', environment],
    ['team = ?', team],
    ...filters.map(({ column, value }, index) => {
      const term: [string, string] = [`${index === 0 && !isLedByAttention ? '' : '+'}${column} = ?`, value];
      return term;
    }),
  ];
  if (attention !== undefined) terms.push([`${isLedByAttention ? '' : '+'}attention = ${attention ? 1 : 0}`]);
  if (createdFrom !== undefined) terms.push(['created_at >= ?', createdFrom]);
  if (createdBefore !== undefined) terms.push(['created_at < ?', createdBefore]);
  return toSql(terms);
}

const toSql = (terms: [string, ...(string | number)[]][]): Condition => ({
  sql: terms.map(([sql]) => sql).join(' AND '),
  values: terms.flatMap(([, ...values]) => values),
});
