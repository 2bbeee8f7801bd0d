import { DatabaseSync } from 'node:sqlite';
import { beginning, type Position } from '@tollgate/event-store';
import type { PaymentEvent } from '@tollgate/payment-domain';
import { silentLog } from '@tollgate/service-kit';
import { describe, expect, onTestFinished, test } from 'vitest';
import { openPaymentIndexFile } from './open-payment-index.ts';
import { foldPaymentDocument, type PaymentDocument } from './payment-document.ts';
import type { PaymentIndexFile } from './payment-index-file.ts';
import { toCondition, type PaymentListQuery } from './payment-list.ts';
import { happening, requested, startedAt, toRecordedEvents, type RequestedOptions } from './testing/index.ts';

const progress = { followed: '1' as Position, source: beginning };

function documentOf(
  token: string,
  options: RequestedOptions & { createdAt?: number },
  ...events: PaymentEvent[]
): PaymentDocument {
  const recorded = toRecordedEvents([requested(options), ...events], token);
  const document = recorded.reduce<PaymentDocument | undefined>(foldPaymentDocument, undefined)!;
  return { ...document, createdAt: options.createdAt ?? document.createdAt };
}

function givenFile(documents: readonly PaymentDocument[]): PaymentIndexFile {
  const file = openPaymentIndexFile(':memory:', silentLog);
  onTestFinished(() => file.close());
  file.apply(documents, progress);
  return file;
}

const shop = { environment: 'sandbox', team: 'shop', perPage: 20 } as const;
const tokens = (file: PaymentIndexFile, query: Partial<PaymentListQuery> = {}) => {
  const list = file.list({ ...shop, ...query });
  return list.kind === 'page' ? list.documents.map(({ token }) => token) : list;
};

const { accepted, approved, attention, declined, held } = happening;

describe('a list', () => {
  const file = () =>
    givenFile([
      documentOf('p1', { orderNumber: 'A', createdAt: 1_000 }, accepted, approved),
      documentOf('p2', { orderNumber: 'A', currency: 'USD', createdAt: 3_000 }, accepted),
      documentOf('p3', { orderNumber: 'B', createdAt: 2_000 }, accepted, held, attention),
      documentOf('p4', { createdAt: 2_000 }, accepted, declined),
      documentOf('q1', { team: 'games', orderNumber: 'A' }, accepted, approved),
      documentOf('q2', { environment: 'production', orderNumber: 'A' }, accepted, approved),
    ]);

  test('has the payments of its team and environment, newest first', () => {
    expect(tokens(file())).toEqual(['p2', 'p4', 'p3', 'p1']);
    expect(tokens(file(), { team: 'games' })).toEqual(['q1']);
    expect(tokens(file(), { environment: 'production' })).toEqual(['q2']);
  });

  test.each<[Partial<PaymentListQuery>, string[]]>([
    [{ status: 'approved' }, ['p1']],
    [{ status: 'pending' }, ['p3']],
    [{ phase: 'held' }, ['p3']],
    [{ phase: 'pending' }, []],
    [{ orderNumber: 'A' }, ['p2', 'p1']],
    [{ orderNumber: 'A', status: 'approved' }, ['p1']],
    [{ currency: 'USD' }, ['p2']],
    [{ attention: true }, ['p3']],
    [{ attention: false }, ['p2', 'p4', 'p1']],
    [{ attention: true, status: 'approved' }, []],
    [{ createdFrom: 2_000 }, ['p2', 'p4', 'p3']],
    [{ createdBefore: 2_000 }, ['p1']],
    [{ createdFrom: 2_000, createdBefore: 3_000, currency: 'EUR' }, ['p4', 'p3']],
  ])('filtered by %j', (query, expected) => {
    expect(tokens(file(), query)).toEqual(expected);
  });

  test('counts only where asked', () => {
    expect(file().list(shop)).not.toHaveProperty('totalCount');
    expect(file().list({ ...shop, status: 'approved', perPage: 1, withTotal: true })).toMatchObject({
      totalCount: 1,
    });
    expect(file().list({ ...shop, perPage: 1, withTotal: true })).toMatchObject({ totalCount: 4 });
  });
});

