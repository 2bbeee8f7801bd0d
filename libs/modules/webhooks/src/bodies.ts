/** The webhook bodies for a change of a payment, its refunds and disputes, or a payout. */
import type { EventStore, RecordedEvent } from '@tollgate/event-store';
import type { WebhookBody } from '@tollgate/gateway-api';
import {
  type Payment,
  type PayoutPhase,
  type Refund,
  paymentEventSchemas,
  statusOfPayoutPhase,
  statusOfPhase,
} from '@tollgate/core';
import { omitUndefined } from '@tollgate/service-kit';
import type { PaymentView, PayoutView } from '@tollgate/views';

/** The specification's callback bodies, in the order in which they are sent. */
export function paymentBodies(
  { payment: before }: PaymentView,
  { token, payment: after }: PaymentView,
): WebhookBody[] {
  const refunds = decidedRefunds(before, after).map((refund) => refundBody(token, after, refund));
  const disputes = changedDisputes(before, after).map((dispute) => disputeBody(token, after, dispute));
  const own = isNews(before, after) ? [paymentBody(token, after)] : [];
  return [...refunds, ...disputes, ...own];
}

type Dispute = Payment['disputes'][number];

/** Opened, decided, or of another amount. */
const changedDisputes = (before: Payment, after: Payment): Dispute[] =>
  after.disputes.filter((dispute) => !isKnown(before, dispute));

const isKnown = ({ disputes }: Payment, { disputeToken, state, amount }: Dispute): boolean =>
  disputes.some(
    (each) => each.disputeToken === disputeToken && each.state === state && each.amount === amount,
  );

const disputeBody = (
  paymentToken: string,
  { terms }: Payment,
  { disputeToken, amount, state }: Dispute,
): WebhookBody => ({
  token: disputeToken,
  paymentToken,
  type: 'dispute',
  status: state === 'open' ? 'opened' : state,
  orderNumber: terms.orderNumber ?? null,
  amount,
  currency: terms.currency,
  ...omitUndefined({ metadata: terms.metadata }),
});

const isNews = (before: Payment, after: Payment): boolean =>
  statusOfPhase(before.phase) !== statusOfPhase(after.phase) ||
  // Still approved, but with another amount: the amount has changed.
  before.approvedAmount !== after.approvedAmount ||
  // An authorization changes no status, and the team must learn that it can capture (open point 12). A refused capture also
  // leads back to
  // it, but the team knows that from its own call.
  (after.phase === 'authorized' && (before.phase === 'init' || before.phase === 'pending'));

const stateOf = ({ refunds }: Payment, refundToken: string) =>
  refunds.find((refund) => refund.refundToken === refundToken)?.state;

const decidedRefunds = (before: Payment, after: Payment): Refund[] =>
  after.refunds.filter(
    ({ refundToken, state }) =>
      (state === 'approved' || state === 'declined') && stateOf(before, refundToken) !== state,
  );

function paymentBody(token: string, payment: Payment): WebhookBody {
  const { phase, terms, approvedAmount, recurringToken, sanitizedMask, declineReason } = payment;
  const { orderNumber = null, currency, metadata } = terms;
  // The approved amount, which a revision may have changed, or else the requested one.
  const amount = approvedAmount > 0 ? approvedAmount : terms.amount;
  return {
    token,
    type: 'payment',
    status: statusOfPhase(phase),
    orderNumber,
    amount,
    currency,
    ...omitUndefined({ metadata, recurringToken, sanitizedMask, declineReason }),
  };
}

const refundBody = (
  paymentToken: string,
  { terms }: Payment,
  { refundToken, amount, metadata, state }: Refund,
): WebhookBody => ({
  token: refundToken,
  paymentToken,
  type: 'refund',
  status: state === 'approved' ? 'approved' : 'declined',
  orderNumber: terms.orderNumber ?? null,
  amount,
  currency: terms.currency,
  ...omitUndefined({ metadata }),
});

/** Maximum events read after an approval: its own append has fewer. */
const readAheadMax = 10;

/**
 * The payment with the alias of its recurring token, even if that was recorded after the event: the alias follows the approval
 * in the same append, and a team that receives one expects the other.
 *
 * @throws errors of the store
 */
export async function withRecurringToken(
  store: EventStore,
  { stream, revision }: RecordedEvent,
  view: PaymentView,
): Promise<PaymentView> {
  const { payment } = view;
  if (payment.terms.recurring !== true || payment.recurringToken !== undefined) return view;
  for await (const { type, data } of store.read(stream, { from: revision + 1, limit: readAheadMax })) {
    if (type !== 'RecurringTokenIssued') continue;
    // A damaged event is reported when it is followed itself.
    const issued = paymentEventSchemas.RecurringTokenIssued.safeParse(data);
    return issued.success ? { ...view, payment: { ...payment, ...issued.data } } : view;
  }
  return view;
}

/** The specification's callback body; none without a change. */
export function payoutBodies(before: PayoutView, { token, payout }: PayoutView): WebhookBody[] {
  const { phase, terms, declineReason } = payout;
  const status = statusOfPayoutPhase(phase);
  // An approval changes no status, and the team must learn that a repeat of its request sends the payout now.
  const isNews =
    statusOfPayoutPhase(before.payout.phase) !== status ||
    isGranted(before, phase) ||
    // Still approved, but with another amount: the amount has changed.
    (status === 'approved' && before.payout.terms.amount !== terms.amount);
  if (!isNews) return [];
  const { orderNumber, amount, currency, metadata } = terms;
  return [
    {
      token,
      type: 'payout',
      status,
      orderNumber,
      amount,
      currency,
      ...omitUndefined({ metadata, declineReason }),
    },
  ];
}

const isGranted = (before: PayoutView, phase: PayoutPhase): boolean =>
  phase === 'approval_granted' && before.payout.phase === 'awaiting_approval';
