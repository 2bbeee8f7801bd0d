import { DatabaseSync } from 'node:sqlite';
import type { PaymentEvent } from '@tollgate/payment-domain';
import { describe, expect, onTestFinished, test } from 'vitest';
import { paymentKind, payoutKind, type PaymentView } from '@tollgate/views';
import type { OperationView, PaymentListQuery } from './view-list.ts';

import { listViews } from './index-lists.ts';
import { formatCursor } from './list-page.ts';
import { openIndexFile, type TestIndexFile } from './testing/open-index-file.ts';

import {
  happening,
  requested,
  toRecordedEvents,
  type RequestedOptions,
  startedAt,
} from '@tollgate/views/testing';

function viewOf(
  token: string,
  options: RequestedOptions & { createdAt?: number },
  ...events: PaymentEvent[]
): PaymentView {
  const recorded = toRecordedEvents([requested(options), ...events], token);
  const view = recorded.reduce<PaymentView | undefined>(paymentKind.fold, undefined)!;
  return { ...view, createdAt: options.createdAt ?? view.createdAt };
}

const apply = (file: TestIndexFile, views: readonly PaymentView[]) =>
  file.plant(views.map((view) => ({ kind: paymentKind, view })));

function givenFile(views: readonly PaymentView[]): TestIndexFile {
  const file = openIndexFile(':memory:');
  onTestFinished(() => file.close());
  apply(file, views);
  return file;
}

const shop = { environment: 'sandbox', team: 'shop', perPage: 20 } as const;
const listOf = (file: TestIndexFile, query: PaymentListQuery) =>
  listViews(file, { list: 'payments', kinds: [paymentKind], query });
const tokens = (file: TestIndexFile, query: Partial<PaymentListQuery> = {}) => {
  const list = listOf(file, { ...shop, ...query });
  return list.kind === 'page' ? list.views.map(({ token }) => token) : list;
};

const { accepted, approved, reviews, declined, held } = happening;

describe('a list', () => {
  const file = () =>
    givenFile([
      viewOf('p1', { orderNumber: 'A', createdAt: 1_000 }, accepted, approved),
      viewOf('p2', { orderNumber: 'A', currency: 'USD', createdAt: 3_000 }, accepted),
      viewOf('p3', { orderNumber: 'B', createdAt: 2_000 }, accepted, held, reviews),
      viewOf('p4', { createdAt: 2_000 }, accepted, declined),
      viewOf('q1', { team: 'games', orderNumber: 'A' }, accepted, approved),
      viewOf('q2', { environment: 'production', orderNumber: 'A' }, accepted, approved),
    ]);

  test('has the payments of its team and environment, newest first', () => {
    expect(tokens(file())).toEqual(['p2', 'p4', 'p3', 'p1']);
    expect(tokens(file(), { team: 'games' })).toEqual(['q1']);
    expect(tokens(file(), { environment: 'production' })).toEqual(['q2']);
  });

  test.each<[Partial<PaymentListQuery>, string[]]>([
    [{ status: 'approved' }, ['p1']],
    [{ status: 'pending' }, ['p3']],
    [{ phase: 'authorized' }, ['p3']],
    [{ phase: 'pending' }, []],
    [{ orderNumber: 'A' }, ['p2', 'p1']],
    [{ orderNumber: 'A', status: 'approved' }, ['p1']],
    [{ currency: 'USD' }, ['p2']],
    [{ needsReview: true }, ['p3']],
    [{ needsReview: false }, ['p2', 'p4', 'p1']],
    [{ needsReview: true, status: 'approved' }, []],
    [{ createdFrom: 2_000 }, ['p2', 'p4', 'p3']],
    [{ createdBefore: 2_000 }, ['p1']],
    [{ createdFrom: 2_000, createdBefore: 3_000, currency: 'EUR' }, ['p4', 'p3']],
  ])('filtered by %j', (query, expected) => {
    expect(tokens(file(), query)).toEqual(expected);
  });

  test('counts only on request', () => {
    expect(listOf(file(), shop)).not.toHaveProperty('totalCount');
    expect(listOf(file(), { ...shop, status: 'approved', perPage: 1, withTotal: true })).toMatchObject({
      totalCount: 1,
    });
    expect(listOf(file(), { ...shop, perPage: 1, withTotal: true })).toMatchObject({ totalCount: 4 });
  });
});

