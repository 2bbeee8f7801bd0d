/** The open reviews of payments, payouts and operations that only the provider has, from the index. */
import { type ReviewEntry as OpenReview } from '@tollgate/gateway-api';
import { type ViewEnvelope, type ViewKind, paymentKind, payoutKind, unmatchedKind } from '@tollgate/views';
import type { Environment } from '@tollgate/core';
import { InvariantViolation } from '@tollgate/service-kit';
import type { IndexFile } from './index-file.ts';
import { ageTerms, walkOf, type Term, type Walk } from './index-filters.ts';
import { listRows } from './index-lists.ts';
import type { Row, Statements } from './index-rows.ts';
import type { ListOwner, ListQuery, OfOwners, PageQuery, Place, ViewList } from './list-page.ts';

export type ReviewEntry = ListOwner & OpenReview;

/** Of every review. */
export const reviewKinds = ['payment', 'payout', 'unmatched'] as const;

export interface ReviewQuery extends PageQuery {
  kinds: readonly ReviewEntry['kind'][];
  /** Only those of the payment, payout or operation with this token. */
  token?: string;
}

/** In the order of the list: later than any review of production. @unit milliseconds */
const sandboxBegin = 1e14;

const rankOf = (environment: Environment, since: number): number =>
  environment === 'production' ? since : sandboxBegin + since;

/** Call in a transaction. */
export function writeReviews(statements: Statements, kind: ViewKind, view: ViewEnvelope): void {
  statements('DELETE FROM reviews WHERE token = ?').run(view.token);
  const { environment, team } = kind.ownerOf(view);
  if (team === undefined) return;
  const open = statements('INSERT INTO reviews VALUES (?, ?, ?, ?, ?, ?, ?)');
  for (const [place, since] of kind.reviewsSinceOf(view).entries())
    open.run(
      environment,
      team,
      rankOf(environment, since),
      `${view.token}~${place}`,
      view.token,
      since,
      kind.name,
    );
}

/** The open reviews of several owners: those of production, and then those of the sandbox, each oldest first. */
export const listReviews = (
  file: IndexFile,
  { owners, ...asked }: OfOwners<ReviewQuery>,
): ViewList<ReviewEntry> =>
  listRows(file, {
    list: 'reviews',
    owners,
    query: { ...asked, order: 'oldest' },
    tables: [
      {
        name: 'reviews',
        table: { name: 'reviews' },
        walks: (query, after) => [walkOfReviews(query, asked, after)],
      },
    ],
    entryOf: (row) => ({ entry: toEntry(file, row), length: 0 }),
  });

function walkOfReviews(
  query: ListQuery,
  { kinds, token }: Pick<ReviewQuery, 'kinds' | 'token'>,
  after: Place | undefined,
): Walk {
  const index = token === undefined ? '' : 'INDEXED BY reviews_by_token';
  const ofToken: Term[] = token === undefined ? [] : [['reviews.token = ?', token]];
  return walkOf(
    `SELECT rank AS created_at, key AS token, environment, team, since, kind FROM reviews ${index}`,
    [
      ['environment = ?', query.environment],
      ['team = ?', query.team],
      [`kind IN (${kinds.map(() => '?').join(', ')})`, ...kinds],
      ...ofToken,
      ...ageTerms(query, after, { at: 'rank', key: 'key' }),
    ],
  );
}

function toEntry(file: IndexFile, row: Row): ReviewEntry {
  const [token = '', place] = String(row['token']).split('~');
  const environment = row['environment'] === 'production' ? 'production' : 'sandbox';
  const found = {
    environment,
    team: String(row['team']),
    place: Number(place),
    since: Number(row['since']),
  } as const;
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
