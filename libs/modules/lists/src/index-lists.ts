import { type DisputeView, type ViewEnvelope, type ViewKind, disputeKind } from '@tollgate/views';

import { totalCountMax, type ViewList, type ListQuery } from './view-list.ts';
import { InvariantViolation, omitUndefined } from '@tollgate/service-kit';
import type { IndexFile } from './index-file.ts';
import { toView, type Row } from './index-rows.ts';
import { leadEnd, walksOf, type ListedTable } from './index-filters.ts';
import { beginOf, formatCursor, type ListName, type ListOwner, type Place } from './list-page.ts';

/**
 * The page ends after the view that exceeds this size, in characters: an answer is written at once, and other requests wait
 * meanwhile.
 */
export const pageLengthMax = 1_000_000;

/** Maximum rows visited per piece by a filter without an index, and by a count. */
const visitedMax = 500;
const countVisitedMax = 5_000;
/** Maximum rows checked per piece if a filter may exclude most of them: few statements, and a few milliseconds. */
const filteredAtOnce = 200;

export interface Listed<Entry> {
  list: ListName;
  tables: readonly ListedTable[];
  /** The owner and filters bind the cursor. */
  owners: readonly ListOwner[];
  query: ListQuery;
  /** The view of a row, with its length in characters. */
  entryOf: (row: Row) => { entry: Entry; length: number };
  /** Filters by conditions without an index. */
  accepts?: ((entry: Entry) => boolean) | undefined;
}

/** The views of some kinds and owners that match a query, in order. */
export const listViews = <View extends ViewEnvelope>(
  file: IndexFile,
  { kinds, ...asked }: Omit<Listed<View>, 'tables' | 'entryOf'> & { kinds: readonly ViewKind<View>[] },
): ViewList<View> =>
  listRows(file, { ...asked, tables: kinds, entryOf: (row) => viewOfRow(file, kinds, row) });

/** As {@link listViews}, for any content. With `accepts`, a page may be empty and still have a cursor. */
export function listRows<Entry>(
  file: IndexFile,
  { list, tables, owners, query, entryOf, accepts }: Listed<Entry>,
): ViewList<Entry> {
  const begin = beginOf(list, query);
  if ('kind' in begin) return begin;
  const { limit: wanted = query.perPage } = query;
  const limit = accepts === undefined ? wanted : Math.max(wanted, filteredAtOnce);
  const { rows, end } = rowsOf(file, { tables, owners, query, after: begin.after, limit });
  const views: Entry[] = [];
  let [visited, length] = [0, 0];
  let last: Place | undefined;
  for (const row of rows.slice(0, limit)) {
    if (views.length >= wanted || length >= pageLengthMax) break;
    const measured = entryOf(row);
    last = { at: Number(row['created_at']), key: String(row['token']) };
    visited += 1;
    if (accepts?.(measured.entry) === false) continue;
    views.push(measured.entry);
    length += measured.length;
  }
  const totalCount = query.withTotal === true ? count(file, { tables, owners, query }) : undefined;
  if (totalCount === 'too-many') return { kind: 'refused', parameter: 'withTotal' };
  const place = visited < rows.length ? last : end;
  return {
    kind: 'page',
    views,
    visited: end === undefined ? visited : Math.max(visited, visitedMax),
    length,
    ...omitUndefined({ nextCursor: place && formatCursor(list, query, place), totalCount }),
  };
}

interface Asked {
  tables: readonly ListedTable[];
  query: ListQuery;
  after: Place | undefined;
  limit: number;
}

interface Piece {
  /** One more than requested if more follow. */
  rows: Row[];
  /** The piece ends early: it has visited enough rows. */
  end: Place | undefined;
}

/** The rows of several owners in one order, up to where one of them has visited enough. */
function rowsOf(file: IndexFile, { owners, ...asked }: Asked & { owners: readonly ListOwner[] }): Piece {
  const inOrder =
    asked.query.order === 'oldest' ? (one: Row, other: Row) => newestFirst(other, one) : newestFirst;
  const pieces = owners.map((owner) => selectPiece(file, { ...asked, query: { ...asked.query, ...owner } }));
  const [end] = pieces
    .flatMap((piece) => piece.end ?? [])
    .toSorted((one, other) => inOrder(toRow(one), toRow(other)));
  const isReached = (row: Row) => end === undefined || inOrder(row, toRow(end)) < 0;
  const rows = pieces.flatMap((piece) => piece.rows).toSorted(inOrder);
  return { rows: rows.filter(isReached), end };
}

/** SQLite merges the walks and stops at the limit. */
function selectPiece(file: IndexFile, { tables, query, after, limit }: Asked): Piece {
  const end = endOf(file, tables, query, after);
  const bounded = end === undefined ? query : { ...query, ...upTo(query, end) };
  const walks = tables.flatMap((table) => walksOf(table, bounded, after));
  if (walks.length === 0) return { rows: [], end: undefined };
  const sql = walks.map((walk) => walk.sql).join(' UNION ALL ');
  const values = walks.flatMap((walk) => walk.values);
  const direction = query.order === 'oldest' ? 'ASC' : 'DESC';
  const rows = file.select(`${sql} ORDER BY created_at ${direction}, token ${direction} LIMIT ?`, [
    ...values,
    limit + 1,
  ]);
  return { rows, end };
}

/** Where the first of the walks has visited enough rows, after all rows of that millisecond. */
function endOf(
  file: IndexFile,
  tables: readonly ListedTable[],
  query: ListQuery,
  after: Place | undefined,
): Place | undefined {
  const ends = tables.flatMap((table) => {
    const lead = leadEnd(table, query, visitedMax, after);
    return lead === undefined ? [] : file.select(lead.sql, lead.values).map(({ at }) => Number(at));
  });
  if (ends.length === 0) return undefined;
  // Sorts before and after every token.
  return query.order === 'oldest' ? { at: Math.min(...ends), key: '~' } : { at: Math.max(...ends), key: '-' };
}

const upTo = ({ order, createdFrom = 0, createdBefore = Infinity }: ListQuery, { at }: Place) =>
  order === 'oldest'
    ? { createdBefore: Math.min(createdBefore, at + 1) }
    : { createdFrom: Math.max(createdFrom, at) };

const toRow = ({ at, key }: Place): Row => ({ created_at: at, token: key });

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
  { tables, owners, query: asked }: Pick<Listed<unknown>, 'tables' | 'owners' | 'query'>,
): number | 'too-many' {
  let sum = 0;
  for (const [table, owner] of tables.flatMap((each) => owners.map((owner) => [each, owner] as const))) {
    const query = { ...asked, ...owner };
    const lead = leadEnd(table, query, countVisitedMax);
    if (lead !== undefined && file.select(lead.sql, lead.values).length > 0) return 'too-many';
    const walks = walksOf(table, query);
    if (walks.length === 0) continue;
    const sql = `SELECT count(*) AS total FROM (${walks.map((walk) => walk.sql).join(' UNION ALL ')} LIMIT ?)`;
    const values = walks.flatMap((walk) => walk.values);
    sum += Number(file.select(sql, [...values, totalCountMax])[0]?.['total']);
  }
  return sum;
}

/** The disputes of one payment, oldest first. */
export const disputesOfPayment = (file: IndexFile, paymentToken: string): DisputeView[] =>
  file
    .select('SELECT view FROM disputes WHERE payment_token = ? ORDER BY created_at', [paymentToken])
    .map((row) => toView(disputeKind, row));
