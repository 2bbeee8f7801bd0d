import { DatabaseSync } from 'node:sqlite';
import { temporaryFile } from '@tollgate/event-store/testing';
import { inquiryShardOf, nextInquiryAt, type DueQueue, type InquiryItem } from '@tollgate/core';
import { silentLog } from '@tollgate/service-kit';
import { paymentKind, payoutKind } from '@tollgate/views';
import { happening, payoutHappening, payoutRequested, requested, startedAt } from '@tollgate/views/testing';
import { expect, test } from 'vitest';
import { createIndexFile, type IndexFile } from './index-file.ts';
import { dueItemsIn, dueQueuesOf } from './index-inquiries.ts';
import { givenExplainedFile, givenFile, viewOf } from './testing/open-index-file.ts';

const { accepted, approved } = happening;
const never = Number.MAX_SAFE_INTEGER;

/** Tokens of one shard, so that a spec sees all of them in one queue. */
const shard = 5;
const tokens = Array.from({ length: 200 }, (_, index) => `pay_${index}`).filter(
  (token) => inquiryShardOf(token) === shard,
);
const queue: DueQueue = {
  kind: 'payment',
  shard,
  inquiryNeed: 'open',
  environment: 'sandbox',
  account: 'main',
};
const queuesAt = (file: IndexFile, now: number, of: Pick<DueQueue, 'kind' | 'inquiryNeed'> = queue) =>
  dueQueuesOf(file, { shards: [shard], now }).filter(
    ({ kind, inquiryNeed }) => kind === of.kind && inquiryNeed === of.inquiryNeed,
  );

test('a payment is due from its first distance on, in the queue of its need and account', () => {
  const [token = ''] = tokens;
  const file = givenFile([viewOf(paymentKind, token, [requested(), accepted])]);
  const item: InquiryItem = { token, inquiryNeed: 'open', updatedAt: startedAt + 1_000 };
  const dueAt = Math.ceil(nextInquiryAt(item, item.updatedAt)!);
  expect(queuesAt(file, dueAt - 1)).toEqual([]);
  const account = expect.any(String) as string;
  expect(queuesAt(file, dueAt)).toEqual([{ ...queue, account, oldestDueAt: dueAt }]);
  const [found] = queuesAt(file, dueAt);
  expect(dueItemsIn(file, found!, { now: dueAt, limit: 10 })).toEqual([
    { ...item, kind: 'payment', revision: 1, dueAt },
  ]);
  expect(queuesAt(file, never, { kind: 'payment', inquiryNeed: 'unresolved' })).toEqual([]);
});

test('a final payment is due, and not after its last inquiry', () => {
  const [token = ''] = tokens;
  const file = givenFile([viewOf(paymentKind, token, [requested(), accepted, approved])]);
  const settled = { kind: 'payment', inquiryNeed: 'settled' } as const;
  const [found] = queuesAt(file, never, settled);
  const [item] = dueItemsIn(file, found!, { now: never, limit: 1 });
  file.postpone([{ item: item!, dueAt: undefined }]);
  expect(queuesAt(file, never, settled)).toEqual([]);
});

test('the oldest come first, or the newest, and postponed ones come later', () => {
  const file = givenFile(tokens.map((token) => viewOf(paymentKind, token, [requested(), accepted])));
  const [found] = queuesAt(file, never);
  const read = (page: { limit: number; newest?: boolean }) =>
    dueItemsIn(file, found!, { now: never, ...page }).map(({ token }) => token);
  const all = read({ limit: 100 });
  expect(all.toSorted()).toEqual(tokens.toSorted());
  expect(read({ limit: 2, newest: true })).toEqual(all.toReversed().slice(0, 2));
  const [first] = dueItemsIn(file, found!, { now: never, limit: 1 });
  file.postpone([{ item: first!, dueAt: never - 1 }]);
  expect(read({ limit: 100 })).toEqual([...all.slice(1), all[0]]);
});

test('a due time is not moved if the payment has changed since', () => {
  const [token = ''] = tokens;
  const file = givenFile([viewOf(paymentKind, token, [requested()])]);
  const unresolved = { kind: 'payment', inquiryNeed: 'unresolved' } as const;
  const [before] = queuesAt(file, never, unresolved);
  const [item] = dueItemsIn(file, before!, { now: never, limit: 1 });
  file.plant([viewOf(paymentKind, token, [requested(), accepted])]);
  file.postpone([{ item: item!, dueAt: undefined }]);
  expect(queuesAt(file, never, unresolved)).toEqual([]);
  expect(queuesAt(file, never)).toHaveLength(1);
});

test('payouts have their own queues', () => {
  const payouts = Array.from({ length: 60 }, (_, index) => `po_${index}`);
  const file = givenFile(
    payouts.map((token) => viewOf(payoutKind, token, [payoutRequested(), payoutHappening.accepted])),
  );
  const found = dueQueuesOf(file, { shards: [0, 1, 2, 3, 4, 5, 6, 7], now: never });
  const items = found.flatMap((each) => dueItemsIn(file, each, { now: never, limit: 100 }));
  expect(items.map(({ token }) => token).toSorted()).toEqual(payouts.toSorted());
});

test('writes of another thread or process are seen', async () => {
  const path = await temporaryFile();
  const written = givenFile([viewOf(paymentKind, tokens[0] ?? '', [requested(), accepted])], path);
  const read = createIndexFile(new DatabaseSync(path, { readOnly: true }), { log: silentLog });
  const [found] = queuesAt(read, never);
  const [item] = dueItemsIn(written, found!, { now: never, limit: 1 });
  written.postpone([{ item: item!, dueAt: item!.dueAt + 1 }]);
  expect(queuesAt(read, never)).toEqual([{ ...found, oldestDueAt: item!.dueAt + 1 }]);
});

test('every read uses one index and no sorting', async () => {
  const { file, steps } = await givenExplainedFile([
    viewOf(paymentKind, tokens[0] ?? '', [requested(), accepted]),
  ]);
  const [found] = queuesAt(file, never);
  dueItemsIn(file, found!, { now: never, limit: 10 });
  dueItemsIn(file, found!, { now: never, limit: 10, newest: true });
  const queueSteps = 'shard=? AND inquiry_need=? AND environment=? AND account';
  const ofRows = steps.map((step) => step.replace(/payments|payouts/g, 'rows'));
  const [firstStep = '', ...others] = new Set(ofRows);
  // The index leads to the next account directly: no row in between is visited.
  expect(firstStep).toBe(`SEARCH rows USING COVERING INDEX rows_due (${queueSteps}>?)`);
  expect(others).toEqual([`SEARCH rows USING INDEX rows_due (${queueSteps}=? AND due_at<?)`]);
});
