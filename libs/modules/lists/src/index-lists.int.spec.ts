import { propertyRuns } from '@tollgate/testing';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type ViewEnvelope, type ViewKind, disputeKind, paymentKind, payoutKind } from '@tollgate/views';
import { listReviews, type ReviewQuery } from './index-reviews.ts';
import { walksOf } from './index-filters.ts';
import { listOf } from './index-lists.ts';
import { findByServiceToken } from './index-operators.ts';
import { formatCursor, type ListQuery, type OperationView } from './list-page.ts';
import {
  type TestIndexFile,
  givenExplainedFile,
  givenFile,
  openIndexFile,
  pageOf,
  throughPages,
  viewOf,
} from './testing/open-index-file.ts';
import {
  anyHistory,
  happening,
  requested,
  anyPayoutHistory,
  payoutHappening,
  payoutRequested,
  planted,
  startedAt,
} from '@tollgate/views/testing';

const { accepted, approved, reviews, reviewResolved } = happening;
const allKinds = ['payment', 'payout', 'unmatched'] as const;
const shop = { environment: 'sandbox', team: 'shop', perPage: 20 } as const;

const listOperations = (file: TestIndexFile, query: Partial<ListQuery> = {}) => {
  const kinds: ViewKind<OperationView>[] = [paymentKind, payoutKind];
  const asked = { ...shop, ...query };
  return pageOf(listOf('operations', kinds)(file, { ...asked, owners: [asked] }));
};
const listDisputes = (file: TestIndexFile, query: Partial<ListQuery> = {}) => {
  const asked = { ...shop, ...query };
  return pageOf(listOf('disputes', [disputeKind])(file, { ...asked, owners: [asked] }));
};
const listPaymentsOf = (
  file: TestIndexFile,
  owners: readonly { environment: 'sandbox'; team: string }[],
  query: Partial<ListQuery> & { accepts?: (view: ViewEnvelope) => boolean },
) => pageOf(listOf('payments', [paymentKind])(file, { perPage: 20, ...query, owners }));
const tokensOf = ({ views }: { views: ViewEnvelope[] }) => views.map(({ token }) => token);

describe('metadata', () => {
  const noted = (metadata: Record<string, string>, more = {}) => requested({ metadata, ...more });
  const views = [
    viewOf(paymentKind, 'pay_1', [noted({ order: '1', shop: 'a' }), accepted, approved], 5_000),
    viewOf(payoutKind, 'po_1', [payoutRequested({ metadata: { order: '1' } })], 4_000),
    viewOf(paymentKind, 'pay_2', [noted({ order: '1', shop: 'b' }, { currency: 'USD' }), accepted], 3_000),
    viewOf(paymentKind, 'pay_3', [noted({ order: '2', shop: 'a' })], 2_000),
    viewOf(paymentKind, 'pay_4', [requested()], 1_000),
    viewOf(paymentKind, 'theirs', [noted({ order: '1' }, { team: 'games' })], 6_000),
  ];

  test.each<[Partial<ListQuery>, string[]]>([
    [{ metadata: [['order', '1']] }, ['pay_1', 'po_1', 'pay_2']],
    [{ metadata: [['order', '1'], ['shop', 'b']] }, ['pay_2']], // prettier-ignore
    [{ metadata: [['order', '2'], ['shop', 'b']] }, []], // prettier-ignore
    [{ metadata: [['order', 'none']] }, []],
    [{ metadata: [['1', 'order']] }, []],
    [{ metadata: [['order', '1']], currency: 'USD' }, ['pay_2']],
    [{ metadata: [['order', '1']], status: 'approved' }, ['pay_1']],
    [{ metadata: [['shop', 'a']], needsReview: false, createdBefore: 5_000 }, ['pay_3']],
    [{ metadata: [['order', '1']], createdFrom: 4_000 }, ['pay_1', 'po_1']],
    [{ metadata: [['order', '1']], team: 'games' }, ['theirs']],
  ])('leads to them: %j', (query, expected) => {
    expect(tokensOf(listOperations(givenFile(views), query))).toEqual(expected);
  });

  test('is counted, paged, and written once', () => {
    const file = givenFile(views);
    file.plant(views);
    const query = { metadata: [['order', '1']] as const, perPage: 1 };
    expect(listOperations(file, { ...query, withTotal: true }).totalCount).toBe(3);
    const pages = throughPages((at) => {
      const list = listOperations(file, { ...query, ...at });
      return { items: tokensOf(list), ...list };
    });
    expect(pages).toEqual([['pay_1'], ['po_1'], ['pay_2']]);
  });

  // A page of a common text must cost only its own rows.
  test('is read in index order, without sorting other rows with the text', () => {
    const file = givenFile(views);
    const query = { ...shop, metadata: [['order', '1']] as const };
    const [walk] = walksOf(paymentKind, query);
    const sql = `EXPLAIN QUERY PLAN ${walk?.sql ?? ''} ORDER BY created_at DESC, token DESC LIMIT 1`;
    const plan = file.select(sql, walk?.values ?? []).map(({ detail }) => String(detail));
    expect(plan.join()).toContain('SEARCH noted USING PRIMARY KEY');
    expect(plan.join()).not.toContain('TEMP B-TREE');
  });
});

