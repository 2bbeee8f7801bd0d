import { DatabaseSync } from 'node:sqlite';
import { beginning, type Position } from '@tollgate/event-store';
import { temporaryFile } from '@tollgate/event-store/testing';
import { silentLog } from '@tollgate/service-kit';
import fc from 'fast-check';
import { describe, expect, onTestFinished, test } from 'vitest';
import { streamOf, type DocumentEnvelope, type DocumentKind } from './document-kind.ts';
import { disputeKind, paymentKind, payoutKind } from './document-kinds.ts';
import type { OperationDocument, OperationListQuery } from './document-list.ts';
import { listAttention, type AttentionQuery } from './index-attention.ts';
import type { IndexFile, IndexedDocument } from './index-file.ts';
import { listDisputes, listDocuments } from './index-lists.ts';
import { openIndexFile } from './open-index-file.ts';
import {
  anyHistory,
  anyPayoutHistory,
  disputeHappening,
  disputeOpened,
  happening,
  payoutHappening,
  payoutRequested,
  planted,
  requested,
  startedAt,
  toRecordedIn,
  type AnyEvent,
} from './testing/index.ts';

const { accepted, approved, attention, attentionResolved } = happening;
const progress = { followed: '1' as Position, source: beginning };
const shop = { environment: 'sandbox', team: 'shop', perPage: 20 } as const;

function documentOf(
  kind: DocumentKind,
  token: string,
  events: readonly AnyEvent[],
  createdAt?: number,
): IndexedDocument {
  const document = toRecordedIn(streamOf(kind, token), events).reduce<DocumentEnvelope | undefined>(
    (before, event) => kind.fold(before, event),
    undefined,
  )!;
  return { kind, document: { ...document, createdAt: createdAt ?? document.createdAt } };
}

function givenFile(documents: readonly IndexedDocument[], path = ':memory:'): IndexFile {
  const file = openIndexFile(path, silentLog);
  onTestFinished(() => file.close());
  file.apply(documents, progress);
  return file;
}

const listOperations = (file: IndexFile, query: Partial<OperationListQuery> = {}) => {
  const kinds: DocumentKind<OperationDocument>[] = [paymentKind, payoutKind];
  const list = listDocuments(file, { list: 'operations', kinds, query: { ...shop, ...query } });
  if (list.kind !== 'page') throw new Error(list.parameter);
  return list;
};
const tokensOf = ({ documents }: { documents: DocumentEnvelope[] }) => documents.map(({ token }) => token);

/** Follows the cursors of a list to its end. */
function throughPages<Item>(pageAt: (cursor?: string) => { items: Item[]; nextCursor?: string }): Item[][] {
  const pages: Item[][] = [];
  let cursor: string | undefined;
  do {
    const { items, nextCursor } = pageAt(cursor);
    pages.push(items);
    cursor = nextCursor;
  } while (cursor !== undefined);
  return pages;
}

describe('payments and payouts together', () => {
  test('are newest first, by the filters of either, and counted', () => {
    const file = givenFile([
      documentOf(paymentKind, 'pay_1', [requested({ orderNumber: 'A' }), accepted, approved], 3_000),
      documentOf(
        payoutKind,
        'po_1',
        [payoutRequested({ orderNumber: 'A' }), payoutHappening.unresolved],
        2_000,
      ),
      documentOf(paymentKind, 'pay_2', [requested({ currency: 'USD' }), accepted], 1_000),
      documentOf(payoutKind, 'po_2', [payoutRequested({ team: 'games' })], 2_000),
    ]);
    expect(tokensOf(listOperations(file))).toEqual(['pay_1', 'po_1', 'pay_2']);
    expect(tokensOf(listOperations(file, { orderNumber: 'A' }))).toEqual(['pay_1', 'po_1']);
    expect(tokensOf(listOperations(file, { status: 'pending' }))).toEqual(['po_1']);
    expect(tokensOf(listOperations(file, { currency: 'USD' }))).toEqual(['pay_2']);
    expect(tokensOf(listOperations(file, { perPage: 2, page: 2 }))).toEqual(['pay_2']);
    expect(listOperations(file, { perPage: 1, withTotal: true }).totalCount).toBe(3);
  });

  test('are each on one page, whatever began in the same millisecond', () => {
    const someTimes = fc.array(fc.record({ isPayout: fc.boolean(), at: fc.nat(3) }), { maxLength: 25 });
    fc.assert(
      fc.property(someTimes, fc.integer({ min: 1, max: 7 }), (times, perPage) => {
        const documents = times.map(({ isPayout, at }, index) =>
          isPayout
            ? documentOf(payoutKind, `po_${index}`, [payoutRequested()], at)
            : documentOf(paymentKind, `pay_${index}`, [requested()], at),
        );
        const file = openIndexFile(':memory:', silentLog);
        file.apply(documents, progress);
        const pages = throughPages((cursor) => {
          const list = listOperations(file, { perPage, ...(cursor === undefined ? {} : { cursor }) });
          return { items: tokensOf(list), ...list };
        });
        file.close();
        const inOrder = documents
          .map(({ document }) => document)
          .sort((a, b) => b.createdAt - a.createdAt || (a.token < b.token ? 1 : -1));
        expect(pages.flat()).toEqual(tokensOf({ documents: inOrder }));
      }),
      { numRuns: 50 },
    );
  });
});

