import { type DisputeView, type ViewEnvelope, type ViewKind, disputeKind } from '@tollgate/views';

import {
  boundTo,
  totalCountMax,
  type Listing,
  type ViewList,
  type ListQuery,
  beginOf,
  formatCursor,
  type ListName,
  type ListOwner,
  type Place,
} from './list-page.ts';
import { InvariantViolation, omitUndefined } from '@tollgate/service-kit';
import type { IndexFile } from './index-file.ts';
import { toView, type Row } from './index-rows.ts';
import { walksOf, type ListedTable } from './index-filters.ts';

/**
 * The page ends after the view that exceeds this size, in characters: an answer is written at once, and other requests wait
 * meanwhile.
 */
export const pageLengthMax = 1_000_000;

/** Maximum rows visited by a count with a filter without an index. */
const countVisitedMax = 5_000;
/** Rows visited per piece if a filter may exclude most of them: few statements, and a few milliseconds. */
const filteredAtOnce = 200;

export interface Listed<Entry> {
  list: ListName;
  tables: readonly ListedTable[];
  owners: readonly ListOwner[];
  query: Omit<ListQuery, keyof ListOwner>;
  /** The view of a row, with its length in characters. */
  entryOf: (row: Row) => { entry: Entry; length: number };
  /** Filters by conditions without an index. */
  accepts?: ((entry: Entry) => boolean) | undefined;
}

/** The list of the views of some kinds that match a query, in order. */
export const listOf =
  <View extends ViewEnvelope>(list: ListName, kinds: readonly ViewKind<View>[]) =>
  (file: IndexFile, { owners, accepts, ...query }: Listing<View>): ViewList<View> =>
    listRows(file, {
      list,
      tables: kinds,
      owners,
      query,
      accepts,
      entryOf: (row) => viewOfRow(file, kinds, row),
    });

/** A list of any content. With a filter without an index, a page may be empty and still have a cursor. */
export function listRows<Entry>(
  file: IndexFile,
  { list, tables, owners, query: asked, entryOf, accepts }: Listed<Entry>,
): ViewList<Entry> {
  const query = boundTo(owners, asked);
  const begin = beginOf(list, query);
  if ('kind' in begin) return begin;
  const { limit: wanted = query.perPage } = query;
  const isFiltered = accepts !== undefined || query.metadata !== undefined;
  const limit = isFiltered ? Math.max(wanted, filteredAtOnce) : wanted;
  const rows = rowsOf(file, { tables, owners, query, after: begin.after, limit });
  const views: Entry[] = [];
  let [visited, length] = [0, 0];
  for (const row of rows.slice(0, limit)) {
    if (views.length >= wanted || length >= pageLengthMax) break;
    visited += 1;
    if ('fits' in row && row['fits'] !== 1) continue;
    const measured = entryOf(row);
    if (accepts?.(measured.entry) === false) continue;
    views.push(measured.entry);
    length += measured.length;
  }
  const totalCount = query.withTotal === true ? count(file, { tables, owners, query }) : undefined;
  if (totalCount === 'too-many') return { kind: 'refused', parameter: 'withTotal' };
  const last = visited < rows.length ? rows[visited - 1] : undefined;
  const place = last && { at: Number(last['created_at']), key: String(last['token']) };
  return {
    kind: 'page',
    views,
    visited,
    length,
    ...omitUndefined({ nextCursor: place && formatCursor(list, query, place), totalCount }),
  };
}

interface Asked {
  tables: readonly ListedTable[];
  owners: readonly ListOwner[];
  query: ListQuery;
  after: Place | undefined;
  limit: number;
}

/** The rows of several owners in one order, and one more than the limit if more follow. SQLite merges the walks of each. */
function rowsOf(file: IndexFile, { tables, owners, query, after, limit }: Asked): Row[] {
  const direction = query.order === 'oldest' ? 'ASC' : 'DESC';
  const rows = owners.flatMap((owner) => {
    const walks = tables.flatMap((table) => walksOf(table, { ...query, ...owner }, after));
    if (walks.length === 0) return [];
    const sql = walks.map((walk) => walk.sql).join(' UNION ALL ');
    const values = walks.flatMap((walk) => walk.values);
    return file.select(`${sql} ORDER BY created_at ${direction}, token ${direction} LIMIT ?`, [
      ...values,
      limit + 1,
    ]);
  });
  return rows.toSorted((one, other) =>
    query.order === 'oldest' ? newestFirst(other, one) : newestFirst(one, other),
  );
}

const newestFirst = (one: Row, other: Row): number =>
  Number(other['created_at']) - Number(one['created_at']) ||
  (String(one['token']) < String(other['token']) ? 1 : -1);

function viewOfRow<View extends ViewEnvelope>(
  file: IndexFile,
  kinds: readonly ViewKind<View>[],
  row: Row,
): { entry: View; length: number } {
  const kind = kinds.find(({ name }) => name === row['kind']);
  const measured = kind && file.findMeasured(kind, String(row['token']));
  if (measured === undefined) throw new InvariantViolation('a row of the index has no view');
  return { entry: measured.view, length: measured.length };
}

function count(
  file: IndexFile,
  { tables, owners, query: asked }: Pick<Asked, 'tables' | 'owners' | 'query'>,
): number | 'too-many' {
  let sum = 0;
  for (const [table, owner] of tables.flatMap((each) => owners.map((owner) => [each, owner] as const))) {
    const query = { ...asked, ...owner };
    const walks = walksOf(table, query);
    if (walks.length === 0) continue;
    const isFiltered = walks.some((walk) => walk.isFiltered);
    const rows = `${walks.map((walk) => walk.sql).join(' UNION ALL ')} LIMIT ?`;
    const sql = `SELECT count(*) AS visited, ${isFiltered ? 'sum(fits)' : 'count(*)'} AS total FROM (${rows})`;
    const max = isFiltered ? countVisitedMax : totalCountMax;
    const [found] = file.select(sql, [...walks.flatMap(({ values }) => values), max]);
    if (isFiltered && Number(found?.['visited']) >= max) return 'too-many';
    sum += Number(found?.['total']);
  }
  return sum;
}

/** The disputes of one payment, oldest first. */
export const disputesOfPayment = (file: IndexFile, paymentToken: string): DisputeView[] =>
  file
    .select('SELECT view FROM disputes WHERE payment_token = ? ORDER BY created_at', [paymentToken])
    .map((row) => toView(disputeKind, row));
