/** The open reviews of payments, payouts and operations that only the provider has, from the index. */
import {
  type ViewEnvelope,
  type ViewKind,
  type PaymentView,
  type PayoutView,
  type UnmatchedView,
  paymentKind,
  payoutKind,
  unmatchedKind,
} from '@tollgate/views';
import { InvariantViolation, omitUndefined } from '@tollgate/service-kit';
import type { IndexFile } from './index-file.ts';
import type { Row } from './index-rows.ts';
import {
  beginOf,
  boundTo,
  formatCursor,
  type ListOwner,
  type OfOwners,
  type PageQuery,
  type Place,
  type ViewList,
} from './list-page.ts';

/** The view with an open review, and the index of that review in its list. */
export type ReviewEntry = ListOwner & { place: number; since: number } & (
    | { kind: 'payment'; view: PaymentView }
    | { kind: 'payout'; view: PayoutView }
    | { kind: 'unmatched'; view: UnmatchedView }
  );

/** Of every review. */
export const reviewKinds = ['payment', 'payout', 'unmatched'] as const;

export interface ReviewQuery extends PageQuery {
  kinds: readonly ReviewEntry['kind'][];
}

/** The open reviews of several owners: those of production, and then those of the sandbox, each oldest first. */
export function listReviews(
  file: IndexFile,
  { owners, ...asked }: OfOwners<ReviewQuery>,
): ViewList<ReviewEntry> {
  const query = boundTo(owners, asked);
  const begin = beginOf('reviews', query);
  if ('kind' in begin) return begin;
  const { limit = query.perPage } = query;
  const rows = owners
    .flatMap((owner) => rowsAfter(file, owner, { kinds: query.kinds, after: begin.after, limit }))
    .toSorted(inOrder);
  const shown = rows.slice(0, limit);
  const last = rows.length > limit ? shown.at(-1) : undefined;
  return {
    kind: 'page',
    views: shown.map((row) => toEntry(file, row)),
    visited: shown.length,
    length: 0,
    ...omitUndefined({ nextCursor: last && formatCursor('reviews', query, toPlace(last)) }),
  };
}

/** The open reviews of a payment, payout or operation that only the provider has, of any owner. */
export function reviewsOfToken(file: IndexFile, token: string): ReviewEntry[] {
  const sql = `SELECT environment, team, since, token, number, kind FROM reviews INDEXED BY reviews_by_token
    WHERE token = ? ORDER BY since, number`;
  return file.select(sql, [token]).map((row) => toEntry(file, row));
}

function rowsAfter(
  file: IndexFile,
  owner: ListOwner,
  { kinds, after, limit }: Pick<ReviewQuery, 'kinds'> & { after: Place | undefined; limit: number },
): Row[] {
  const place = after && fromPlace(after);
  if (place?.environment === 'sandbox' && owner.environment === 'production') return [];
  const begin = place?.environment === owner.environment ? place : undefined;
  const sqlAfter = begin === undefined ? '' : 'AND (since, token, number) > (?, ?, ?)';
  const valuesAfter = begin === undefined ? [] : [begin.since, begin.token, begin.number];
  const sql = `SELECT environment, team, since, token, number, kind FROM reviews
    WHERE environment = ? AND team = ? ${sqlAfter} AND kind IN (${kinds.map(() => '?').join(', ')})
    ORDER BY since, token, number LIMIT ?`;
  return file.select(sql, [owner.environment, owner.team, ...valuesAfter, ...kinds, limit + 1]);
}

function inOrder(one: Row, other: Row): number {
  if (one['environment'] !== other['environment']) return one['environment'] === 'production' ? -1 : 1;
  if (one['since'] !== other['since']) return Number(one['since']) - Number(other['since']);
  if (one['token'] !== other['token']) return String(one['token']) < String(other['token']) ? -1 : 1;
  return Number(one['number']) - Number(other['number']);
}

const toPlace = ({ since, token, number, environment }: Row): Place => ({
  at: Number(since),
  key: [token, number, environment].map(String).join('~'),
});

function fromPlace({ at: since, key }: Place) {
  const [token = '', number = '', environment = ''] = key.split('~');
  return { since, token, number: Number(number), environment };
}

function toEntry(file: IndexFile, row: Row): ReviewEntry {
  const environment = row['environment'] === 'production' ? 'production' : 'sandbox';
  const owner = { environment, team: String(row['team']) } as const;
  const found = { ...owner, place: Number(row['number']), since: Number(row['since']) };
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
