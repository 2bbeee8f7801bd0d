/** What a person may do with a payment now: each says what it sends before it is done. */
import { type Html, html } from '@tollgate/service-kit';
import { formatGrants, mayDo } from '@tollgate/teams';
import type { PageContext } from '../page.ts';
import { texts } from '../texts.ts';
import { amountText, typedAmount } from './amount.ts';
import { paymentPath, type ListedPayment } from './payment-list.ts';

export type ActionName = 'capture' | 'void' | 'refund' | 'inquire';

export interface ActionSubject {
  payment: ListedPayment & { heldAmount: number; revision: number };
  refundableAmount: number;
  actions: readonly ActionName[];
}

/** The API refuses the others as well. */
export const mayAct = (
  { grants }: Pick<PageContext['session'], 'grants'>,
  owner: Pick<ListedPayment, 'team' | 'environment'>,
): boolean => mayDo(grants, 'operators:act', owner);

export function actionForms(
  { payment, refundableAmount, actions }: ActionSubject,
  { session, idempotencyKey }: Pick<PageContext, 'session' | 'idempotencyKey'>,
): Html {
  if (!mayAct(session, payment))
    return html`<p class="calm">${texts.actions.notYours(formatGrants(session.grants))}</p>`;
  const forms = actions.map((name) => {
    const words = texts.actions[name];
    const sum = name === 'refund' ? refundableAmount : payment.heldAmount;
    const shown = amountText(sum, payment.currency);
    const key = idempotencyKey(name, payment.token, payment.revision);
    return html`<details class="action" name="action">
      <summary>${words.name}</summary>
      <form method="post" action="${paymentPath(payment.token)}/${name}">
        <p>${words.says(shown, payment.account)}</p>
        ${name === 'refund' ? amountField(refundableAmount, payment.currency) : undefined}
        <input type="hidden" name="csrf" value="${session.csrf}" />
        <input type="hidden" name="key" value="${key}" />
        <button class="${name === 'inquire' ? 'strong' : 'strong grave'}">${words.does(shown)}</button>
      </form>
    </details>`;
  });
  return html`${disputedNote(payment)}
    <div class="actions">${forms}</div>`;
}

/** Why less can be refunded, or nothing. */
function disputedNote({ disputedAmount, lostAmount, currency }: ActionSubject['payment']): Html | undefined {
  const sum = disputedAmount + lostAmount;
  return sum === 0
    ? undefined
    : html`<p class="calm">${texts.actions.disputed(amountText(sum, currency))}</p>`;
}

const amountField = (refundable: number, currency: string): Html =>
  html`<label
    >${texts.actions.refund.amount} (${currency})<input
      name="amount"
      required
      inputmode="decimal"
      autocomplete="off"
      maxlength="16"
      value="${typedAmount(refundable, currency)}"
  /></label>`;
