/** How much is still to be done, over all teams, from the index: counted where a view is taken over, not where it is read. */
import type { InquiryNeed } from '@tollgate/payment-domain';
import type { IndexFile } from './index-file.ts';
import type { Statements } from './index-rows.ts';

export interface Workload {
  /** Payments and payouts by the need of an inquiry. */
  open: { kind: 'payment' | 'payout'; inquiryNeed: InquiryNeed; count: number }[];
  /** Open reviews. */
  reviews: { kind: 'payment' | 'payout' | 'unmatched'; environment: string; count: number }[];
}

/** How the counts change with a batch of views. */
export function createWorkloadChanges() {
  const changes = new Map<string, { kind: string; inquiryNeed: InquiryNeed; count: number }>();

  function add(kind: string, inquiryNeed: InquiryNeed | undefined, count: number): void {
    if (inquiryNeed === undefined) return;
    const key = `${kind} ${inquiryNeed}`;
    const known = changes.get(key)?.count ?? 0;
    changes.set(key, { kind, inquiryNeed, count: known + count });
  }

  return {
    move(kind: string, { before, after }: Record<'before' | 'after', InquiryNeed | undefined>): void {
      add(kind, before, -1);
      add(kind, after, 1);
    },
    applyTo(statements: Statements): void {
      const sql = `INSERT INTO workload (kind, inquiry_need, count) VALUES (?, ?, ?)
        ON CONFLICT DO UPDATE SET count = count + excluded.count`;
      for (const { kind, inquiryNeed, count } of changes.values())
        if (count !== 0) statements(sql).run(kind, inquiryNeed, count);
    },
  };
}

const openSql = 'SELECT kind, inquiry_need AS inquiryNeed, count FROM workload WHERE count > 0';
const reviewSql = 'SELECT kind, environment, count FROM review_counts WHERE count > 0';

export const workloadIn = (file: IndexFile): Workload => ({
  open: file.select(openSql, []).map((row) => ({
    ...{ kind: row['kind'] === 'payout' ? ('payout' as const) : ('payment' as const) },
    ...{ inquiryNeed: String(row['inquiryNeed']) as InquiryNeed, count: Number(row['count']) },
  })),
  reviews: file.select(reviewSql, []).map((row) => ({
    kind: String(row['kind']) as Workload['reviews'][number]['kind'],
    ...{ environment: String(row['environment']), count: Number(row['count']) },
  })),
});
