/** Every error code of the API, once: services answer with these, and the OpenAPI document lists them. */
import { serverErrors } from '@tollgate/service-kit';

export type ErrorKind = 'api_error' | 'authentication_error' | 'invalid_request_error' | 'processing_error';

export interface StatedError {
  kind: ErrorKind;
  status: number;
  /** The problem and what to do; an answer may add details. */
  message: string;
  /** The field or header at fault, if it is always the same one. */
  parameter?: string;
  /** Seconds after which the same request may succeed; absent if it never will. */
  retryAfterSeconds?: number;
}

const of =
  (kind: ErrorKind, status: number) =>
  (message: string, parameter?: string): StatedError => {
    const stated = { kind, status, message };
    return parameter === undefined ? stated : { ...stated, parameter };
  };
const unauthorized = of('authentication_error', 401);
const forbidden = of('authentication_error', 403);
const invalid = of('invalid_request_error', 400);
const notFound = of('invalid_request_error', 404);
const refused = of('processing_error', 409);
const exceeded = of('processing_error', 422);
const ofProvider = of('api_error', 502);
const retried = (status: number, retryAfterSeconds: number, message: string): StatedError => ({
  ...of('api_error', status)(message),
  retryAfterSeconds,
});

export const apiErrors = {
  ...serverErrors,
  auth_header_not_found: unauthorized(
    'The Authorization header is missing. Send Authorization: Bearer <API key>.',
  ),
  incorrect_private_key: unauthorized(
    'The API key is unknown, revoked, or belongs to another environment. Use an active key of this environment.',
  ),
  api_key_expired: unauthorized(
    'The API key has expired. Use another key, or ask an operator for a new one.',
  ),
  network_not_allowed: forbidden(
    "The API key may not be used from this network. Send the request from one of the key's networks.",
  ),
  incorrect_team: invalid(
    'Tollgate-Team is not a known team, or Tollgate-Environment is neither production nor sandbox. Correct the headers.',
    'Tollgate-Team',
  ),
  person_token_expired: unauthorized(
    'This token or session has expired. Sign in again, or issue a new token (tollgate operator token).',
  ),
  person_token_revoked: unauthorized(
    'This token or session was revoked. Sign in again, or issue a new token (tollgate operator token).',
  ),
  session_idle: unauthorized('The session was idle for too long (CONSOLE_IDLE_MINUTES). Sign in again.'),
  https_required: forbidden(
    'The request did not use HTTPS. Treat its API key as compromised, and use HTTPS.',
  ),
  scope_missing: forbidden('The API key lacks the required scope. Use a key with that scope.'),
  invalid_param: invalid(
    'A field or parameter is missing, unknown or invalid. Correct it and send the request again.',
  ),
  incorrect_amount: invalid(
    'The amount is invalid. Send an integer of at least 1, in minor units.',
    'amount',
  ),
  sum_too_large: exceeded(
    'A sum exceeds 9,007,199,254,740,991 minor units, the largest exact number in JSON. Request fewer days, or add up the CSV export.',
  ),
  incorrect_currency: invalid(
    'The currency is invalid. Send an ISO 4217 code in capitals, such as EUR.',
    'currency',
  ),
  card_data_not_accepted: invalid(
    'Card data is not accepted in this field. Use the hosted page, or the card field with a key that has the scope cards.',
  ),
  origin_not_allowed: invalid(
    "The URL's origin is not on your team's list of allowed origins. Use an allowed origin, or ask an operator to add this one (tollgate team allow-origins).",
  ),
  idempotency_key_missing: invalid(
    'The request has neither an Idempotency-Key nor an orderNumber, so a retry could not be recognized. Send the Idempotency-Key header.',
    'Idempotency-Key',
  ),
  idempotency_key_reused: of(
    'invalid_request_error',
    422,
  )(
    'This Idempotency-Key (or orderNumber) was used for a request with other terms, and that request was accepted. Retrieve it by the token in this answer. Use a new key only for a separate operation.',
  ),
  payment_not_found: notFound(
    'No payment has this token. Check the token and the environment of the API key.',
    'token',
  ),
  payout_not_found: notFound(
    'No payout has this token. Check the token and the environment of the API key.',
    'token',
  ),
  refund_not_found: notFound(
    'No refund has this token. Check the token and the environment of the API key.',
    'refundToken',
  ),
  dispute_not_found: notFound(
    'No dispute has this token. Check the token and the environment of the API key.',
    'token',
  ),
  review_not_found: notFound('No open review has this code and number. List the reviews again.', 'code'),
  reconciliation_not_found: notFound(
    'No finished reconciliation that your team may read has this token. Use a token from the list of reconciliations, or retry later.',
    'token',
  ),
  request_not_found: notFound(
    'No stored request of your team has this id. Check the id and the environment of the API key. A request made a moment ago may appear after a second.',
    'id',
  ),
  account_not_found: notFound(
    'No merchant account has this name. Use a name from the list of accounts.',
    'account',
  ),
  reconciliation_due: refused(
    'The event store was restored from a backup, and the affected days of this account are not reconciled. Reconcile them, then resume the account.',
  ),
  accounts_file_missing: refused(
    'The gateway runs without an accounts file (PROVIDER_ACCOUNTS_FILE). There is nothing to reload.',
  ),
  accounts_file_invalid: refused(
    'The accounts file is invalid. The accounts are unchanged. Correct the file and retry.',
  ),
  team_not_found: notFound('No team has this name. Use a name from the list of teams.', 'team'),
  team_exists: refused('A team with this name exists. Choose another name.', 'team'),
  key_not_found: notFound('The team has no key with this id. Use an id from the list of keys.', 'keyId'),
  key_exists: refused('A key with this id exists, and a key is shown only once. Issue another key.', 'keyId'),
  too_many_active_keys: refused(
    'The team has two active keys in this environment, the maximum. Revoke one first.',
  ),
  signing_key_missing: refused(
    'Team changes are signed, and this gateway has no signing key. Use the command line on the host that has it.',
  ),
  sign_in_link_used: unauthorized(
    'This sign-in link was used or revoked. Request a new one (tollgate operator link).',
  ),
  credential_not_found: notFound(
    'No active token or session has this id. Use an id from the list of credentials.',
    'credentialId',
  ),
  too_many_views: refused('You have reached the maximum number of saved views. Delete one first.', 'name'),
  webhook_not_found: notFound('No webhook has this id. Use an id from the list of webhooks.', 'id'),
  webhook_endpoint_not_found: notFound(
    'No webhook endpoint of your team has this id. Check the id and the environment of the API key.',
    'id',
  ),
  webhook_endpoint_exists: refused(
    'Your team already has an endpoint with this URL. Update that endpoint instead.',
    'url',
  ),
  webhook_endpoint_disabled: refused(
    'The endpoint is disabled and receives nothing. Enable it first: PATCH {"status":"enabled"}.',
  ),
  too_many_webhook_endpoints: refused(
    'Your team has 20 webhook endpoints in this environment, the maximum. Delete one first.',
  ),
  too_many_endpoint_changes: refused(
    'Your team has reached 5,000 changes of webhook endpoints, the maximum. Contact an operator.',
  ),
  too_many_replays: of(
    'invalid_request_error',
    409,
  )('These webhooks were replayed too often. Read the current state from the API instead.'),
  operation_in_progress: {
    ...refused(
      'Another operation is in progress, or its outcome is not known yet. Retry later with the same Idempotency-Key. It is never executed twice.',
    ),
    retryAfterSeconds: 2,
  },
  payment_in_final_state: refused(
    'The payment is in a final state. Retrieve it to see the outcome.',
    'token',
  ),
  payment_not_confirmable: refused(
    'The payment is not authorized. Capture or void a payment only in the phase authorized.',
    'token',
  ),
  payment_not_refundable: refused(
    'The payment cannot be refunded yet: it is not paid. Retrieve it to see its status.',
    'token',
  ),
  payment_disputed: refused(
    'The amount is disputed by the customer, or lost in a dispute, and cannot be refunded. Send at most the refundable amount, or wait for the decision of the bank.',
    'amount',
  ),
  refund_exceeds_amount: refused('The refund exceeds the refundable amount. Send a lower amount.', 'amount'),
  amount_limit_exceeded: exceeded(
    'The amount exceeds the limit per call of your team or key. Send a lower amount, or ask an operator to raise the limit.',
    'amount',
  ),
  daily_limit_exceeded: exceeded(
    'The amount exceeds the rest of the daily limit of your team or key. Retry after midnight UTC.',
    'amount',
  ),
  payout_not_awaiting_approval: refused(
    'The payout is not awaiting approval. Retrieve it to see its phase.',
    'token',
  ),
  payment_in_review: {
    ...refused(
      'The payment failed here, but the provider shows a payment for the same order. Do not create another one: the customer may have paid. Retry after the review is resolved.',
    ),
    retryAfterSeconds: 600,
  },
  // With Retry-After: without it, callers would conclude that nothing was created.
  refund_doubtful: {
    ...refused(
      'A review established that this refund was not made, but the provider has shown a refund of the same amount since. Ask an operator about it. Retry with a new Idempotency-Key only if the operator confirms that no money went back.',
    ),
    retryAfterSeconds: 3_600,
  },
  refund_in_review: {
    ...refused(
      'The refund failed here, but the provider shows a refund of the same amount. Do not send another one. Retry after the review is resolved.',
    ),
    retryAfterSeconds: 600,
  },
  payout_in_review: {
    ...refused(
      'The payout failed here, but the provider shows a payout under the same number. Do not send another one: it may have been paid. Retry after the review is resolved.',
    ),
    retryAfterSeconds: 600,
  },
  person_required: forbidden(
    'Reviews in this environment require two people. API keys cannot resolve them. Sign in to the console, or send the token of a person.',
  ),
  operator_required: forbidden(
    'This resolution can free money, so an API key of the team cannot give it. Ask an operator, or resolve it with check_again.',
  ),
  approval_by_requester: forbidden(
    'The key that requested the payout cannot approve or refuse it. Use another key with the scope approvals.',
  ),
  payout_approval_refused: refused(
    'The payout was refused by its approver. Nothing was sent. To pay out anyway, send a new request with a new Idempotency-Key or orderNumber.',
  ),
  payout_approval_lapsed: refused(
    'The approval of the payout has expired. Nothing was sent. To pay out anyway, send a new request with a new Idempotency-Key or orderNumber.',
  ),
  payout_exceeds_balance: refused(
    'The payout exceeds your available balance. Send a lower amount.',
    'amount',
  ),
  transfer_exceeds_balance: refused(
    'The transfer exceeds what the wallet has available in this account. Send a lower amount.',
    'amount',
  ),
  too_many_refunds: refused(
    'The payment has 500 refunds, the maximum. Refund the rest in the console of the Payment Service; the gateway records it.',
    'token',
  ),
  too_much_metadata: refused(
    'The refunds of this payment have reached their total size of metadata. Send this refund with less metadata or none.',
    'metadata',
  ),
  recurring_token_not_found: refused(
    'Your team has no such recurring token. Use a token that a payment of your team returned.',
    'recurringToken',
  ),
  resolution_not_allowed: refused(
    'The review does not allow this resolution. Use one of the resolutions listed with it.',
    'resolution',
  ),
  resolved_as_not_made: refused(
    'A review established that this operation was not executed. To execute it, send a new request with a new Idempotency-Key.',
  ),
  no_account: refused(
    'No merchant account serves this environment, team and currency. Ask an operator to configure one.',
  ),
  provider_account_refused: ofProvider(
    "The Payment Service refused the gateway's merchant account. Nothing was executed. Ask an operator to check the account.",
  ),
  provider_not_reached: ofProvider(
    'The Payment Service could not be reached. No money moved. Send a new request with a new Idempotency-Key or orderNumber.',
  ),
  provider_unavailable: retried(
    503,
    2,
    'The Payment Service is unavailable. Nothing was sent. Retry later with the same Idempotency-Key.',
  ),
  account_paused: retried(
    503,
    30,
    'An operator has paused the merchant account. Nothing was sent. Retry later with the same Idempotency-Key.',
  ),
  account_draining: retried(
    503,
    30,
    'An operator is draining the merchant account, so it accepts nothing new. Nothing was sent. Retry later with the same Idempotency-Key.',
  ),
  rate_limit_exceeded: retried(
    429,
    1,
    'The rate limit is exceeded. The request was not executed. Retry later.',
  ),
  too_many_reads: retried(
    429,
    1,
    'Too many expensive reads of this API key or person are running: pages above 100 entries, exports, event pages, filters by metadata, lists over all teams. Retry when one of them has ended.',
  ),
  too_many_waits: retried(
    429,
    5,
    'Too many requests are waiting for events. Retry when one of them has ended, or request without waiting.',
  ),
  store_unavailable: retried(
    503,
    1,
    'The event store is unavailable. Retry the request. It is never executed twice.',
  ),
  event_of_newer_version: retried(
    503,
    5,
    'A newer version of the gateway wrote an event that this instance cannot read. Retry the request; another instance may answer.',
  ),
  upgrade_not_finished: retried(
    503,
    5,
    'The gateway is being upgraded, and this request needs the new version everywhere. Retry the request. It is never executed twice.',
  ),
  bus_unavailable: retried(503, 5, 'The callback could not be stored. Send it again.'),
  internal_only: forbidden('This port is for the services of the gateway only. Call the front door.'),
  too_many_callbacks: retried(
    429,
    20,
    'Too many callbacks arrived for this payment. This one was not stored. Send it again later.',
  ),
  callback_address_ended: of(
    'invalid_request_error',
    410,
  )('This callback URL has expired. Stop sending to it.'),
  request_timeout: retried(
    408,
    1,
    'The request arrived too slowly and was not executed. Retry with the same Idempotency-Key. Headers must arrive within two seconds, the whole request within three.',
  ),
  service_unavailable: retried(
    503,
    1,
    'The gateway service for this route is unavailable. Nothing was executed. Retry the request.',
  ),
  answer_lost: retried(
    503,
    1,
    'The gateway service for this route did not answer, so the outcome is unknown. Retry the same request with the same Idempotency-Key.',
  ),
  read_model_behind: retried(
    503,
    1,
    'The read model has not reached the requested position yet. Retry in a second.',
  ),
} as const satisfies Record<string, StatedError>;

export type ErrorCode = keyof typeof apiErrors;

/** The page that explains the codes. */
export const errorPage = '/docs/errors';

/** The anchor of codes that are not ours: the Payment Service's, which are passed on. */
export const foreignErrorsAnchor = 'of-the-payment-service';

/** Path of a code's explanation, from the root of the gateway's URL. */
export const docUrlOf = (code: string): string =>
  `${errorPage}#${Object.hasOwn(apiErrors, code) ? code : foreignErrorsAnchor}`;

export const statedError = (code: ErrorCode): StatedError => apiErrors[code];