describe('what waits for a person', () => {
  const entriesOf = (file: IndexFile, query: Partial<AttentionQuery> = {}) => {
    const list = listAttention(file, { ...shop, ...query });
    if (list.kind !== 'page') throw new Error(list.parameter);
    return list;
  };
  const shownOf = (file: IndexFile, query: Partial<AttentionQuery> = {}) =>
    entriesOf(file, query).entries.map(({ document, place, since }) => [
      document.token,
      place,
      since - startedAt,
    ]);

  const documents = [
    documentOf(paymentKind, 'pay_1', [requested(), accepted, approved, attention, attention]),
    documentOf(payoutKind, 'po_1', [
      payoutRequested(),
      payoutHappening.unresolved,
      payoutHappening.attention,
    ]),
    documentOf(paymentKind, 'pay_2', [requested(), attention]),
    documentOf(paymentKind, 'pay_3', [requested(), accepted]),
    documentOf(paymentKind, 'theirs', [requested({ team: 'games' }), attention]),
    documentOf(payoutKind, 'live', [
      payoutRequested({ environment: 'production' }),
      payoutHappening.attention,
    ]),
  ];

  test('is listed oldest first, each matter by itself', () => {
    const file = givenFile(documents);
    expect(shownOf(file)).toEqual([
      ['pay_2', 0, 1_000],
      ['po_1', 0, 2_000],
      ['pay_1', 0, 3_000],
      ['pay_1', 1, 4_000],
    ]);
    expect(entriesOf(file).entries[1]).toMatchObject({
      kind: 'payout',
      document: { payout: { team: 'shop' } },
    });
    expect(shownOf(file, { kind: 'payment' }).map(([token]) => token)).toEqual(['pay_2', 'pay_1', 'pay_1']);
    expect(shownOf(file, { team: 'games' })).toEqual([['theirs', 0, 1_000]]);
  });

  test('is on one page each', () => {
    const file = givenFile(documents);
    const pages = throughPages((cursor) => {
      const query = { perPage: 1, ...(cursor === undefined ? {} : { cursor }) };
      return { items: shownOf(file, query), ...entriesOf(file, query) };
    });
    expect(pages).toHaveLength(4);
    expect(pages.flat()).toEqual(shownOf(file));
  });

  test('is gone when it is resolved, and an older document does not bring it back', () => {
    const file = givenFile(documents);
    file.apply([documentOf(paymentKind, 'pay_2', [requested(), attention, attentionResolved])], progress);
    expect(shownOf(file).map(([token]) => token)).toEqual(['po_1', 'pay_1', 'pay_1']);
    file.apply([documentOf(paymentKind, 'pay_2', [requested(), attention])], progress);
    expect(shownOf(file).map(([token]) => token)).toEqual(['po_1', 'pay_1', 'pay_1']);
  });

  test('is what the documents say, whatever happened', () => {
    fc.assert(
      fc.property(fc.array(anyHistory, { maxLength: 4 }), anyPayoutHistory, (histories, payouts) => {
        const file = openIndexFile(':memory:', silentLog);
        const all = [
          ...histories.map((history, index) => documentOf(paymentKind, `pay_${index}`, history)),
          documentOf(payoutKind, 'po_1', payouts),
        ];
        file.apply(all, progress);
        const since = entriesOf(file, { perPage: 500 }).entries.map((entry) => entry.since);
        file.close();
        const expected = all.flatMap(({ kind, document }) => [...kind.attentionSinceOf(document)]);
        expect(since).toEqual(expected.sort((a, b) => a - b));
      }),
      { numRuns: 50 },
    );
  });
});

