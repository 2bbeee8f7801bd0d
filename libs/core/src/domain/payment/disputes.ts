/**
 * Disputes of a payment: the customer's bank demands money back. The amount is unusable while the bank decides, and lost if
 * the dispute is lost. The bank may decide again, so no state is final.
 */
import { isAbout, resolveWhere, type Evidence } from '../review.ts';
import { cutEvidence, omitUndefined } from '../values.ts';
import type { RecordDispute } from './payment-commands.ts';
import type { PaymentEvent } from './payment-events.ts';
import { inSteps } from './payment-evolve.ts';
import { amountOf, refundableAmount, type Payment } from './payment-state.ts';

/** Maximum per payment, in any state. Further ones are recorded only in their own streams. */
const disputesMax = 100;

/** Records news; no event if a later state of the dispute is recorded. */
export function recordDispute(state: Payment, command: RecordDispute): PaymentEvent[] {
  const { disputeToken, revision } = command;
  const known = state.disputes.find((each) => each.disputeToken === disputeToken);
  if (known !== undefined && known.revision >= revision) return [];
  if (known === undefined && state.disputes.length >= disputesMax) return [];
  const whole = amountOf(state);
  // If the currency differs, the disputed part of the payment is not known.
  const amount = command.currency === state.terms.currency ? Math.min(command.amount, whole) : whole;
  const now = command.state === 'unknown' ? 'open' : command.state;
  if (known?.state === now && known.amount === amount) return [];
  const type = known?.state === 'open' && now === 'open' ? 'DisputeChanged' : typeOf[now];
  return inSteps(
    state,
    () => [{ type, data: { disputeToken, amount, revision } }],
    (payment) => (now === 'open' ? openReview(payment, command) : []),
  );
}

const typeOf = { open: 'DisputeOpened', won: 'DisputeWon', lost: 'DisputeLost' } as const;

/** One review per dispute, with its latest terms. */
function openReview(payment: Payment, command: RecordDispute): PaymentEvent[] {
  const isOfThis = (each: { code: string; evidence: Evidence }) =>
    each.code === 'dispute_opened' && isAbout(each, 'disputeToken', command.disputeToken);
  const { amount, currency, reasonCode, status } = command;
  const evidence = {
    disputeToken: command.disputeToken,
    amount,
    currency: cutEvidence(currency),
    ...omitUndefined({ reasonCode: reasonCode && cutEvidence(reasonCode) }),
    observedStatus: cutEvidence(status),
    refundedAmount: payment.refundedAmount,
    refundableAmount: refundableAmount(payment),
  };
  return [
    ...resolveWhere(payment, isOfThis, 'superseded', 'The dispute has changed.'),
    { type: 'ReviewOpened', data: { code: 'dispute_opened', evidence } },
  ];
}
