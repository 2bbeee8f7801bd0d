/** The open reviews of all teams, production first and then the oldest. */
import type { AnswerOf } from '@tollgate/gateway-api/http';
import { type Html, html } from '@tollgate/service-kit';
import { queryOf } from '../api.ts';
import { filterForm, ownerFields } from '../components/filters.ts';
import { amountColumn, teamColumn, tokenColumn } from '../components/list-columns.ts';
import { listPage } from '../components/list-page.ts';
import { reviewTitle } from '../components/notice.ts';
import { type List, column } from '../components/table.ts';
import { relative } from '../components/time.ts';
import type { Page, PageContext } from '../page.ts';

type ReviewList = AnswerOf<'OperatorReviewList'>;
/** The subject of an unmatched one has neither phase nor order number. */
export type Review = ReviewList['reviews'][number] & { phase?: string; orderNumber?: string };

export const path = '/console/reviews';

export const readReviews = (
  { api }: Pick<PageContext, 'api'>,
  asked: URLSearchParams | Record<string, string>,
): Promise<ReviewList> =>
  api.get<'OperatorReviewList'>(`/api/v1/admin/reviews?${new URLSearchParams(asked).toString()}`);

export const pathOf = ({ token, code, number }: { token: string; code: string; number: number }): string =>
  `${path}/${encodeURIComponent(token)}/${encodeURIComponent(code)}/${number}`;

export const reviewsPage: Page = async (context) => {
  const { api, query } = context;
  const [{ reviews, count, nextCursor }, { teams }] = await Promise.all([
    readReviews(context, queryOf(query, ['team', 'environment', 'cursor'], { perPage: '100' })),
    api.get<'TeamNames'>('/api/v1/admin/teams'),
  ]);
  const counted = `${count} ${count === 1 ? 'review is' : 'reviews are'} open. Production comes first, then the oldest.`;
  return listPage<Review>(context, {
    title: 'Reviews',
    path,
    list,
    rows: reviews,
    nextCursor,
    further: 'More',
    none: 'No review is open.',
    noneHow:
      'A review opens when only a person can decide: an answer is lost, or our record and the Payment Service disagree.',
    isGoodNews: true,
    filters: filterForm(path, query, ownerFields(teams)),
    before: count === 0 ? undefined : html`<p class="calm">${counted}</p>`,
  });
};

const list: List<Review> = {
  name: 'reviews',
  label: 'Reviews',
  keyOf: ({ token, code, number }) => `${token} ${code} ${number}`,
  columns: [
    column('what', 'What happened', titleCell, { use: 'always' }),
    column('created', 'Open since', ({ since }) => relative(since), { width: 'word', use: 'always' }),
    column('order', 'Order number', ({ orderNumber }) => orderNumber, { width: 'name' }),
    amountColumn(),
    teamColumn(),
    tokenColumn('token', 'Payment', ({ token }) => token, { isSecond: true }),
  ],
};

function titleCell(review: Review): Html {
  const title = reviewTitle(review);
  const proposed =
    review.proposal === undefined ? undefined : html` <small>One of two people has answered.</small>`;
  return html`<a href="${pathOf(review)}" title="${title}">${title}</a>${proposed}`;
}
