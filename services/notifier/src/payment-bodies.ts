/** What a team is told about its payment and its refunds: the difference that one event has made. */
import type { EventStore, RecordedEvent } from '@tollgate/event-store';
import { paymentEventSchemas, statusOfPhase, type Payment, type Refund } from '@tollgate/payment-domain';
import type { PaymentView } from '@tollgate/views';
import { given } from '@tollgate/service-kit';
import type { WebhookBody } from './webhook-events.ts';

/** The specification's callback bodies, in the order in which they go out. */
export function paymentBodies(
  { payment: before }: PaymentView,
  { token, payment: after }: PaymentView,
): WebhookBody[] {
  const refunds = decidedRefunds(before, after).map((refund) => refundBody(after, refund));
  return isTold(before, after) ? [...refunds, paymentBody(token, after)] : refunds;
}

const isTold = (before: Payment, after: Payment): boolean =>
  statusOfPhase(before.phase) !== statusOfPhase(after.phase) ||
  // Approved as before, and with another amount: the amount is the news.
  before.approvedAmount !== after.approvedAmount ||
  // Money that is held shows no other status, and the team must learn that it is time to confirm (decision 12). What a
  // refused confirmation leads back to, the team knows from its own call.
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
  const { orderNumber = null, currency } = terms;
  // What stands approved, which a revision may have changed; until something is, what was asked for.
  const amount = approvedAmount > 0 ? approvedAmount : terms.amount;
  return {
    ...{ token, type: 'payment', status: statusOfPhase(phase), orderNumber, amount, currency },
    ...given({ recurringToken, sanitizedMask, declineReason }),
  };
}

const refundBody = ({ terms }: Payment, { refundToken, amount, state }: Refund): WebhookBody => ({
  token: refundToken,
  type: 'refund',
  status: state === 'approved' ? 'approved' : 'declined',
  orderNumber: terms.orderNumber ?? null,
  amount,
  currency: terms.currency,
});

/** Events behind an approval that are read at most: those of its append are fewer. */
const readAheadMax = 10;

/**
 * The payment with the alias of its recurring token, where that was recorded behind the event: the alias comes in one
 * append with the approval and after it, and a team that hears of the one expects the other.
 *
 * @throws what the store throws
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
    // Damage is met, and told, when that event itself is followed.
    const issued = paymentEventSchemas.RecurringTokenIssued.safeParse(data);
    return issued.success ? { ...view, payment: { ...payment, ...issued.data } } : view;
  }
  return view;
}