test('cursors lead through all payments once, also where many began in the same millisecond', () => {
  const documents = Array.from({ length: 25 }, (_, index) =>
    documentOf(
      `p${index.toString().padStart(2, '0')}`,
      { createdAt: startedAt + Math.floor(index / 10) },
      accepted,
    ),
  );
  const file = givenFile(documents);
  const seen: string[] = [];
  let query: PaymentListQuery = { ...shop, perPage: 7 };
  for (;;) {
    const list = file.list(query);
    if (list.kind !== 'page') throw new Error(list.parameter);
    seen.push(...list.documents.map(({ token }) => token));
    if (list.nextCursor === undefined) break;
    query = { ...query, cursor: list.nextCursor };
  }
  expect(seen).toEqual(documents.map(({ token }) => token).reverse());
  expect(tokens(file, { perPage: 7, page: 4 })).toEqual(seen.slice(21));
  expect(tokens(file, { perPage: 7, page: 5 })).toEqual([]);
});

test('an older document does not take the place of a newer one', () => {
  const file = givenFile([documentOf('p1', {}, accepted, approved)]);
  file.apply([documentOf('p1', {}, accepted)], progress);
  expect(tokens(file, { status: 'approved' })).toEqual(['p1']);
  expect(file.find('p1')).toEqual(documentOf('p1', {}, accepted, approved));
});

test('open payments are those of all teams that are not final, by token', () => {
  const file = givenFile([
    documentOf('p1', {}, accepted),
    documentOf('p2', {}, accepted, approved),
    documentOf('p3', { team: 'games', environment: 'production' }),
  ]);
  const [first, second] = file.openPayments({ limit: 10 });
  expect(first).toEqual({
    token: 'p1',
    phase: 'init',
    environment: 'sandbox',
    team: 'shop',
    updatedAt: startedAt + 1_000,
  });
  expect(second).toMatchObject({ token: 'p3', phase: 'requested', team: 'games' });
  expect(file.openPayments({ limit: 1 })).toEqual([first]);
  expect(file.openPayments({ after: 'p1', limit: 10 })).toEqual([second]);
  file.apply([documentOf('p1', {}, accepted, approved)], progress);
  expect(file.openPayments({ limit: 10 })).toEqual([second]);
});

test('what cannot be committed leaves the file as it was', () => {
  const file = givenFile([documentOf('p1', {}, accepted)]);
  const broken = { ...documentOf('p3', {}), createdAt: 'never' as unknown as number };
  const next = { ...progress, followed: '2' as Position };
  expect(() => file.apply([documentOf('p2', {}), broken], next)).toThrow();
  expect(tokens(file)).toEqual(['p1']);
  expect(file.progress()).toEqual(progress);
});

test('every filter, alone or with others, is answered through an index and without sorting', async () => {
  const { temporaryFile } = await import('@tollgate/event-store/testing');
  const path = await temporaryFile();
  const opened = openPaymentIndexFile(path, silentLog);
  const database = new DatabaseSync(path);
  onTestFinished(() => {
    database.close();
    opened.close();
  });
  const filters: Partial<PaymentListQuery>[] = [
    { status: 'approved' },
    { phase: 'held' },
    { orderNumber: 'A' },
    { currency: 'EUR' },
    { attention: true },
    { attention: false },
    { createdFrom: 1, createdBefore: 2 },
  ];
  const pairs = filters.flatMap((one) => filters.map((other) => ({ ...one, ...other })));
  for (const filter of [{}, ...pairs]) {
    const { sql, values } = toCondition({ ...shop, ...filter });
    const order = 'ORDER BY created_at DESC, token DESC LIMIT 20';
    const text = `EXPLAIN QUERY PLAN SELECT document FROM payments WHERE ${sql} AND (created_at, token) < (?, ?) ${order}`;
    const plan = database
      .prepare(text)
      .all(...values, 1, 'p')
      .map((row) => String(row['detail']));
    expect(plan, JSON.stringify(filter)).toEqual([
      expect.stringMatching(/^SEARCH payments USING INDEX payments_/),
    ]);
  }
});

test('a final payment with a callback that could not be applied is open work', () => {
  const file = givenFile([documentOf('p1', {}, accepted, approved)]);
  expect(file.openPayments({ limit: 10 })).toEqual([]);
  const unapplied = {
    type: 'AttentionRaised',
    data: { code: 'callback_not_applied', evidence: { reason: 'no answer' } },
  } as const;
  file.apply([documentOf('p1', {}, accepted, approved, unapplied)], progress);
  expect(file.openPayments({ limit: 10 })).toMatchObject([{ token: 'p1', phase: 'approved' }]);
});