describe('an open review', () => {
  const entriesOf = (file: TestIndexFile, query: Partial<ReviewQuery> = {}) => {
    const asked = { ...shop, kinds: allKinds, ...query };
    return pageOf(listReviews(file, { ...asked, owners: [asked] }));
  };
  const shownOf = (file: TestIndexFile, query: Partial<ReviewQuery> = {}) =>
    entriesOf(file, query).views.map(({ view, place, since }) => [view.token, place, since - startedAt]);

  const views = [
    viewOf(paymentKind, 'pay_1', [requested(), accepted, approved, reviews, reviews]),
    viewOf(payoutKind, 'po_1', [payoutRequested(), payoutHappening.unresolved, payoutHappening.reviews]),
    viewOf(paymentKind, 'pay_2', [requested(), reviews]),
    viewOf(paymentKind, 'pay_3', [requested(), accepted]),
    viewOf(paymentKind, 'theirs', [requested({ team: 'games' }), reviews]),
    viewOf(payoutKind, 'live', [payoutRequested({ environment: 'production' }), payoutHappening.reviews]),
  ];

  test('is listed oldest first, each with its own entry', () => {
    const file = givenFile(views);
    expect(shownOf(file)).toEqual([
      ['pay_2', 0, 1_000],
      ['po_1', 0, 2_000],
      ['pay_1', 0, 3_000],
      ['pay_1', 1, 4_000],
    ]);
    expect(entriesOf(file).views[1]).toMatchObject({
      kind: 'payout',
      view: { payout: { team: 'shop' } },
    });
    expect(shownOf(file, { kinds: ['payment'] }).map(([token]) => token)).toEqual([
      'pay_2',
      'pay_1',
      'pay_1',
    ]);
    expect(shownOf(file, { team: 'games' })).toEqual([['theirs', 0, 1_000]]);
  });

  test('is on one page each', () => {
    const file = givenFile(views);
    const pages = throughPages((at) => {
      const query = { perPage: 1, ...at };
      return { items: shownOf(file, query), ...entriesOf(file, query) };
    });
    expect(pages).toHaveLength(4);
    expect(pages.flat()).toEqual(shownOf(file));
  });

  /** After 500 forgotten reviews of the sandbox, those of production were never seen. */
  test('of production is listed before all of the sandbox, over all teams, on one page each', () => {
    const file = givenFile([
      ...views,
      viewOf(paymentKind, 'theirs_live', [requested({ team: 'games', environment: 'production' }), reviews]),
    ]);
    const owners = (['sandbox', 'production'] as const).flatMap((environment) =>
      ['shop', 'games', 'nobody'].map((team) => ({ environment, team })),
    );
    const asked = { ...shop, kinds: allKinds };
    const list = (perPage: number, at: { cursor?: string } = {}) =>
      pageOf(listReviews(file, { ...asked, owners, perPage, ...at }));
    const shown = [
      ...['production live 0', 'production theirs_live 0', 'sandbox pay_2 0', 'sandbox theirs 0'],
      ...['sandbox po_1 0', 'sandbox pay_1 0', 'sandbox pay_1 1'],
    ];
    const textsOf = ({ views: entries }: ReturnType<typeof list>) =>
      entries.map(({ environment, view, place }) => `${environment} ${view.token} ${place}`);
    expect(textsOf(list(500))).toEqual(shown);
    for (const perPage of [1, 2, 3]) {
      const pages = throughPages((at) => {
        const page = list(perPage, at);
        return { items: textsOf(page), ...page };
      });
      expect(pages.flat()).toEqual(shown);
    }
    const refused = listReviews(file, { ...asked, owners, perPage: 1, cursor: 'x' });
    expect(refused).toEqual({ kind: 'refused', parameter: 'cursor' });
    const ofToken = (token: string) =>
      textsOf(pageOf(listReviews(file, { ...asked, owners, perPage: 500, token })));
    expect(ofToken('pay_1')).toEqual(['sandbox pay_1 0', 'sandbox pay_1 1']);
    expect(ofToken('pay_3')).toEqual([]);
  });

  test('disappears when it is resolved', () => {
    const file = givenFile(views);
    file.plant([viewOf(paymentKind, 'pay_2', [requested(), reviews, reviewResolved])]);
    expect(shownOf(file).map(([token]) => token)).toEqual(['po_1', 'pay_1', 'pay_1']);
  });

  test('is listed as in the views, for any history', () => {
    fc.assert(
      fc.property(fc.array(anyHistory, { maxLength: 4 }), anyPayoutHistory, (histories, payouts) => {
        const file = openIndexFile(':memory:');
        const all = [
          ...histories.map((history, index) => viewOf(paymentKind, `pay_${index}`, history)),
          viewOf(payoutKind, 'po_1', payouts),
        ];
        file.plant(all);
        const since = entriesOf(file, { perPage: 500 }).views.map((entry) => entry.since);
        file.close();
        const expected = all.flatMap(({ kind, view }) => [...kind.reviewsSinceOf(view)]);
        expect(since).toEqual(expected.sort((a, b) => a - b));
      }),
      { numRuns: propertyRuns(50) },
    );
  });
});

