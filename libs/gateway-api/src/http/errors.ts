/** Every error code of the API, once: services answer with these, and the OpenAPI document lists them. */
import { serverErrors } from '@tollgate/service-kit';

export type ErrorKind = 'api_error' | 'authentication_error' | 'invalid_request_error' | 'processing_error';

export interface StatedError {
  kind: ErrorKind;
  status: number;
  /** What is wrong and what to do; an answer may say more. */
  message: string;
  /** The field or header at fault, where it is always the same one. */
  parameter?: string;
  /** After how many seconds the same request may succeed; absent where it never will. */
  retryAfterSeconds?: number;
  /** The version of the gateway that introduced it. */
  since: string;
}

const since = '0.1.0';
const of =
  (kind: ErrorKind, status: number) =>
  (message: string, parameter?: string): StatedError => {
    const stated = { kind, status, message, since };
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

/** Since the second release. */
const later = (error: StatedError): StatedError => ({ ...error, since: '0.2.0' });
const newNotFound = (message: string, parameter: string): StatedError => later(notFound(message, parameter));

export const apiErrors = {
  ...serverErrors,
  auth_header_not_found: unauthorized(
    'The Authorization header is missing. Send Authorization: Bearer <API key>.',
  ),
  incorrect_private_key: unauthorized(
    'The API key is unknown, revoked or for another environment. Use an active key of this environment.',
  ),
  api_key_expired: unauthorized('The API key has expired. Use another one, or ask the operators for one.'),
  network_not_allowed: forbidden(
    "The API key may not be used from this network. Send the request from one of the key's networks.",
  ),
  incorrect_team: invalid(
    'Tollgate-Team names no team, or Tollgate-Environment is neither production nor sandbox. Correct the headers.',
    'Tollgate-Team',
  ),
  person_token_expired: later(
    unauthorized(
      'The token or session of this person has expired. Sign in again, or issue a new token (tollgate operator token).',
    ),
  ),
  person_token_revoked: later(
    unauthorized(
      'The token or session of this person was revoked, or the person signed out. Sign in again, or issue a new token (tollgate operator token).',
    ),
  ),
  session_idle: later(
    unauthorized('The session was idle for longer than CONSOLE_IDLE_MINUTES allows. Sign in again.'),
  ),
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
  sum_too_large: later(
    exceeded(
      'A sum exceeds 9,007,199,254,740,991 minor units, the largest exact number in JSON. Ask for fewer days, or add up the CSV export.',
    ),
  ),
  incorrect_currency: invalid(
    'The currency is invalid. Send an ISO 4217 alphabetic code in capitals.',
    'currency',
  ),
  card_data_not_accepted: invalid(
    'Card data is not accepted here. Use the hosted page, or the card field with a key that has the scope cards.',
  ),
  origin_not_allowed: invalid(
    "The URL's origin is not on your team's list of allowed origins. Ask the operators to add it (tollgate team allow-origins), or use an allowed one.",
  ),
  idempotency_key_missing: invalid(
    'Without an Idempotency-Key or an orderNumber, a repeat looks like a new request. Send the Idempotency-Key header.',
    'Idempotency-Key',
  ),
  idempotency_key_reused: of(
    'invalid_request_error',
    422,
  )(
    'This Idempotency-Key (or orderNumber) was used for a request with other terms, and that request counts. Retrieve it by the token of this answer. Use a new key only to make another one.',
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
  review_not_found: notFound('No open review has this code and number. List the reviews again.', 'code'),
  reconciliation_not_found: notFound(
    'No reconciliation that your team may see has this token, or it has not ended. Take the token from the list of reconciliations, or come back later.',
    'token',
  ),
  request_not_found: newNotFound(
    'This gateway has no request of your team with this id, or no longer keeps it. Check the id and the environment of the API key. If several gateways run, repeat it after a second or ask another one.',
    'id',
  ),
  account_not_found: newNotFound(
    'No merchant account of this name is configured. Take its name from the list of accounts.',
    'account',
  ),
  reconciliation_due: later(
    refused(
      'The event store was restored from a backup, and the lost days of this account are not reconciled. Reconcile them, then resume the account.',
    ),
  ),
  accounts_file_missing: later(
    refused(
      'The gateway runs without an accounts file (PROVIDER_ACCOUNTS_FILE), so there is none to read again.',
    ),
  ),
  accounts_file_invalid: later(
    refused(
      'The accounts file cannot be used, and the accounts stay as they are. Correct it, and repeat the request.',
    ),
  ),
  dead_letter_not_found: newNotFound(
    'No dead-lettered callback is at this place. Take it from the list of dead letters.',
    'offset',
  ),
  team_not_found: newNotFound('There is no such team. Take its name from the list of teams.', 'team'),
  team_exists: later(refused('There is a team of this name already. Choose another name.', 'team')),
  key_not_found: newNotFound('The team has no key of this id. Take the id from the list of keys.', 'keyId'),
  key_exists: later(
    refused(
      'A key of this id was issued before, and its text is not shown again. Issue another one.',
      'keyId',
    ),
  ),
  too_many_active_keys: later(
    refused(
      'Two keys of this environment are active: the one in use and the one that replaces it. Revoke one first.',
    ),
  ),
  signing_key_missing: later(
    refused(
      'Changes of teams are signed, and this gateway does not have the key. Use the command line where the key is.',
    ),
  ),
  sign_in_link_used: later(
    unauthorized('The link was used or revoked before. Ask for another one (tollgate operator link).'),
  ),
  credential_not_found: newNotFound(
    'No token or session of this id exists, or it has expired. Take the id from the list of credentials.',
    'credentialId',
  ),
  too_many_views: refused('You have saved as many views as there may be. Remove one first.', 'name'),
  webhook_not_found: notFound('No webhook has this id. Take the id from the list of webhooks.', 'id'),
  webhook_endpoint_not_found: newNotFound(
    'No webhook endpoint of your team has this id. Check the id and the environment of the API key.',
    'id',
  ),
  webhook_endpoint_exists: later(
    refused('Your team has an endpoint with this URL. List the endpoints, and change that one.', 'url'),
  ),
  webhook_endpoint_disabled: later(
    refused(
      'The endpoint is disabled, so nothing is sent to it. Enable it first: PATCH {"status":"enabled"}.',
    ),
  ),
  too_many_webhook_endpoints: later(
    refused('Your team has 20 webhook endpoints in this environment. Remove one first.'),
  ),
  too_many_endpoint_changes: later(
    refused('The webhook endpoints of your team were changed 5,000 times. Ask the operators.'),
  ),
  too_many_replays: of(
    'invalid_request_error',
    409,
  )('These webhooks have been replayed too often. Read the current state from the API instead.'),
  operation_in_progress: {
    ...refused(
      'Another operation is in progress, or its outcome is still unknown. Repeat the request later; it is never carried out twice.',
    ),
    retryAfterSeconds: 2,
  },
  payment_in_final_state: refused(
    'The payment is in a final state. Retrieve it to see the outcome.',
    'token',
  ),
  payment_not_confirmable: refused(
    'The payment is not authorized. Capture or void it only in the phase authorized.',
    'token',
  ),
  payment_not_refundable: refused(
    'The payment cannot be refunded: it is not final, or has no captured money. Retrieve it to see its status.',
    'token',
  ),
  payment_disputed: later(
    refused(
      'The amount is disputed by the customer, or lost in a dispute, and cannot be refunded. Send at most the refundable amount, or wait for the decision of the bank.',
      'amount',
    ),
  ),
  refund_exceeds_amount: refused('The refund exceeds the refundable amount. Send a lower amount.', 'amount'),
  amount_limit_exceeded: exceeded(
    'The amount exceeds the limit of your team or key for one call. Send a lower amount, or ask the operators.',
    'amount',
  ),
  daily_limit_exceeded: exceeded(
    'The amount exceeds what your team or key may still ask for today, in UTC. Repeat the request when the day has ended.',
    'amount',
  ),
  payout_not_awaiting_approval: refused(
    'The payout does not wait for an approval: it was decided, sent, or has lapsed. Retrieve it to see its phase.',
    'token',
  ),
  payment_in_review: later({
    ...refused(
      'The payment has ended unpaid, and yet the provider has one under its number. Send no other request for it: the customer may have paid, or may yet. Repeat this one when its review is resolved.',
    ),
    retryAfterSeconds: 600,
  }),
  // With Retry-After: without it, nothing would have been made.
  refund_doubtful: later({
    ...refused(
      'A review called the refund not made, and as much went back at the provider since, which the operators have seen. Ask them what it was. Repeat the refund under a new Idempotency-Key only if they say that it was not made.',
    ),
    retryAfterSeconds: 3_600,
  }),
  refund_in_review: later({
    ...refused(
      'The refund ended here, but the provider shows that the same amount went back. Do not send another one. Repeat this request when the review is resolved.',
    ),
    retryAfterSeconds: 600,
  }),
  payout_in_review: later({
    ...refused(
      'The payout ended here, but the provider shows a payout under the same number. Do not send another one: it may have been paid. Repeat this request when the review is resolved.',
    ),
    retryAfterSeconds: 600,
  }),
  person_required: forbidden(
    'It takes two persons to resolve a review here, and a key is none. Sign in to the console, or send the credential of a person.',
  ),
  operator_required: forbidden(
    'This resolution can free money, so a key of the team cannot give it. Ask an operator, or answer check_again.',
  ),
  approval_by_requester: forbidden(
    'The key that asked for the payout cannot approve or refuse it. Use another key with the scope approvals.',
  ),
  payout_approval_refused: refused(
    'A second key refused the payout, and nothing was sent. To pay out after all, send a new request under a new Idempotency-Key or orderNumber.',
  ),
  payout_approval_lapsed: refused(
    'The payout was not approved, or not sent, in time, and nothing was sent. To pay out after all, send a new request under a new Idempotency-Key or orderNumber.',
  ),
  payout_exceeds_position: refused(
    'The payout exceeds what your team has taken and not given back or paid out. Send a lower amount.',
    'amount',
  ),
  too_many_refunds: refused(
    'The payment has 500 refunds, the most that one can have. Refund what is left outside the gateway; it is recorded.',
    'token',
  ),
  too_much_metadata: later(
    refused(
      'The refunds of this payment have as much metadata as they can have together. Send this one with less, or without.',
      'metadata',
    ),
  ),
  recurring_token_not_found: refused(
    'Your team has no such recurring token. Use one that a payment of your team returned.',
    'recurringToken',
  ),
  resolution_not_allowed: refused(
    'The review does not allow this resolution. Use one of the resolutions listed with it.',
    'resolution',
  ),
  resolved_as_not_made: refused(
    'A review established that this operation was not made. To make it, send a new request under a new Idempotency-Key.',
  ),
  no_account: refused(
    'No merchant account serves this environment, team and currency. Ask the operators to configure one.',
  ),
  provider_account_refused: ofProvider(
    "The Payment Service refused the gateway's merchant account, and nothing was carried out. Ask the operators to check the account.",
  ),
  provider_not_reached: ofProvider(
    'The Payment Service could not be reached, and no money moved. Send a new request under a new Idempotency-Key or orderNumber.',
  ),
  provider_unavailable: retried(
    503,
    2,
    'The Payment Service is unavailable, and nothing was sent to it. Repeat the request later with the same Idempotency-Key.',
  ),
  account_paused: later(
    retried(
      503,
      30,
      'The operators have paused the merchant account for a while, and nothing was sent. Repeat the request later with the same Idempotency-Key.',
    ),
  ),
  account_draining: later(
    retried(
      503,
      30,
      'The merchant account takes nothing new for a while, by a decision of the operators, and nothing was sent. Repeat the request later with the same Idempotency-Key.',
    ),
  ),
  rate_limit_exceeded: retried(
    429,
    1,
    'The rate limit is exceeded, and this request was not carried out. Repeat it later.',
  ),
  too_many_reads: later(
    retried(
      429,
      1,
      'Too many expensive reads of this API key or person run at the same time: pages above 100 entries, exports, event pages, filters by metadata, lists over all teams. Repeat this one when another has ended.',
    ),
  ),
  too_many_waits: later(
    retried(
      429,
      5,
      'Too many requests wait for events. Repeat this one when another has ended, or without waiting.',
    ),
  ),
  store_unavailable: retried(
    503,
    1,
    'The event store is unavailable. Repeat the request; it is never carried out twice.',
  ),
  event_of_newer_version: retried(
    503,
    5,
    'A newer version of the gateway wrote an event that this instance cannot read. Repeat the request; another instance may answer.',
  ),
  upgrade_not_finished: retried(
    503,
    5,
    'The gateway is being upgraded, and an older instance could not read what this request writes. Repeat the request; it is never carried out twice.',
  ),
  bus_unavailable: retried(503, 5, 'The callback could not be stored. Send it again.'),
  internal_only: forbidden(
    'This port is for services of the gateway only, and the request carries no valid credential of theirs. Call the front door.',
  ),
  too_many_callbacks: retried(
    429,
    20,
    'There were too many callbacks of this payment, and this one was not stored. Send it again later.',
  ),
  callback_address_ended: of(
    'invalid_request_error',
    410,
  )('This callback address has come to its end. Stop sending to it.'),
  request_timeout: later(
    retried(
      408,
      1,
      'The request arrived too slowly, and was not carried out. Repeat it with the same Idempotency-Key. Its headers must arrive within two seconds, all of it within three.',
    ),
  ),
  service_unavailable: retried(
    503,
    1,
    'The gateway service behind this route is unavailable, and nothing was carried out. Repeat the request.',
  ),
  answer_lost: retried(
    503,
    1,
    'The gateway service behind this route did not answer, so the outcome is unknown. Repeat the same request with the same Idempotency-Key.',
  ),
  read_model_behind: retried(
    503,
    1,
    'The read model has not reached the requested position yet. Repeat the request in a second.',
  ),
} as const satisfies Record<string, StatedError>;

export type ErrorCode = keyof typeof apiErrors;

/** The page that explains the codes. */
export const errorPage = '/docs/errors';

/** The anchor of codes that are not ours: the Payment Service's, which are passed on. */
export const foreignErrorsAnchor = 'of-the-payment-service';

/** Where a code is explained, from the root of the gateway's address. */
export const docUrlOf = (code: string): string =>
  `${errorPage}#${Object.hasOwn(apiErrors, code) ? code : foreignErrorsAnchor}`;

export const statedError = (code: ErrorCode): StatedError => apiErrors[code];
