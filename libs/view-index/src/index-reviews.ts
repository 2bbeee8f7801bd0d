/** The open reviews of payments, payouts and of what only the provider has, from the index. */
import type { ViewEnvelope, ViewKind, PaymentView, PayoutView, UnmatchedView } from '@tollgate/views';
import { paymentKind, payoutKind, unmatchedKind } from '@tollgate/views';
import { InvariantViolation } from '@tollgate/service-kit';
import type { IndexFile } from './index-file.ts';
import type { Row } from './index-rows.ts';
import { formatCursor, pageOf, type PageQuery, type PageRefused, type Place } from './list-page.ts';

/** The view with an open review, and the index of that review in its list. */
type ReviewEntry = { place: number; since: number } & (
  | { kind: 'payment'; view: PaymentView }
  | { kind: 'payout'; view: PayoutView }
  | { kind: 'unmatched'; view: UnmatchedView }
);

export type ReviewList = { kind: 'page'; entries: ReviewEntry[]; nextCursor?: string } | PageRefused;

export interface ReviewQuery extends PageQuery {
  kinds: readonly ReviewEntry['kind'][];
}

/** Every open review of a team, oldest first. */
export function listReviews(file: IndexFile, query: ReviewQuery): ReviewList {
  const begin = pageOf('reviews', query);
  if (begin.kind === 'refused') return begin;
  const rows = selectReviews(file, query, begin);
  const shown = rows.slice(0, query.perPage);
  const last = rows.length > query.perPage ? shown.at(-1) : undefined;
  return {
    kind: 'page',
    entries: shown.map((row) => toEntry(file, row)),
    ...(last === undefined ? {} : { nextCursor: formatCursor('reviews', query, toPlace(last)) }),
  };
}

function selectReviews(
  file: IndexFile,
  { environment, team, kinds, perPage }: ReviewQuery,
  { after, skip }: { after?: Place; skip: number },
): Row[] {
  const sqlAfter = after === undefined ? '' : 'AND (since, token, number) > (?, ?, ?)';
  const sqlKinds = `AND kind IN (${kinds.map(() => '?').join(', ')})`;
  const sql = `SELECT since, token, number, kind FROM reviews
    WHERE environment = ? AND team = ? ${sqlAfter} ${sqlKinds}
    ORDER BY since, token, number LIMIT ? OFFSET ?`;
  const valuesAfter = after === undefined ? [] : [after.at, ...fromKey(after.key)];
  return file.select(sql, [environment, team, ...valuesAfter, ...kinds, perPage + 1, skip]);
}

const toPlace = (row: Row): Place => ({
  at: Number(row['since']),
  key: `${String(row['token'])}~${String(row['number'])}`,
});

function fromKey(key: string): [token: string, number: number] {
  const [token = '', number] = key.split('~');
  return [token, Number(number)];
}

function toEntry(file: IndexFile, row: Row): ReviewEntry {
  const found = { place: Number(row['number']), since: Number(row['since']) };
  const token = String(row['token']);
  switch (row['kind']) {
    case payoutKind.name:
      return { ...found, kind: 'payout', view: viewOf(file, payoutKind, token) };
    case unmatchedKind.name:
      return { ...found, kind: 'unmatched', view: viewOf(file, unmatchedKind, token) };
    default:
      return { ...found, kind: 'payment', view: viewOf(file, paymentKind, token) };
  }
}

function viewOf<View extends ViewEnvelope>(file: IndexFile, kind: ViewKind<View>, token: string): View {
  const view = file.find(kind, token);
  // Both are written in one transaction.
  if (view === undefined) throw new InvariantViolation('a review in the index has no view');
  return view;
}