test('cursors lead through all payments once, even if many began in the same millisecond', () => {
  const views = Array.from({ length: 25 }, (_, index) =>
    viewOf(
      `p${index.toString().padStart(2, '0')}`,
      { createdAt: startedAt + Math.floor(index / 10) },
      accepted,
    ),
  );
  const file = givenFile(views);
  const seen: string[] = [];
  let query: PaymentListQuery = { ...shop, perPage: 7 };
  for (;;) {
    const list = listOf(file, query);
    if (list.kind !== 'page') throw new Error(list.parameter);
    seen.push(...list.views.map(({ token }) => token));
    if (list.nextCursor === undefined) break;
    query = { ...query, cursor: list.nextCursor };
  }
  expect(seen).toEqual(views.map(({ token }) => token).reverse());
  expect(tokens(file, { perPage: 7, page: 4 })).toEqual(seen.slice(21));
  expect(tokens(file, { perPage: 7, page: 5 })).toEqual([]);
});

test('what cannot be committed leaves the file as it was', () => {
  const file = givenFile([viewOf('p1', {}, accepted)]);
  const broken = { ...viewOf('p3', {}), createdAt: 'never' as unknown as number };
  expect(() => apply(file, [viewOf('p2', {}), broken])).toThrow();
  expect(tokens(file)).toEqual(['p1']);
});

test('every combination of filters is answered out of indexes alone, without sorting, and by one bound of age', async () => {
  const { temporaryFile } = await import('@tollgate/event-store/testing');
  const path = await temporaryFile();
  const opened = openIndexFile(path);
  const database = new DatabaseSync(path);
  onTestFinished(() => {
    database.close();
    opened.close();
  });
  const plans: string[] = [];
  const watched: TestIndexFile = {
    ...opened,
    select: (sql, values) => {
      plans.push(
        ...database
          .prepare(`EXPLAIN QUERY PLAN ${sql}`)
          .all(...values)
          .map((row) => String(row['detail'])),
      );
      return opened.select(sql, values);
    },
  };
  // Each filter is left out or given; of phase and status in every way.
  const states = [
    {},
    { status: 'pending' },
    { phase: 'pending' },
    { status: 'pending', phase: 'pending' },
  ] as const;
  const reviews = [{}, { needsReview: true }, { needsReview: false }];
  const ages = [{}, { createdFrom: 1 }, { createdBefore: 5 }, { createdFrom: 1, createdBefore: 5 }];
  const filters = states.flatMap((state) =>
    [{}, { orderNumber: 'A' }].flatMap((order) =>
      [{}, { currency: 'EUR' }].flatMap((currency) =>
        reviews.flatMap((reviews) =>
          ages.map((age) => ({ ...state, ...order, ...currency, ...reviews, ...age })),
        ),
      ),
    ),
  );
  expect(filters).toHaveLength(192);
  const lists = { payments: [paymentKind], payouts: [payoutKind], operations: [paymentKind, payoutKind] };
  for (const filter of filters)
    for (const list of ['payments', 'payouts', 'operations'] as const) {
      const query = { ...shop, ...filter };
      const cursor = formatCursor(list, query, { at: 3, key: 'p' });
      listViews<OperationView>(watched, { list, kinds: lists[list], query: { ...query, cursor } });
      const leading = plans
        .splice(0)
        .filter((step) => !/^(MERGE|LEFT|RIGHT|COMPOUND|CO-ROUTINE|SCAN \d)/.test(step));
      for (const step of leading)
        expect(step, JSON.stringify(filter)).toMatch(
          /^SEARCH \w+ USING COVERING INDEX (payments|payouts)_.*\(created_at,token\)<\(\?,\?\)\)$/,
        );
      expect(leading.length).toBeGreaterThan(0);
    }
});
