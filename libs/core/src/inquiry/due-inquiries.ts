/** The port to an index of due inquiries. An inquiry that finds nothing new writes no event, so the index has the due times. */
import type { InquiryNeed } from '../domain/failed-inquiry.ts';
import type { InquiryItem } from '../domain/next-inquiry-due.ts';
import type { Environment } from '../domain/values.ts';

/** Items of one kind, need and account in one shard, ordered by due time. */
export interface DueQueue {
  kind: 'payment' | 'payout';
  shard: number;
  inquiryNeed: InquiryNeed;
  environment: Environment;
  account: string;
}

export interface DueItem extends InquiryItem {
  kind: DueQueue['kind'];
  /** Revision of the view that the due time belongs to. */
  revision: number;
  /** Milliseconds since the Unix epoch. */
  dueAt: number;
}

export interface Postponed {
  item: Pick<DueItem, 'kind' | 'token' | 'revision'>;
  /** Milliseconds since the Unix epoch; undefined: not due again until it changes. */
  dueAt: number | undefined;
}

export interface DueInquiries {
  /** Queues of these shards with inquiries due now, and the oldest due time of each. @throws until the index has all of them */
  dueQueues(shards: readonly number[]): (DueQueue & { oldestDueAt: number })[];
  /** Due items of a queue: the longest overdue, or the most recent. */
  dueItems(queue: DueQueue, page: { limit: number; newest?: boolean }): DueItem[];
  /** Moves the due times of items that have not changed since; resolves when done. */
  postpone(postponed: readonly Postponed[]): Promise<void>;
}
