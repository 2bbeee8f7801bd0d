/** The due inquiries, as the index returns them to the inquiry schedule. */
import type { InquiryNeed } from './failed-inquiry.ts';
import type { InquiryItem } from './inquiry-times.ts';
import type { Environment } from './values.ts';

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
  /** Of the view that the due time belongs to. */
  revision: number;
  /** Milliseconds since the Unix epoch. */
  dueAt: number;
}

export interface Postponed {
  item: Pick<DueItem, 'kind' | 'token' | 'revision'>;
  /** Milliseconds since the Unix epoch; undefined: it is not due again until it changes. */
  dueAt: number | undefined;
}

export interface DueInquiries {
  /** In which queues of these shards inquiries are due now, with the oldest due time of each. @throws while they are not all known */
  dueQueues(shards: readonly number[]): (DueQueue & { oldestDueAt: number })[];
  /** What is due in a queue: those that have been due longest, or those that have become due last. */
  dueItems(queue: DueQueue, page: { limit: number; newest?: boolean }): DueItem[];
  /** Moves the due times of what has not changed since; resolves when they are moved. */
  postpone(postponed: readonly Postponed[]): Promise<void>;
}
