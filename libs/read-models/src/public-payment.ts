/** A payment as its team sees it. Everything is named one by one, so that nothing gets out by being new. */
import type { ApiError, PaymentStatus } from '@tollgate/payment-api/values';
import {
  statusOfPhase,
  type Attention,
  type AttentionCode,
  type Payment,
  type PaymentPhase,
  type Refund,
} from '@tollgate/payment-domain';
import { given } from '@tollgate/service-kit';
import type { PaymentDocument } from './payment-document.ts';

export interface PublicRefund {
  token: string;
  amount: number;
  currency: string;
  status: 'pending' | 'approved' | 'declined';
  phase: Refund['state'];
}

export type PublicEvidence = Record<string, string | number | boolean | null>;

export interface PublicError {
  code: string;
  kind: string;
  message?: string;
  parameter?: string;
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
  attention: { code: AttentionCode; evidence: PublicEvidence }[];
  sanitizedMask?: string;
  declineReason?: string;
  /** Why the creation failed; empty otherwise. */
  errors: PublicError[];
  createdAt: string;
  updatedAt: string;
  revision: number;
}

export function toPublicPayment(document: PaymentDocument): PublicPayment {
  const { payment } = document;
  const { terms } = payment;
  return {
    token: document.token,
    status: statusOfPhase(payment.phase),
    phase: payment.phase,
    ...toPublicTerms(terms),
    ...given({ processingUrl: isPageOpen(payment) ? payment.processingUrl : undefined }),
    heldAmount: payment.heldAmount,
    approvedAmount: payment.approvedAmount,
    refundedAmount: payment.refundedAmount,
    refunds: payment.refunds.map((refund) => toPublicRefund(refund, terms.currency)),
    attention: payment.attention.map(({ code, evidence }) => ({
      code,
      evidence: toPublicEvidence(evidence),
    })),
    ...given({ sanitizedMask: payment.sanitizedMask, declineReason: payment.declineReason }),
    errors: payment.phase === 'failed' ? toPublicErrors(payment.errors) : [],
    createdAt: toIso(document.createdAt),
    updatedAt: toIso(document.updatedAt),
    revision: document.revision,
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
  }),
  needConfirmation: terms.needConfirmation,
});

// Nobody is sent to a page that asks for something else than was agreed.
const isPageOpen = ({ phase, attention }: Payment): boolean =>
  (phase === 'init' || phase === 'pending') && !attention.some(({ code }) => code === 'terms_disagree');

const refundStatuses = {
  submitted: 'pending',
  unresolved: 'pending',
  approved: 'approved',
  declined: 'declined',
} as const;

const toPublicRefund = ({ refundToken, amount, state }: Refund, currency: string): PublicRefund => ({
  token: refundToken,
  amount,
  currency,
  status: refundStatuses[state],
  phase: state,
});

const plainEvidence: ReadonlySet<string> = new Set([
  ...['attemptNumber', 'amount', 'currency', 'providerOrderNumber', 'from', 'to'],
  ...['observedAmount', 'observedCurrency', 'observedStatus'],
]);

/** Evidence with tokens of the service, and whatever we do not know to be harmless, masked but for the last four characters. */
export function toPublicEvidence(evidence: Attention['evidence']): PublicEvidence {
  const entries = Object.entries(evidence).map(([name, value]) => [
    name,
    plainEvidence.has(name) ? value : mask(value),
  ]);
  return Object.fromEntries(entries) as PublicEvidence;
}

const mask = (value: string | number | boolean | null): string | null => {
  if (value === null) return null;
  return typeof value === 'string' && value.length >= 12 ? `…${value.slice(-4)}` : '…';
};

/** Errors of the service. Where it refused us and not the payment, its text is about our account and stays with us. */
export const toPublicErrors = (errors: readonly ApiError[]): PublicError[] =>
  errors.map(({ code, kind, message, parameter }) => ({
    code,
    kind,
    ...given({ message: isFaultOfAccount(kind) ? undefined : message, parameter }),
  }));

const isFaultOfAccount = (kind: string): boolean =>
  kind === 'authentication_error' || kind === 'settings_error';

/** Milliseconds since the Unix epoch as ISO 8601 in UTC. */
export const toIso = (instant: number): string => new Date(instant).toISOString();
