/** The open reviews of all teams, production first and then the oldest. */
import type { AnswerOf } from '@tollgate/gateway-api/http';
import { type Html, html } from '@tollgate/service-kit';
import { queryOf } from '../api.ts';
import { filterChips } from '../components/filter-chips.ts';
import { amountColumn, teamColumn, tokenColumn } from '../components/list-columns.ts';
import { outcomeSection, reviewTitle } from '../components/notice.ts';
import { ownerChoices } from '../components/payment-filters.ts';
import { sign } from '../components/state.ts';
import { type List, columnMenu, listTable, pager } from '../components/table.ts';
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
  const { api, outcome, query, columnsOf } = context;
  const [{ reviews, count, nextCursor }, { teams }] = await Promise.all([
    readReviews(context, queryOf(query, ['team', 'environment', 'cursor'], { perPage: '100' })),
    api.get<'TeamNames'>('/api/v1/admin/teams'),
  ]);
  const chosen = columnsOf(list.name);
  const main = html`<div class="head">
      <h1>Reviews</h1>
      ${columnMenu(list, path, query, chosen)}
    </div>
    ${outcomeSection(outcome)}
    <form class="filters" action="${path}">
      ${ownerChoices(query, teams)}
      <button>Show</button>
    </form>
    ${filterChips(path, query)}
    <section id="reviews" data-region="">
      ${count === 0 ? none : html`<p class="calm">${count} ${count === 1 ? 'review is' : 'reviews are'} open. Production comes first, then the oldest.</p>`}
      ${reviews.length === 0 ? undefined : listTable(list, reviews, chosen)}
      ${pager(path, query, nextCursor, 'More')}
    </section>`;
  return { title: 'Reviews', main, isLive: query.get('cursor') === null };
};

const none = html`<p class="empty good">
  ${sign('good')} No review is open.
  <span class="calm"
    >A review opens when only a person can decide: an answer is lost, or our record and the Payment Service
    disagree.</span
  >
</p>`;

const list: List<Review> = {
  name: 'reviews',
  label: 'Reviews',
  keyOf: ({ token, code, number }) => `${token} ${code} ${number}`,
  columns: [
    { id: 'what', name: 'What happened', use: 'always', cell: titleCell },
    {
      id: 'created',
      name: 'Open since',
      width: 'word',
      use: 'always',
      cell: ({ since }) => relative(since),
    },
    {
      id: 'order',
      name: 'Order number',
      width: 'name',
      cell: ({ orderNumber }) => orderNumber,
    },
    amountColumn(),
    teamColumn(),
    { ...tokenColumn('token', 'Payment', ({ token }: Review) => token), isSecond: true },
  ],
};

function titleCell(review: Review): Html {
  const title = reviewTitle(review);
  const proposed =
    review.proposal === undefined ? undefined : html` <small>One of two people has answered.</small>`;
  return html`<a href="${pathOf(review)}" title="${title}">${title}</a>${proposed}`;
}