// One team with 500 payments of 26 KB each requested one page of them: 13 MB were written in one piece, repeatedly, and every
// other team's payments waited for eleven seconds.
describe('a page of large payments', () => {
  const metadata = Object.fromEntries(Array.from({ length: 50 }, (_, at) => [`m${at}`, 'v'.repeat(499)]));
  const heavy = (count: number) =>
    Array.from({ length: count }, (_, at) =>
      viewOf(paymentKind, `pay_${100 + at}`, [requested({ metadata })], at),
    );
  const lengthOf = (views: readonly unknown[]) => JSON.stringify(views).length;

  test('ends at about a megabyte, and the next one continues there', () => {
    const file = givenFile(heavy(90));
    const pages = throughPages((at) => {
      const list = listOperations(file, { perPage: 500, ...at });
      expect(lengthOf(list.views)).toBeLessThan(1_100_000);
      return { items: tokensOf(list), ...list };
    });
    expect(pages.length).toBe(3);
    expect(pages.flat()).toEqual(Array.from({ length: 90 }, (_, at) => `pay_${189 - at}`));
  });
});

// Each tab with a filter that no index supports made a hundred such rounds, each second.
test('a filter without an index reads large pieces, with a few statements per team, and misses none', () => {
  const views = Array.from({ length: 1_200 }, (_, at) =>
    viewOf(paymentKind, `pay_${1_000 + at}`, [requested({ team: at % 2 === 0 ? 'shop' : 'games' })], at),
  );
  const file = givenFile(views);
  let statements = 0;
  const watched: TestIndexFile = {
    ...file,
    select: (...asked) => ((statements += 1), file.select(...asked)),
  };
  const owners = [shop, { ...shop, team: 'games' }];
  const accepts = ({ token }: ViewEnvelope) => token.endsWith('00');
  const pages = throughPages((at) => {
    const list = listPaymentsOf(watched, owners, { perPage: 50, accepts, ...at });
    return { items: tokensOf(list), ...list };
  });
  const expected = views.map(({ view }) => view).filter(accepts);
  expect(pages.flat()).toEqual(tokensOf({ views: expected.toReversed() }));
  expect(statements).toBeLessThanOrEqual(14);
});

