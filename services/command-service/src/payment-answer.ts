/** How the outcome of a creation is answered over HTTP. */
import type { ApiError } from '@tollgate/payment-api';
import type { Payment } from '@tollgate/payment-domain';
import { type PaymentDocument, toPublicPayment } from '@tollgate/read-models';

export interface Answer {
  statusCode: number;
  body: Record<string, unknown>;
  retryAfterSeconds?: number;
}

/** 200 once the service has the payment, 202 while nobody knows, an error body where it certainly does not have it. */
export function toCreationAnswer(document: PaymentDocument): Answer {
  const { token, payment } = document;
  if (payment.phase === 'failed') return toFailureAnswer(token, payment);
  const shown = toPublicPayment(document);
  const page = shown.processingUrl === undefined ? {} : { processingUrl: shown.processingUrl };
  const isUnknown = payment.phase === 'requested' || payment.phase === 'unresolved';
  return { statusCode: isUnknown ? 202 : 200, body: { success: true, token, ...page, payment: shown } };
}

function toFailureAnswer(token: string, payment: Payment): Answer {
  const errors = payment.errors.map(toTeamError);
  if (errors.length > 0) return { statusCode: statusCodeOf(errors), body: { success: false, errors, token } };
  const message =
    'The Payment Service cannot be reached; nothing was charged. Try again with a new Idempotency-Key.';
  const unavailable = { code: 'provider_unavailable', kind: 'api_error', message };
  return { statusCode: 503, body: { success: false, errors: [unavailable], token }, retryAfterSeconds: 5 };
}

/** The service's complaint about our own account is no fault of the team's key or request. */
function toTeamError(error: ApiError): ApiError {
  if (error.kind === 'invalid_request_error' || error.kind === 'processing_error') return error;
  const message =
    "The Payment Service refused the gateway's own account; nothing was charged. The operators must act.";
  return { code: 'provider_account_refused', kind: 'api_error', message };
}

function statusCodeOf(errors: readonly ApiError[]): number {
  if (errors.some(({ kind }) => kind === 'api_error')) return 502;
  return errors.some(({ kind }) => kind === 'processing_error') ? 409 : 400;
}