describe('disputes', () => {
  test('are those of the team, last opened first, up to a limit', () => {
    const openedAt = startedAt - 1_000;
    const file = givenFile([
      documentOf(disputeKind, 'dsp_1', [disputeOpened({ team: 'shop' })]),
      documentOf(disputeKind, 'dsp_2', [disputeOpened({ team: 'shop', openedAt })]),
      documentOf(disputeKind, 'dsp_3', [disputeOpened({ team: 'games' })]),
      documentOf(disputeKind, 'dsp_4', [disputeOpened()]),
      documentOf(disputeKind, 'dsp_5', [disputeOpened({ team: 'shop', environment: 'production' })]),
    ]);
    expect(tokensOf({ documents: listDisputes(file, shop, 10) })).toEqual(['dsp_1', 'dsp_2']);
    expect(tokensOf({ documents: listDisputes(file, shop, 1) })).toEqual(['dsp_1']);
    file.apply([documentOf(disputeKind, 'dsp_4', [disputeOpened(), disputeHappening.matched])], progress);
    expect(tokensOf({ documents: listDisputes(file, shop, 10) })).toEqual(['dsp_4', 'dsp_1', 'dsp_2']);
  });
});

test('a payment is found by the token that the service knows it by, in its environment and account', () => {
  const file = givenFile([
    documentOf(paymentKind, 'pay_1', [requested()]),
    documentOf(paymentKind, 'pay_2', [requested({ team: 'games' }), accepted]),
  ]);
  const { serviceToken } = accepted.data;
  const key = { environment: 'sandbox', account: `account-${planted}`, serviceToken } as const;
  expect(file.findByServiceToken(key)).toEqual({ token: 'pay_2', team: 'games' });
  expect(file.findByServiceToken({ ...key, environment: 'production' })).toBeUndefined();
  expect(file.findByServiceToken({ ...key, account: 'other' })).toBeUndefined();
  expect(file.findByServiceToken({ ...key, serviceToken: 'other' })).toBeUndefined();
});

test('open payouts are their own list', () => {
  const file = givenFile([
    documentOf(paymentKind, 'pay_1', [requested()]),
    documentOf(payoutKind, 'po_1', [payoutRequested(), payoutHappening.accepted]),
    documentOf(payoutKind, 'po_2', [payoutRequested(), payoutHappening.unresolved]),
    documentOf(payoutKind, 'po_3', [payoutRequested(), payoutHappening.accepted, payoutHappening.approved]),
  ]);
  expect(file.open(payoutKind, { limit: 10 })).toMatchObject([
    { token: 'po_1', openWork: 'open', team: 'shop', environment: 'sandbox', updatedAt: startedAt + 1_000 },
    { token: 'po_2', openWork: 'unresolved' },
  ]);
  expect(file.open(payoutKind, { after: 'po_1', limit: 1 })).toMatchObject([{ token: 'po_2' }]);
});

test('every read goes through an index and sorts nothing', async () => {
  const path = await temporaryFile();
  const file = givenFile([], path);
  const database = new DatabaseSync(path);
  onTestFinished(() => database.close());
  const texts: string[] = [];
  const watched: IndexFile = {
    ...file,
    select: (sql, values) => {
      const plan = database.prepare(`EXPLAIN QUERY PLAN ${sql}`).all(...values);
      texts.push(...plan.map((row) => String(row['detail'])));
      return file.select(sql, values);
    },
  };
  listDisputes(watched, shop, 100);
  listAttention(watched, shop);
  listAttention(watched, { ...shop, kind: 'payment' });
  expect(texts).toEqual([
    'SEARCH disputes USING INDEX disputes_by_age (environment=? AND team=?)',
    'SEARCH attention USING PRIMARY KEY (environment=? AND team=?)',
    'SEARCH attention USING PRIMARY KEY (environment=? AND team=?)',
  ]);
});
