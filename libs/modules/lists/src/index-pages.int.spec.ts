/** Pages of filtered lists while rows arrive and change: the total that a caller sees by following the cursors. */
import { paymentPhases, payoutPhases, statusOfPayoutPhase, statusOfPhase } from '@tollgate/core';
import { propertyRuns } from '@tollgate/testing';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  streamOf,
  type ViewEnvelope,
  type ViewKind,
  paymentKind,
  payoutKind,
  type PaymentView,
  type PayoutView,
} from '@tollgate/views';

import type { ListQuery, OperationView } from './list-page.ts';
import { listOf } from './index-lists.ts';
import { openIndexFile, pageOf, throughPages } from './testing/open-index-file.ts';

import {
  happening,
  payoutHappening,
  payoutRequested,
  requested,
  toRecordedIn,
} from '@tollgate/views/testing';

/** The fields that lists filter by. */
interface State {
  isPayout: boolean;
  createdAt: number;
  phase: number;
  currency: string;
  orderNumber: string;
  waits: boolean;
}

const shop = { environment: 'sandbox', team: 'shop' } as const;

const foldOf = (kind: ViewKind, events: Parameters<typeof toRecordedIn>[1]): unknown =>
  toRecordedIn(streamOf(kind, 'x'), events).reduce<ViewEnvelope | undefined>(kind.fold, undefined);
const payment = foldOf(paymentKind, [requested(), happening.reviews]) as PaymentView;
const payout = foldOf(payoutKind, [payoutRequested(), payoutHappening.reviews]) as PayoutView;

const phaseOf = ({ isPayout, phase }: State) => {
  const phases = isPayout ? payoutPhases : paymentPhases;
  return phases[phase % phases.length]!;
};
const statusOf = (state: State) =>
  state.isPayout
    ? statusOfPayoutPhase(phaseOf(state) as (typeof payoutPhases)[number])
    : statusOfPhase(phaseOf(state) as (typeof paymentPhases)[number]);

function viewOf(token: string, revision: number, state: State): { kind: ViewKind; view: never } {
  const { createdAt, currency, orderNumber, waits } = state;
  const more = <WithReviews extends { terms: object; reviews: readonly object[] }>(of: WithReviews) => ({
    ...of,
    phase: phaseOf(state),
    terms: { ...of.terms, currency, orderNumber },
    reviews: waits ? of.reviews : [],
  });
  const changes = { token, revision, createdAt };
  const reviewsSince = waits ? [createdAt] : [];
  const view = state.isPayout
    ? { ...payout, ...changes, reviewsSince, payout: more(payout.payout) }
    : { ...payment, ...changes, reviewsSince, payment: more(payment.payment) };
  return { kind: state.isPayout ? payoutKind : paymentKind, view: view as never };
}

const anyState = fc.record({
  isPayout: fc.boolean(),
  createdAt: fc.nat(6),
  phase: fc.nat(paymentPhases.length - 1),
  currency: fc.constantFrom('EUR', 'JPY'),
  orderNumber: fc.constantFrom('A', 'B'),
  waits: fc.boolean(),
});
const everyFilter = fc.record({
  status: fc.constantFrom('init', 'pending', 'approved', 'declined'),
  phase: fc.constantFrom(...paymentPhases),
  orderNumber: fc.constantFrom('A', 'B'),
  currency: fc.constantFrom('EUR', 'JPY'),
  needsReview: fc.boolean(),
  createdFrom: fc.nat(6),
  createdBefore: fc.nat(7),
});
const filterNames = [
  ...(['status', 'phase', 'orderNumber', 'currency', 'needsReview'] as const),
  ...(['createdFrom', 'createdBefore'] as const),
];
/** Few filters at a time, or no row would match. */
const anyFilter = fc
  .tuple(everyFilter, fc.subarray(filterNames, { maxLength: 2 }))
  .map(([filter, names]): Partial<typeof filter> =>
    Object.fromEntries(names.map((name) => [name, filter[name]])),
  );

const fits = (state: State, filter: Partial<ListQuery>): boolean =>
  (filter.status === undefined || statusOf(state) === filter.status) &&
  (filter.phase === undefined || phaseOf(state) === filter.phase) &&
  (filter.orderNumber === undefined || state.orderNumber === filter.orderNumber) &&
  (filter.currency === undefined || state.currency === filter.currency) &&
  (filter.needsReview === undefined || state.waits === filter.needsReview) &&
  (filter.createdFrom === undefined || state.createdAt >= filter.createdFrom) &&
  (filter.createdBefore === undefined || state.createdAt < filter.createdBefore);