// A filter that excludes nearly all rows of a common text read every one of them in one statement.
test('a piece of a metadata filter visits 200 rows at most, and has a cursor', () => {
  const common = Array.from({ length: 1_300 }, (_, at) =>
    viewOf(
      paymentKind,
      `pay_${1_000 + at}`,
      [requested({ metadata: { shop: 'a', order: at === 3 || at === 1_299 ? 'rare' : 'x' } })],
      at,
    ),
  );
  const file = givenFile(common);
  const query = { metadata: [['shop', 'a'], ['order', 'rare']] as const, perPage: 10 }; // prettier-ignore
  const pages = throughPages((at) => {
    const list = listOperations(file, { ...query, ...at });
    expect(list.visited).toBeLessThanOrEqual(200);
    return { items: tokensOf(list), ...list };
  });
  expect(pages).toEqual([['pay_2299'], ...Array.from({ length: 5 }, () => []), ['pay_1003']]);
  const everywhere = throughPages((at) => {
    const list = listPaymentsOf(file, [shop], { ...query, order: 'oldest', ...at });
    return { items: tokensOf(list), ...list };
  });
  expect(everywhere.flat()).toEqual(['pay_1003', 'pay_2299']);
  expect(listOperations(file, { ...query, withTotal: true }).totalCount).toBe(2);
});

describe('disputes', () => {
  test('are read from indexes for every combination of filters', async () => {
    const { file, steps } = await givenExplainedFile();
    for (const state of [{}, { status: 'lost' }])
      for (const currency of [{}, { currency: 'EUR' }])
        for (const payment of [{}, { paymentToken: 'pay_1' }])
          for (const order of [{}, { order: 'oldest' as const }])
            listDisputes(file, { ...state, ...currency, ...payment, ...order, createdFrom: 1 });
    for (const step of steps) expect(step).toMatch(/^SEARCH disputes USING COVERING INDEX disputes_by_/);
    expect(steps).toHaveLength(16);
  });
});

test('a payment is found by its provider token, in its environment and account', () => {
  const file = givenFile([
    viewOf(paymentKind, 'pay_1', [requested()]),
    viewOf(paymentKind, 'pay_2', [requested({ team: 'games' }), accepted]),
  ]);
  const { serviceToken } = accepted.data;
  const account = `account-${planted}`;
  const found = { token: 'pay_2', team: 'games' };
  expect(findByServiceToken(file, 'sandbox', account, serviceToken)).toEqual(found);
  expect(findByServiceToken(file, 'production', account, serviceToken)).toBeUndefined();
  expect(findByServiceToken(file, 'sandbox', 'other', serviceToken)).toBeUndefined();
  expect(findByServiceToken(file, 'sandbox', account, 'other')).toBeUndefined();
});

test('every read of reviews uses an index and no sorting', async () => {
  const { file, steps } = await givenExplainedFile();
  listReviews(file, { ...shop, owners: [shop], kinds: allKinds });
  listReviews(file, { ...shop, owners: [shop], kinds: ['payment'] });
  expect(steps).toEqual([
    'SEARCH reviews USING PRIMARY KEY (environment=? AND team=?)',
    'SEARCH reviews USING PRIMARY KEY (environment=? AND team=?)',
  ]);
});

test('a failed commit leaves the file unchanged', () => {
  const file = givenFile([viewOf(paymentKind, 'p1', [requested(), accepted])]);
  const broken = viewOf(paymentKind, 'p3', [requested()], 'never' as unknown as number);
  expect(() => file.plant([viewOf(paymentKind, 'p2', [requested()]), broken])).toThrow();
  expect(tokensOf(listOperations(file))).toEqual(['p1']);
});

test('every combination of filters is answered from indexes alone, without sorting, and with one age bound', async () => {
  const { file, steps } = await givenExplainedFile();
  // Each filter is absent or given; phase and status in every way.
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
      listOf<OperationView>(list, lists[list])(file, { ...query, owners: [shop], cursor });
      const leading = steps
        .splice(0)
        .filter((step) => !/^(MERGE|LEFT|RIGHT|COMPOUND|CO-ROUTINE|SCAN \d)/.test(step));
      for (const step of leading)
        expect(step, JSON.stringify(filter)).toMatch(
          /^SEARCH \w+ USING COVERING INDEX (payments|payouts)_.*\(created_at,token\)<\(\?,\?\)\)$/,
        );
      expect(leading.length).toBeGreaterThan(0);
    }
});
