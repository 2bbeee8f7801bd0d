/** What a look at a known payment leads to. */
import { endUnappliedOfOwn } from '../unapplied-callback.ts';
import { isUnderstood, observePayment } from './observation.ts';
import type { RecordObservation } from './payment-commands.ts';
import type { PaymentEvent } from './payment-events.ts';
import { evolve, type Payment } from './payment-state.ts';
import { observeRefundedSum, observeRefunds } from './refunds.ts';
import { observeCaptureOrVoid } from './capture-or-void.ts';

/** Everything that a look at a known payment tells: its status, its refunds, and what became of calls without an outcome. */
export function observe(state: Payment, observation: RecordObservation): PaymentEvent[] {
  const { observed } = observation;
  const isReadable = isUnderstood(state, observed);
  const steps: ((payment: Payment) => PaymentEvent[])[] = [
    (payment) => observePayment(payment, observed),
    (payment) => observeRefunds(payment, observation, isReadable),
    (payment) => (isReadable ? observeRefundedSum(payment, observation) : []),
    (payment) => observeCaptureOrVoid(payment, observation, isReadable),
    // Whatever a callback was about that could not be applied: the payment has been retrieved since.
    (payment) => endUnappliedOfOwn(payment, observed.serviceToken, 'the payment was retrieved later'),
  ];
  return inOrder(state, steps);
}

/** Takes steps one after the other, each on what the steps before it have led to. */
export function inOrder(
  state: Payment,
  steps: readonly ((payment: Payment) => PaymentEvent[])[],
): PaymentEvent[] {
  const events: PaymentEvent[] = [];
  let payment = state;
  for (const step of steps) {
    const more = step(payment);
    events.push(...more);
    payment = more.reduce<Payment>(evolve, payment);
  }
  return events;
}
