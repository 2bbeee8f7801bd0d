/** Pages of what is in the index. */
import type { DisputeView, ViewEnvelope, ViewKind } from '@tollgate/views';

import { disputeKind } from '@tollgate/views';
import { totalCountMax, type ViewList, type ListQuery } from './view-list.ts';
import { InvariantViolation, given } from '@tollgate/service-kit';
import type { IndexFile } from './index-file.ts';
import { toView, type Row } from './index-rows.ts';
import { walksOf } from './index-walks.ts';
import { formatCursor, pageOf, type ListName, type ListOwner, type Rows } from './list-page.ts';

/**
 * The view that makes a page this heavy is its last one, in characters of the stored texts: an answer is written at once,
 * and everybody else waits meanwhile.
 */
const pageLengthMax = 1_000_000;

/** The views of some kinds that match a query, newest first. */
export function listViews<View extends ViewEnvelope>(
  file: IndexFile,
  { list, kinds, query }: { list: ListName; kinds: readonly ViewKind<View>[]; query: ListQuery },
): ViewList<View> {
  const rows = pageOf(list, query);
  if (rows.kind === 'refused') return rows;
  const found = selectPage(file, { kinds, query, rows });
  // Views are fetched only for the rows shown, never for those that a page number skips.
  const views: View[] = [];
  let length = 0;
  for (const row of found.slice(0, query.perPage)) {
    if (length >= pageLengthMax) break;
    const measured = toViewOf(file, kinds, row);
    views.push(measured.view);
    length += measured.length;
  }
  const last = views.at(-1);
  const isMore = found.length > views.length && last !== undefined;
  // The number of the next page would skip what is left out of this one.
  if (query.page !== undefined && isMore && views.length < query.perPage)
    return { kind: 'refused', parameter: 'perPage' };
  return {
    kind: 'page',
    views,
    ...(isMore ? { nextCursor: formatCursor(list, query, { at: last.createdAt, key: last.token }) } : {}),
    ...(query.withTotal === true ? { totalCount: count(file, kinds, query) } : {}),
  };
}

/** The rows of the page, and one more if another page follows. SQLite merges the walks and stops at the limit. */
function selectPage(
  file: IndexFile,
  { kinds, query, rows }: { kinds: readonly ViewKind[]; query: ListQuery; rows: Rows },
): Row[] {
  const walks = kinds.flatMap((kind) => walksOf(kind, query, rows.after));
  if (walks.length === 0) return [];
  const sql = walks.map((walk) => walk.sql).join(' UNION ALL ');
  const values = walks.flatMap((walk) => walk.values);
  const direction = query.order === 'oldest' ? 'ASC' : 'DESC';
  return file.select(`${sql} ORDER BY created_at ${direction}, token ${direction} LIMIT ? OFFSET ?`, [
    ...values,
    query.perPage + 1,
    rows.skip,
  ]);
}

/** Rows of a list over all teams that one call looks at: a filter that no index leads to may leave most of them out. */
const lookedAtMax = 5_000;
/** So many of them are read by one statement, of each owner. */
const readAtOnceMax = 500;

export interface ListOfAll<View> extends Omit<ListQuery, keyof ListOwner | 'page' | 'withTotal'> {
  owners: readonly ListOwner[];
  /** Filters by what no index knows. */
  accepts?: (view: View) => boolean;
}

/** The payments of several owners that match a query, in its order. */
export function listViewsOfAll<View extends ViewEnvelope>(
  file: IndexFile,
  kind: ViewKind<View>,
  { owners, accepts = () => true, ...query }: ListOfAll<View>,
): ViewList<View> {
  const list = `${kind.name}s` as ListName;
  const { perPage } = query;
  const ofAll = { ...query, ...everybody };
  const begin = pageOf(list, ofAll);
  if (begin.kind === 'refused') return begin;
  const inOrder = query.order === 'oldest' ? (one: Row, other: Row) => newestFirst(other, one) : newestFirst;
  const views: View[] = [];
  let { after } = begin;
  let length = 0;
  const isFull = () => views.length === perPage || length >= pageLengthMax;
  let count = perPage;
  for (let lookedAt = 0; lookedAt < lookedAtMax && !isFull(); lookedAt += count) {
    // Where the first ones have not filled the page, few match.
    if (lookedAt > 0) count = Math.max(perPage, readAtOnceMax);
    const rows = owners
      .flatMap((owner) =>
        selectPage(file, {
          kinds: [kind],
          query: { ...query, ...owner, perPage: count },
          rows: { ...begin, ...given({ after }) },
        }),
      )
      .toSorted(inOrder);
    for (const row of rows.slice(0, count)) {
      const measured = toViewOf(file, [kind], row);
      const { view } = measured;
      after = { at: view.createdAt, key: view.token };
      if (accepts(view)) {
        views.push(view);
        length += measured.length;
      }
      if (isFull()) break;
    }
    if (rows.length === 0 || after?.key === rows.at(-1)?.['token']) return { kind: 'page', views };
  }
  return {
    kind: 'page',
    views,
    ...(after === undefined ? {} : { nextCursor: formatCursor(list, ofAll, after) }),
  };
}

/** No team has this name. */
const everybody: ListOwner = { environment: 'production', team: '*' };

const newestFirst = (one: Row, other: Row): number =>
  Number(other['created_at']) - Number(one['created_at']) ||
  (String(one['token']) < String(other['token']) ? 1 : -1);

function toViewOf<View extends ViewEnvelope>(
  file: IndexFile,
  kinds: readonly ViewKind<View>[],
  row: Row,
): { view: View; length: number } {
  const kind = kinds.find(({ name }) => name === row['kind']);
  const measured = kind && file.findMeasured(kind, String(row['token']));
  if (measured === undefined) throw new InvariantViolation('a row of the index has no view');
  return measured;
}

function count(file: IndexFile, kinds: readonly ViewKind[], query: ListQuery): number {
  const counts = kinds.map((kind) => {
    const walks = walksOf(kind, query);
    if (walks.length === 0) return 0;
    const sql = `SELECT count(*) AS total FROM (${walks.map((walk) => walk.sql).join(' UNION ALL ')} LIMIT ?)`;
    const values = walks.flatMap((walk) => walk.values);
    return Number(file.select(sql, [...values, totalCountMax])[0]?.['total']);
  });
  return counts.reduce((sum, each) => sum + each, 0);
}

/** The disputes of one payment, oldest first. */
export const disputesOfPayment = (file: IndexFile, paymentToken: string): DisputeView[] =>
  file
    .select('SELECT view FROM disputes WHERE payment_token = ? ORDER BY opened_at', [paymentToken])
    .map((row) => toView(disputeKind, row));

/** The disputes of a team that were opened last, newest first. */
export function listDisputes(
  file: IndexFile,
  { environment, team }: ListOwner,
  limit: number,
): DisputeView[] {
  const sql = `SELECT view FROM disputes WHERE environment = ? AND team = ?
    ORDER BY opened_at DESC, token DESC LIMIT ?`;
  return file.select(sql, [environment, team, limit]).map((row) => toView(disputeKind, row));
}
