/** What a status inquiry about a known payment leads to. */
import { inOrder } from '../decision.ts';
import { endDeferredOfOwn } from '../deferred-callback.ts';
import { observeCaptureOrVoid } from './capture-or-void.ts';
import { isUnderstood, observeOpenAgain, observePayment } from './observation.ts';
import type { RecordObservation } from './payment-commands.ts';
import type { PaymentEvent } from './payment-events.ts';
import { evolve, type Payment } from './payment-state.ts';
import { observeRefundedSum, observeRefunds } from './refunds.ts';

/** The payment's status, its refunds, and the outcome of calls in flight. */
export function observe(state: Payment, observation: RecordObservation): PaymentEvent[] {
  const { observed } = observation;
  const isReadable = isUnderstood(state, observed);
  return inOrder<Payment, PaymentEvent>(state, evolve, [
    (payment) => observePayment(payment, observed),
    (payment) => (isReadable ? observeOpenAgain(payment, observation) : []),
    (payment) => observeRefunds(payment, observation, isReadable),
    (payment) => (isReadable ? observeRefundedSum(payment, observation) : []),
    (payment) => observeCaptureOrVoid(payment, observation, isReadable),
    (payment) => endDeferredOfOwn(payment, observed.serviceToken),
  ]);
}
