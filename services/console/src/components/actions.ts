/** Actions as a row of buttons with fixed places: each opens its form below the row. */
import type { AnswerOf } from '@tollgate/gateway-api/http';
import { type Html, html } from '@tollgate/service-kit';
import { formatGrants, mayDo } from '@tollgate/teams';
import type { PageContext } from '../page.ts';
import { amountText, typedAmount } from './amount.ts';
import { hiddenFields } from './form.ts';
import type { ListedPayment } from './payment-list.ts';
import { operationPath } from './token.ts';

export interface ActionForm {
  name: string;
  /** URL that the form is posted to. */
  path: string;
  /** The effect and cost of the action. */
  says: Html | string;
  fields?: Html | undefined;
  /** Label of the submit button. */
  does: string;
  isHarmless?: boolean;
  /** An action that is not allowed now keeps its place, so that no other action moves there. */
  isAllowed?: boolean;
}

export const actionRow = (csrf: string, actions: readonly ActionForm[]): Html =>
  html`<div class="actions">${actions.map((action) => actionIn(csrf, action))}</div>`;

function actionIn(csrf: string, action: ActionForm): Html {
  const { name, path, says, fields, does, isHarmless = false, isAllowed = true } = action;
  if (!isAllowed)
    return html`<button type="button" disabled title="Not possible in the current state">${name}</button>`;
  return html`<details class="action" name="action">
    <summary>${name}</summary>
    <form method="post" action="${path}">
      <p>${says}</p>
      ${fields} ${hiddenFields({ csrf })}
      <button class="${isHarmless ? 'strong' : 'strong grave'}">${does}</button>
    </form>
  </details>`;
}

export type Detail = AnswerOf<'OperatorPayment'>;
export type ActionName = Detail['actions'][number];

/** Other actions are refused by the API as well. */
export const mayAct = (
  { grants }: Pick<PageContext['session'], 'grants'>,
  owner: Pick<ListedPayment, 'team' | 'environment'>,
): boolean => mayDo(grants, 'operators:act', owner);

const actionTexts = {
  capture: {
    name: 'Capture',
    says: (amount: string, account: string) =>
      `Captures the authorized ${amount} through account ${account}. Cannot be undone; refund it instead.`,
    does: (amount: string) => `Capture ${amount}`,
  },
  void: {
    name: 'Void',
    says: (amount: string, account: string) =>
      `Releases the authorized ${amount} through account ${account}. The customer pays nothing. Cannot be undone.`,
    does: (amount: string) => `Release ${amount}`,
  },
  refund: {
    name: 'Refund',
    says: (amount: string, account: string) =>
      `Sends a refund of up to ${amount} to account ${account}. Cannot be undone.`,
    does: () => 'Send the refund',
  },
  inquire: {
    name: 'Check now',
    says: (_amount: string, account: string) =>
      `Asks the Payment Service for the status, through account ${account}. Moves no money.`,
    does: () => 'Check the status',
  },
};

const ofOneStep = ['refund', 'inquire'] as const;
const ofTwoSteps = ['capture', 'void', ...ofOneStep] as const;

export function paymentActions(
  { payment, refundableAmount, actions }: Pick<Detail, 'payment' | 'refundableAmount' | 'actions'>,
  { session, idempotencyKey }: Pick<PageContext, 'session' | 'idempotencyKey'>,
): Html {
  if (!mayAct(session, payment))
    return html`<p class="calm">Your role, ${formatGrants(session.grants)}, allows no action here.</p>`;
  const { token, currency, account, revision } = payment;
  const forms = (payment.needConfirmation ? ofTwoSteps : ofOneStep).map((name): ActionForm => {
    const words = actionTexts[name];
    const shown = amountText(name === 'refund' ? refundableAmount : payment.heldAmount, currency);
    return {
      name: words.name,
      path: `${operationPath(token)}/${name}`,
      says: words.says(shown, account),
      fields: html`${name === 'refund' ? amountField(refundableAmount, currency) : undefined}
      ${hiddenFields({ key: idempotencyKey(name, token, revision) })}`,
      does: words.does(shown),
      isHarmless: name === 'inquire',
      isAllowed: actions.includes(name),
    };
  });
  return html`${actionRow(session.csrf, forms)}${disputedNote(payment)}`;
}

/** Why the refundable amount is reduced or zero. */
function disputedNote({ disputedAmount, lostAmount, currency }: Detail['payment']): Html | undefined {
  const sum = disputedAmount + lostAmount;
  return sum === 0
    ? undefined
    : html`<p class="calm">
        ${amountText(sum, currency)} is disputed or lost in a dispute and cannot be refunded.
      </p>`;
}

const amountField = (refundable: number, currency: string): Html =>
  html`<label
    >Amount (${currency})<input
      name="amount"
      required
      inputmode="decimal"
      autocomplete="off"
      maxlength="20"
      value="${typedAmount(refundable, currency)}"
  /></label>`;
