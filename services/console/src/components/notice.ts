import { type Html, html } from '@tollgate/service-kit';
import type { ApiError } from '../api.ts';
import { texts } from '../texts.ts';
import { sign } from './state.ts';
import { copyable } from './token.ts';

export interface Outcome {
  isDone: boolean;
  text: string;
  /** Of the request that was refused. */
  requestId?: string | undefined;
}

/** What came of something that the reader has just done. */
export const outcomeNotice = ({ isDone, text, requestId }: Outcome): Html =>
  html`<div class="notice ${isDone ? 'good' : 'bad'}" role="status" data-outcome="">
    ${sign(isDone ? 'good' : 'bad')}
    <p>
      ${text}${requestId === undefined ? undefined : html` <small>${texts.errors.requestId} ${copyable(requestId)}</small>`}
    </p>
  </div>`;

export const errorText = (errors: readonly ApiError[]): string =>
  errors.map(({ message, code }) => message ?? code).join(' ') || texts.errors.unavailable;
