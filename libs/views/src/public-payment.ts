/** A payment as its team sees it. Everything is named one by one, so that nothing gets out by being new. */
import type { PaymentStatus } from '@tollgate/payment-api/values';
import { statusOfPhase, type Payment, type PaymentPhase, type Refund } from '@tollgate/payment-domain';
import { given } from '@tollgate/service-kit';
import type { PaymentView } from './payment-view.ts';
import {
  toIso,
  toPublicReviews,
  toPublicErrors,
  type PublicReview,
  type PublicError,
} from './public-values.ts';

export interface PublicRefund {
  token: string;
  amount: number;
  currency: string;
  status: 'pending' | 'approved' | 'declined';
  phase: Refund['state'];
  /** Why nothing was refunded; empty otherwise. */
  errors: PublicError[];
}

/** Amounts are integers in minor units; instants are ISO 8601 in UTC. */
export interface PublicPayment {
  token: string;
  status: PaymentStatus;
  phase: PaymentPhase;
  product: string;
  amount: number;
  currency: string;
  orderNumber?: string;
  callbackUrl?: string;
  redirectSuccessUrl?: string;
  redirectFailUrl?: string;
  locale?: string;
  needConfirmation: boolean;
  /** The page where the customer pays; only while there is something to do on it. */
  processingUrl?: string;
  heldAmount: number;
  approvedAmount: number;
  refundedAmount: number;
  refunds: PublicRefund[];
  reviews: PublicReview[];
  /** True where a recurring token was asked for. */
  recurring?: boolean;
  /** What later payments of this customer are charged with: the alias that was issued, or the one that was charged. */
  recurringToken?: string;
  sanitizedMask?: string;
  declineReason?: string;
  /** Why the creation failed; empty otherwise. */
  errors: PublicError[];
  createdAt: string;
  updatedAt: string;
  revision: number;
}

export function toPublicPayment(view: PaymentView): PublicPayment {
  const { payment } = view;
  const { terms } = payment;
  return {
    token: view.token,
    status: statusOfPhase(payment.phase),
    phase: payment.phase,
    ...toPublicTerms(terms),
    ...given({ processingUrl: isPageOpen(payment) ? payment.processingUrl : undefined }),
    heldAmount: payment.heldAmount,
    approvedAmount: payment.approvedAmount,
    refundedAmount: payment.refundedAmount,
    refunds: payment.refunds.map((refund) => toPublicRefund(refund, terms.currency)),
    reviews: toPublicReviews(view, payment),
    ...given({
      recurringToken: payment.recurringToken,
      sanitizedMask: payment.sanitizedMask,
      declineReason: payment.declineReason,
    }),
    errors: payment.phase === 'failed' ? toPublicErrors(payment.errors) : [],
    createdAt: toIso(view.createdAt),
    updatedAt: toIso(view.updatedAt),
    revision: view.revision,
  };
}

/** What the team asked for, without what it told about its customer. */
export const toPublicTerms = (terms: Payment['terms']) => ({
  product: terms.product,
  amount: terms.amount,
  currency: terms.currency,
  ...given({
    orderNumber: terms.orderNumber,
    callbackUrl: terms.callbackUrl,
    redirectSuccessUrl: terms.redirectSuccessUrl,
    redirectFailUrl: terms.redirectFailUrl,
    locale: terms.locale,
    recurring: terms.recurring,
    recurringToken: terms.recurringToken,
  }),
  needConfirmation: terms.needConfirmation,
});

// Nobody is sent to a page that asks for something else than was agreed.
const isPageOpen = ({ phase, reviews }: Payment): boolean =>
  (phase === 'init' || phase === 'pending') && !reviews.some(({ code }) => code === 'terms_disagree');

const refundStatuses = {
  submitted: 'pending',
  unresolved: 'pending',
  accepted: 'pending',
  approved: 'approved',
  declined: 'declined',
} as const;

export const toPublicRefund = (
  { refundToken, amount, state, declined }: Refund,
  currency: string,
): PublicRefund => ({
  token: refundToken,
  amount,
  currency,
  status: refundStatuses[state],
  phase: state,
  errors: toPublicErrors(declined?.errors ?? []),
});
