/** Turns outcomes of operations into HTTP answers. */
import type { ApiError } from '@tollgate/core/money';
import {
  type EndReason,
  type PaymentPhase,
  type Payout,
  isBeforeAnnouncement,
  isFinalPhase,
  isPayoutAwaited,
  mayBeMade,
  mayBePaid,
  mayBePaidOut,
  mayHaveBeenMade,
  statusOfPayoutPhase,
  type PaymentAggregate,
  type PayoutAggregate,
  type RefundedPayment,
} from '@tollgate/core';
import { toPublicPayment, toPublicPayout, toPublicRefund } from '@tollgate/gateway-api';
import { type Answer, errorAnswer, errorEntry } from '@tollgate/gateway-api/http';
import type { FastifyReply } from 'fastify';

/** 200 once the provider has the payment, 202 while the outcome is unknown, an error body if it certainly does not have it. */
export function toCreationAnswer(view: PaymentAggregate): Answer {
  const { token, payment } = view;
  // It may have been paid nevertheless: a caller with an error would charge the customer again.
  if (endedUnpaid.has(payment.phase) && mayBePaid(payment))
    return errorAnswer('payment_in_review', {}, { token });
  if (payment.phase === 'failed')
    return toFailureAnswer(token, payment.failure ?? 'not-sent', errorsOf(payment));
  const shown = toPublicPayment(view);
  const page = shown.processingUrl === undefined ? {} : { processingUrl: shown.processingUrl };
  const isUnknown = payment.phase === 'requested' || payment.phase === 'unresolved';
  return { statusCode: isUnknown ? 202 : 200, body: { success: true, token, ...page, payment: shown } };
}

const endedUnpaid: ReadonlySet<PaymentPhase> = new Set(['failed', 'declined', 'expired'] as const);

/** A person's resolution outranks the errors of a refused attempt. */
const errorsOf = ({ failure, errors }: PaymentAggregate['payment']): readonly ApiError[] =>
  failure === 'resolved' ? [] : errors;

/** 200 once the operation is done, 202 while the outcome is unknown, an error body if it certainly had no effect. */
export function toCaptureOrVoidAnswer(view: PaymentAggregate, operation: 'confirm' | 'decline'): Answer {
  const { token, payment } = view;
  const { phase, captureOrVoid } = payment;
  if (phase === 'authorized' && captureOrVoid?.refused !== undefined) {
    const { reason, errors } = captureOrVoid.refused;
    // Unlike the others it is not over: a repeat submits it again.
    return reason === 'not-sent' && errors.length === 0
      ? toRepeatLater(token)
      : toFailureAnswer(token, reason, errors);
  }
  // Compared with the request, and not with the latest submission: after a refusal another caller may have requested the
  // opposite.
  const { whileUnknown, wanted } = wantedBy[operation];
  const body = { success: true, token, payment: toPublicPayment(view) };
  if (phase === whileUnknown) return { statusCode: 202, body };
  if (wanted.includes(phase)) return { statusCode: 200, body };
  const code = isFinalPhase(phase) ? 'payment_in_final_state' : 'operation_in_progress';
  const details = { message: `The payment is already ${phase}.`, parameter: 'token' };
  return errorAnswer(code, details, { token });
}

const wantedBy: Record<
  'confirm' | 'decline',
  { whileUnknown: PaymentPhase; wanted: readonly PaymentPhase[] }
> = {
  confirm: { whileUnknown: 'capturing', wanted: ['approved', 'refunded'] },
  decline: { whileUnknown: 'voiding', wanted: ['voided', 'declined'] },
};

/** 200 once the provider has accepted the refund, 202 while the outcome is unknown, an error body if nothing was refunded. */
export function toRefundAnswer({ aggregate: view, refund }: RefundedPayment): Answer {
  const { refundToken: token, declined } = refund;
  if (mayBeMade(view.payment, refund)) return errorAnswer('refund_in_review', {}, { token });
  if (mayHaveBeenMade(view.payment, refund)) return errorAnswer('refund_doubtful', {}, { token });
  if (declined !== undefined && declined.reason !== 'declined')
    return toFailureAnswer(token, declined.reason, declined.errors);
  const shown = toPublicRefund(refund, view);
  const isUnknown = refund.state === 'submitted' || refund.state === 'unresolved';
  return { statusCode: isUnknown ? 202 : 200, body: { success: true, token, refund: shown } };
}

/**
 * 200 once the provider has the payout, 202 while it waits or the outcome is unknown, an error body if nothing was paid out.
 */
export function toPayoutAnswer(view: PayoutAggregate): Answer {
  const { token, payout } = view;
  // It may have been paid out nevertheless: a caller with an error would send another payout.
  if (statusOfPayoutPhase(payout.phase) === 'declined' && mayBePaidOut(payout))
    return errorAnswer('payout_in_review', {}, { token });
  if (payout.phase === 'failed') return toFailureAnswer(token, payout.failure ?? 'not-sent', payout.errors);
  const isOpen = isBeforeAnnouncement(payout) || isPayoutAwaited(payout);
  return {
    statusCode: isOpen ? 202 : 200,
    body: { success: true, token, payout: toPublicPayout(view) },
  };
}

/** A failure is permanent: every repeat of the request gets the same answer. */
function toFailureAnswer(
  token: string,
  reason: EndReason | NonNullable<Payout['failure']> | 'not-found',
  refused: readonly ApiError[],
): Answer {
  if (refused.length > 0) return toRefusedAnswer(refused, { token });
  if (reason === 'resolved') return errorAnswer('resolved_as_not_made', {}, { token });
  if (reason === 'approval-refused') return errorAnswer('payout_approval_refused', {}, { token });
  if (reason === 'approval-lapsed') return errorAnswer('payout_approval_lapsed', {}, { token });
  if (reason !== 'not-found') return errorAnswer('provider_not_reached', {}, { token });
  const message =
    'The Payment Service has no record of this request, and no money moved. Send a new request with a new Idempotency-Key or orderNumber.';
  return errorAnswer('provider_not_reached', { message }, { token });
}

function toRepeatLater(token: string): Answer {
  const message = 'The Payment Service could not be reached. Nothing was changed. Retry later.';
  return errorAnswer('provider_unavailable', { message, retryAfterSeconds: 5 }, { token });
}

/** The provider's own errors, with the status for their kinds. */
export function toRefusedAnswer(refused: readonly ApiError[], more: { token?: string } = {}): Answer {
  const errors = refused.map(toTeamError);
  return { statusCode: statusCodeOf(errors), body: { success: false, errors, ...more } };
}

/** The provider's complaint about our own account is no fault of the team's key or request. */
function toTeamError(error: ApiError): ApiError {
  if (error.kind === 'invalid_request_error' || error.kind === 'processing_error') return error;
  return errorEntry('provider_account_refused');
}

function statusCodeOf(errors: readonly ApiError[]): number {
  if (errors.some(({ kind }) => kind === 'api_error')) return 502;
  return errors.some(({ kind }) => kind === 'processing_error') ? 409 : 400;
}

/** @param position of the last event that the answer reflects, for reads that must see it */
export function sendAnswer(
  reply: FastifyReply,
  { statusCode, body, retryAfterSeconds }: Answer,
  { position, replayed }: { position: string; replayed: boolean },
): FastifyReply {
  if (retryAfterSeconds !== undefined) reply.header('Retry-After', String(retryAfterSeconds));
  if (replayed) reply.header('Idempotent-Replayed', 'true');
  return reply.header('Tollgate-Position', position).code(statusCode).send(body);
}
