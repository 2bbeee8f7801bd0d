/** How much is still to be done, over all teams, from the index. */
import type { InquiryNeed } from '@tollgate/payment-domain';
import type { IndexFile } from './index-file.ts';
import type { Row } from './index-rows.ts';

export interface Workload {
  /** What is on the inquiry schedule, by kind. A kind without entries is left out. */
  open: { kind: 'payment' | 'payout'; inquiryNeed: InquiryNeed; count: number }[];
  /** Open reviews. */
  reviews: { kind: 'payment' | 'payout'; environment: string; count: number }[];
}

/** Reads an index of the open work only, and a table of open reviews only. */
const openSql = (['payment', 'payout'] as const)
  .map(
    (kind) => `SELECT '${kind}' AS kind, inquiry_need AS openWork, count(*) AS count
      FROM ${kind}s WHERE inquiry_need IS NOT NULL GROUP BY inquiry_need`,
  )
  .join(' UNION ALL ');
const reviewSql = 'SELECT kind, environment, count(*) AS count FROM reviews GROUP BY kind, environment';

export const workloadIn = (file: IndexFile): Workload => ({
  open: file
    .select(openSql, [])
    .map((row) => ({ ...countOf(row), inquiryNeed: String(row['openWork']) as InquiryNeed })),
  reviews: file
    .select(reviewSql, [])
    .map((row) => ({ ...countOf(row), environment: String(row['environment']) })),
});

const countOf = (row: Row) => ({
  kind: row['kind'] === 'payout' ? ('payout' as const) : ('payment' as const),
  count: Number(row['count']),
});
