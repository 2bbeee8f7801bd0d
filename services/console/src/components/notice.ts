import { type Html, html } from '@tollgate/service-kit';
import type { ApiAnswer, ApiError } from '../api.ts';
import { reviewTexts } from '../review-texts.ts';
import { texts } from '../texts.ts';
import { sign } from './state.ts';
import { copyable } from './token.ts';

export interface Outcome {
  isDone: boolean;
  text: string;
  /** Id of the refused request. */
  requestId?: string | undefined;
}

/** The outcome of the reader's last action. */
export const outcomeNotice = ({ isDone, text, requestId }: Outcome): Html =>
  html`<div class="notice ${isDone ? 'good' : 'bad'}" role="status" data-outcome="${isDone ? 'good' : 'bad'}">
    ${sign(isDone ? 'good' : 'bad')}
    <p>
      ${text}${requestId === undefined ? undefined : html` <small>Request ${copyable(requestId)}</small>`}
    </p>
  </div>`;

/** Where the outcome of an action appears, including a delayed one. */
export const outcomeSection = (outcome: Outcome | undefined): Html =>
  html`<section id="outcome" aria-live="polite">
    ${outcome === undefined ? undefined : outcomeNotice(outcome)}
  </section>`;

export interface OpenReview {
  code: string;
  number: number;
  evidence: Readonly<Record<string, unknown>>;
}

/** The kind of review or discrepancy. */
export const reviewTitle = ({ code, evidence }: Pick<OpenReview, 'code' | 'evidence'>): string =>
  reviewTexts.kinds[String(evidence['kind'])] ?? reviewTexts.codes[code] ?? code;

/** Open reviews of a payment or payout, with links. */
export function reviewsNotice(token: string, reviews: readonly OpenReview[]): Html | undefined {
  if (reviews.length === 0) return undefined;
  const items = reviews.map(
    (review) =>
      html`<li>
        ${reviewTitle(review)}
        <a href="/console/reviews/${token}/${review.code}/${review.number}">Decide</a>
      </li>`,
  );
  return html`<div class="notice note">
    ${sign('note')}
    <div>
      <p>Open reviews</p>
      <ul>
        ${items}
      </ul>
    </div>
  </div>`;
}

export const errorText = (errors: readonly ApiError[]): string =>
  errors.map(({ message, code }) => message ?? code).join(' ') || texts.errors.unavailable;

/** An outcome, and the page that shows it. */
export const shownAt = (location: string, isDone: boolean, text: string) => ({
  location,
  outcome: { isDone, text },
});

/** Where the outcome of a command is shown. @param done its text, if the command was accepted */
export const answered = <Body>(
  answer: ApiAnswer<Body>,
  location: string,
  done: string | ((body: Body) => string | Outcome),
): { location: string; outcome: Outcome } => {
  if (answer.kind === 'refused') {
    const { errors, requestId } = answer;
    return { location, outcome: { isDone: false, text: errorText(errors), requestId } };
  }
  const told = typeof done === 'string' ? done : done(answer.body);
  return { location, outcome: typeof told === 'string' ? { isDone: true, text: told } : told };
};
