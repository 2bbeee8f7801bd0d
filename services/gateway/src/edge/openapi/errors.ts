/** Every error code of the API, and which of them a call may answer. */
import type { Refusal } from '@tollgate/command-service';
import type { ReplayRefusal } from '@tollgate/notifier';

interface DocumentedError {
  kind: 'api_error' | 'authentication_error' | 'invalid_request_error' | 'processing_error';
  message: string;
  parameter?: string;
}

const invalid = (parameter: string | undefined, message: string): DocumentedError => ({
  ...{ kind: 'invalid_request_error', message },
  ...(parameter === undefined ? {} : { parameter }),
});
const authentication = (message: string): DocumentedError => ({ kind: 'authentication_error', message });
const processing = (parameter: string | undefined, message: string): DocumentedError => ({
  ...{ kind: 'processing_error', message },
  ...(parameter === undefined ? {} : { parameter }),
});
const ours = (message: string): DocumentedError => ({ kind: 'api_error', message });

export const errorsByCode = {
  auth_header_not_found: authentication('Send the header Authorization: Bearer <API key>.'),
  incorrect_private_key: authentication('This is not an active API key of this environment.'),
  scope_missing: authentication('This API key lacks the scope that the call takes.'),
  invalid_json: invalid('body', 'The body is not JSON.'),
  invalid_param: invalid('product', 'product is missing.'),
  incorrect_amount: invalid('amount', 'amount must be an integer in minor units.'),
  incorrect_currency: invalid('currency', 'currency must be an ISO 4217 alphabetic code in capitals.'),
  card_data_not_accepted: invalid('card', 'This key may not send card data; use the hosted page.'),
  origin_not_allowed: invalid('callbackUrl', 'must point to an origin that your team has allowed.'),
  idempotency_key_missing: invalid('Idempotency-Key', 'Send the header Idempotency-Key.'),
  idempotency_key_reused: invalid('Idempotency-Key', 'This key was used with another request body.'),
  payment_not_found: invalid('token', 'There is no payment with this token.'),
  payout_not_found: invalid('token', 'There is no payout with this token.'),
  refund_not_found: invalid('refundToken', 'There is no refund with this token.'),
  review_not_found: invalid('code', 'Nothing with this code waits for a person here.'),
  webhook_not_found: invalid('id', 'There is no webhook of this payment with this id.'),
  too_many_replays: invalid(undefined, 'Webhooks of one payment are sent again 200 times at most.'),
  body_too_large: invalid('body', 'The body is too large.'),
  unsupported_media_type: invalid('body', 'Send the body as JSON.'),
  operation_in_progress: processing(
    'token',
    'An operation on it is still running, or its outcome is unknown.',
  ),
  payment_in_final_state: processing('token', 'The payment is final.'),
  payment_not_confirmable: processing('token', 'No money of the payment is held.'),
  payment_not_refundable: processing('token', 'Nothing of the payment was paid yet.'),
  refund_exceeds_amount: processing('amount', 'At most 800 of the payment can be refunded now.'),
  recurring_token_not_found: processing(
    'recurringToken',
    'There is no recurring token of yours with this name.',
  ),
  resolution_not_allowed: processing('resolution', 'It can be resolved by: inquire_again, acknowledged.'),
  resolved_as_not_made: processing(undefined, 'A person made sure that it was not made.'),
  no_account: processing('currency', 'No account of this gateway takes this.'),
  provider_account_refused: ours("The Payment Service refused the gateway's own account; nothing was done."),
  provider_unavailable: ours('The Payment Service cannot be reached now. Repeat the request later.'),
  provider_not_reached: ours('The Payment Service could not be reached; nothing was charged.'),
  rate_limit_exceeded: ours('Too many requests came within a second; this one was not carried out.'),
  too_many_exports: ours('So many exports run already; at most 2 of a team do at the same time.'),
  store_unavailable: ours('Repeat the request: it will not be carried out twice.'),
  service_unavailable: ours('This cannot be answered now; nothing was carried out. Repeat the request.'),
  answer_lost: ours('Whether it was carried out is not known here. Repeat it with the same Idempotency-Key.'),
  read_model_behind: ours('What you wrote is safe, and cannot be read here yet.'),
  core_api_error: ours('Something failed on our side.'),
} as const satisfies Record<Refusal['code'] | ReplayRefusal['code'], DocumentedError> &
  Record<string, DocumentedError>;

export type ErrorCode = keyof typeof errorsByCode;
/** The codes of each status. */
export type Errors = Readonly<Record<number, readonly ErrorCode[]>>;

/** Statuses whose answers tell when to come again. */
export const retriedStatuses: ReadonlySet<number> = new Set([429, 503]);

/** What every call under a key may answer. */
export const underKey: Errors = {
  401: ['auth_header_not_found', 'incorrect_private_key'],
  403: ['scope_missing'],
  429: ['rate_limit_exceeded'],
  500: ['core_api_error'],
  // Of the front door, where services are processes of their own.
  503: ['service_unavailable', 'answer_lost'],
};

/** What a call with a body may answer. */
export const withBody: Errors = {
  400: ['invalid_json', 'invalid_param'],
  413: ['body_too_large'],
  415: ['unsupported_media_type'],
};

export const ofCommands: Errors = { 503: ['store_unavailable'] };
export const ofReads: Errors = { 400: ['invalid_param'], 503: ['core_api_error', 'read_model_behind'] };

/** What a command may answer that calls the Payment Service. */
export const ofProviderCalls: Errors = {
  409: ['operation_in_progress', 'no_account'],
  502: ['provider_account_refused', 'provider_not_reached'],
  503: ['provider_unavailable', 'store_unavailable'],
};

export function mergeErrors(all: readonly Errors[]): Errors {
  const merged: Record<number, ErrorCode[]> = {};
  for (const errors of all)
    for (const [status, codes] of Object.entries(errors)) {
      const known = (merged[Number(status)] ??= []);
      known.push(...codes.filter((code) => !known.includes(code)));
    }
  return merged;
}
