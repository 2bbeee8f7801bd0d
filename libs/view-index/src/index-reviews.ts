/** The open reviews of payments, payouts and of what only the provider has, from the index. */
import type { ViewEnvelope, ViewKind, PaymentView, PayoutView, UnmatchedView } from '@tollgate/views';
import { paymentKind, payoutKind, unmatchedKind } from '@tollgate/views';
import { InvariantViolation } from '@tollgate/service-kit';
import type { IndexFile } from './index-file.ts';
import type { Row } from './index-rows.ts';
import {
  formatCursor,
  type ListOwner,
  pageOf,
  type PageQuery,
  type PageRefused,
  type Place,
} from './list-page.ts';

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

/** Whose review it is, too. */
export type OwnedReviewEntry = ReviewEntry & ListOwner;

export type ReviewListOfAll =
  { kind: 'page'; entries: OwnedReviewEntry[]; nextCursor?: string } | PageRefused;

export interface ReviewsOfAllQuery extends Pick<PageQuery, 'perPage' | 'cursor'> {
  owners: readonly ListOwner[];
}

/** Every open review of several owners: those of production, and then those of the sandbox, each oldest first. */
export function listReviewsOfAll(file: IndexFile, { owners, ...page }: ReviewsOfAllQuery): ReviewListOfAll {
  const query = { ...everybody, ...page };
  const begin = pageOf('reviews', query);
  if (begin.kind === 'refused') return begin;
  const rows = owners
    .flatMap((owner) => ownedAfter(file, owner, { perPage: page.perPage, after: begin.after }))
    .toSorted(inOrder);
  const shown = rows.slice(0, page.perPage);
  const last = rows.length > page.perPage ? shown.at(-1) : undefined;
  return {
    kind: 'page',
    entries: shown.map((row) => ({ ...toEntry(file, row), ...ownerOf(row) })),
    ...(last === undefined ? {} : { nextCursor: formatCursor('reviews', query, toOwnedPlace(last)) }),
  };
}

/** The open reviews of a payment, payout or of what only the provider has, of any owner. */
export function reviewsOfToken(file: IndexFile, token: string): OwnedReviewEntry[] {
  const sql = `SELECT environment, team, since, token, number, kind FROM reviews INDEXED BY reviews_by_token
    WHERE token = ? ORDER BY since, number`;
  return file.select(sql, [token]).map((row) => ({ ...toEntry(file, row), ...ownerOf(row) }));
}

/** No team has this name. */
const everybody: ListOwner = { environment: 'production', team: '*' };

const anyKind = ['payment', 'payout', 'unmatched'] as const;

/** What an owner has behind a place in the list of all. */
function ownedAfter(
  file: IndexFile,
  owner: ListOwner,
  { perPage, after }: { perPage: number; after: Place | undefined },
): Row[] {
  const { environment, ...place } = after === undefined ? {} : fromOwnedPlace(after);
  if (environment === 'sandbox' && owner.environment === 'production') return [];
  const begin = environment === owner.environment && 'at' in place ? { after: place, skip: 0 } : { skip: 0 };
  const rows = selectReviews(file, { ...owner, kinds: anyKind, perPage }, begin);
  return rows.map((row) => ({ ...row, ...owner }));
}

const ownerOf = (row: Row): ListOwner => ({
  environment: row['environment'] === 'production' ? 'production' : 'sandbox',
  team: String(row['team']),
});

function inOrder(one: Row, other: Row): number {
  if (one['environment'] !== other['environment']) return one['environment'] === 'production' ? -1 : 1;
  const [first, second] = [toPlace(one), toPlace(other)];
  if (first.at !== second.at) return first.at - second.at;
  if (one['token'] !== other['token']) return String(one['token']) < String(other['token']) ? -1 : 1;
  return Number(one['number']) - Number(other['number']);
}

/** Names the environment, too, behind what names a row in it. */
const toOwnedPlace = (row: Row): Place => {
  const { at, key } = toPlace(row);
  return { at, key: `${key}~${String(row['environment'])}` };
};

function fromOwnedPlace({ at, key }: Place): Place & { environment: string } {
  const [token = '', number = '', environment = ''] = key.split('~');
  return { at, key: `${token}~${number}`, environment };
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
