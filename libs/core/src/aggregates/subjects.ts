/** Functions for a token that may name a payment or a payout. */
import type { Payment } from '../domain/payment/payment-state.ts';
import type { Payout } from '../domain/payout/payout-state.ts';
import type { PaymentAggregate, Payments } from './payments.ts';
import type { PayoutAggregate, Payouts } from './payouts.ts';

export interface Subjects {
  payments: Payments;
  payouts: Payouts;
}
export type AnySubject = PaymentAggregate | PayoutAggregate;
/** As the command service or a view has it. */
export type SubjectState = Pick<PaymentAggregate, 'payment'> | Pick<PayoutAggregate, 'payout'>;

export const isPayoutToken = (token: string): boolean => token.startsWith('po_');

export const subjectsOf = ({ payments, payouts }: Subjects, token: string): Payments | Payouts =>
  isPayoutToken(token) ? payouts : payments;

export const stateOf = (subject: SubjectState): Payment | Payout =>
  'payment' in subject ? subject.payment : subject.payout;

/** The latest call that creates it at the provider. */
export const creationOf = (subject: SubjectState): Payment['attempt'] | Payout['call'] =>
  'payment' in subject ? subject.payment.attempt : subject.payout.call;