const lists = { payments: [paymentKind], payouts: [payoutKind], operations: [paymentKind, payoutKind] };

/** Between pages a row arrives or changes. */
const anyChange = fc.record({ place: fc.nat(30), isNew: fc.boolean(), state: anyState });

test('a row that matches all the time is listed once, and none twice, despite changes between pages', () => {
  fc.assert(
    fc.property(
      fc.array(anyState, { minLength: 5, maxLength: 25 }),
      anyFilter,
      fc.constantFrom<(keyof typeof lists)[]>('payments', 'payouts', 'operations'),
      fc.integer({ min: 1, max: 5 }),
      fc.array(fc.array(anyChange, { maxLength: 4 }), { maxLength: 6 }),
      (begun, filter, list, perPage, changes) => {
        const file = openIndexFile(':memory:');
        const rows = begun.map((state, index) => ({ token: `t${index}`, revision: 1, state }));
        const isListed = ({ isPayout }: State) => list === 'operations' || (list === 'payouts') === isPayout;
        const fitting = () =>
          rows.filter(({ state }) => isListed(state) && fits(state, filter)).map(({ token }) => token);
        const write = (changed: typeof rows) =>
          file.plant(changed.map(({ token, revision, state }) => viewOf(token, revision, state)));
        write(rows);
        let fittingAlways = new Set(fitting());
        const ever = new Set(fittingAlways);
        const seen: string[] = [];
        let cursor: string | undefined;
        let page = 0;
        do {
          const query = { ...shop, ...filter, perPage, ...(cursor === undefined ? {} : { cursor }) };
          const shown = listOf<OperationView>(list, lists[list])(file, { ...query, owners: [shop] });
          if (shown.kind !== 'page') throw new Error(shown.parameter);
          const now = fitting();
          for (const { token } of shown.views) expect(now).toContain(token);
          seen.push(...shown.views.map(({ token }) => token));
          cursor = shown.nextCursor;
          for (const { place, isNew, state } of changes[page] ?? []) {
            const old = rows[place % Math.max(1, rows.length)];
            if (isNew || old === undefined) rows.push({ token: `t${rows.length}`, revision: 1, state });
            else {
              // Kind and creation time never change.
              const { isPayout, createdAt, currency, orderNumber } = old.state;
              old.state = { ...state, isPayout, createdAt, currency, orderNumber };
              old.revision += 1;
            }
          }
          write(rows);
          const after = new Set(fitting());
          if (cursor !== undefined) fittingAlways = fittingAlways.intersection(after);
          for (const token of after) ever.add(token);
          page += 1;
          if (page > 100) throw new Error('the cursors lead in a circle');
        } while (cursor !== undefined);
        file.close();
        expect(new Set(seen).size).toBe(seen.length);
        for (const token of fittingAlways) expect(seen).toContain(token);
        for (const token of seen) expect(ever).toContain(token);
      },
    ),
    { numRuns: propertyRuns(150) },
  );
});

test('pages have the matching rows in order, also of one millisecond, and count them', () => {
  fc.assert(
    fc.property(
      fc.array(anyState, { minLength: 5, maxLength: 25 }),
      anyFilter,
      fc.constantFrom<(keyof typeof lists)[]>('payments', 'payouts', 'operations'),
      fc.integer({ min: 1, max: 4 }),
      (begun, filter, list, perPage) => {
        const file = openIndexFile(':memory:');
        file.plant(begun.map((state, index) => viewOf(`t${index}`, 1, state)));
        const isListed = ({ isPayout }: State) => list === 'operations' || (list === 'payouts') === isPayout;
        const expected = begun
          .map((state, index) => ({ state, token: `t${index}` }))
          .filter(({ state }) => isListed(state) && fits(state, filter))
          .sort((a, b) => b.state.createdAt - a.state.createdAt || (a.token < b.token ? 1 : -1))
          .map(({ token }) => token);
        const pages = throughPages((at) => {
          const query = { ...shop, ...filter, perPage, withTotal: true, ...at };
          const page = pageOf(listOf<OperationView>(list, lists[list])(file, { ...query, owners: [shop] }));
          expect(page.totalCount).toBe(expected.length);
          return { items: page.views.map(({ token }) => token), ...page };
        });
        file.close();
        expect(pages.flat()).toEqual(expected);
      },
    ),
    { numRuns: propertyRuns(100) },
  );
});
