/**
 * Due inquiries, oldest first. The due time of a row begins with its view and is moved by the inquiry schedule, because an
 * inquiry that finds nothing new writes no event.
 */
import {
  environmentSchema,
  inquiryNeeds,
  type DueItem,
  type DueQueue,
  type InquiryItem,
  type Postponed,
} from '@tollgate/core';
import type { IndexFile } from './index-file.ts';
import type { Statements } from './index-rows.ts';

/** When a row is first inquired, milliseconds since the Unix epoch; undefined: never. */
export type DueAt = (item: InquiryItem) => number | undefined;

const queued = 'shard = ? AND inquiry_need = ? AND environment = ? AND account = ? AND due_at <= ?';

type QueueHead = DueQueue & { oldestDueAt: number };

/** The queues of a shard, each with its oldest due time, at one index step per queue. */
function* queuesIn(
  select: IndexFile['select'],
  { kind, shard, inquiryNeed }: Pick<DueQueue, 'kind' | 'shard' | 'inquiryNeed'>,
): Generator<QueueHead> {
  const sql = `SELECT account, due_at AS dueAt FROM ${kind}s
    WHERE shard = ? AND inquiry_need = ? AND environment = ? AND account > ? AND due_at IS NOT NULL
    ORDER BY account, due_at LIMIT 1`;
  for (const environment of environmentSchema.options) {
    let account = '';
    for (;;) {
      // A comparison of pairs would visit all rows of the environment.
      const [row] = select<{ account: string; dueAt: number }>(sql, [
        shard,
        inquiryNeed,
        environment,
        account,
      ]);
      if (row === undefined) break;
      ({ account } = row);
      yield { kind, shard, inquiryNeed, environment, account, oldestDueAt: row.dueAt };
    }
  }
}

/** The queues of these shards with due inquiries. */
export const dueQueuesOf = (
  { select }: Pick<IndexFile, 'select'>,
  { shards, now }: { shards: readonly number[]; now: number },
): QueueHead[] =>
  shards
    .flatMap((shard) =>
      (['payment', 'payout'] as const).flatMap((kind) =>
        inquiryNeeds.flatMap((inquiryNeed) => [...queuesIn(select, { kind, shard, inquiryNeed })]),
      ),
    )
    .filter(({ oldestDueAt }) => oldestDueAt <= now);

/** @param page `newest` reads from the other end: the most recently due */
export function dueItemsIn(
  file: IndexFile,
  { kind, shard, inquiryNeed, environment, account }: DueQueue,
  { now, limit, newest = false }: { now: number; limit: number; newest?: boolean },
): DueItem[] {
  const sql = `SELECT token, revision, updated_at AS updatedAt, due_at AS dueAt FROM ${kind}s
    WHERE ${queued} ORDER BY due_at ${newest ? 'DESC' : 'ASC'} LIMIT ?`;
  return file
    .select<Omit<DueItem, 'kind' | 'inquiryNeed'>>(sql, [
      shard,
      inquiryNeed,
      environment,
      account,
      now,
      limit,
    ])
    .map((row) => ({ kind, inquiryNeed, ...row }));
}

/** Sets due times of rows that have not changed since. Call in a transaction. */
export function postponeIn(statements: Statements, postponed: readonly Postponed[]): void {
  for (const { item, dueAt } of postponed)
    statements(`UPDATE ${item.kind}s SET due_at = ? WHERE token = ? AND revision = ?`).run(
      ...[dueAt === undefined ? null : Math.ceil(dueAt), item.token, item.revision],
    );
}
