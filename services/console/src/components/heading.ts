/** The head of the page of a payment, a payout or a review: amount, order number, state, and what happens next. */
import { type Html, html } from '@tollgate/service-kit';
import { amount, amountText } from './amount.ts';
import { openRefusal } from './event-reason.ts';
import { phaseName, sign } from './state.ts';
import { copyable, shortToken } from './token.ts';

interface Headed {
  token: string;
  amount: number;
  currency: string;
  orderNumber?: string;
}

export const headingOf = ({ amount: sum, currency, orderNumber }: Omit<Headed, 'token'>, state: Html): Html =>
  html`<div class="heading">
    <h1>
      ${amount(sum, currency)}
      ${orderNumber === undefined ? undefined : html`<small>order ${copyable(orderNumber)}</small>`}
    </h1>
    <p>${state}</p>
  </div>`;

/** Title of the browser's window. */
export const titleOf = ({
  token,
  amount: sum,
  currency,
  orderNumber,
  phase,
}: Headed & { phase: string }): string =>
  `${orderNumber ?? shortToken(token)} · ${amountText(sum, currency)} · ${phaseName(phase)}`;

/** The next step; after a refusal, the refusal first. @param events of which the last one may be a refusal */
export function nextLine(events: Parameters<typeof openRefusal>[0], step: Html | string): Html {
  const refusal = openRefusal(events);
  return html`<p class="next">
    ${refusal === undefined ? undefined : html`<span class="refused">${sign('bad')} ${refusal}</span>`}
    <b>Next</b> ${step}
  </p>`;
}
