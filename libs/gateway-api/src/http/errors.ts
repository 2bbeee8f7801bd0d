/** Every error code of the API, once: services answer with these, and the OpenAPI document lists them. */
import { omitUndefined, serverErrors } from '@tollgate/service-kit';

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

/** Errors of one kind and status, by code. The same request may succeed after so many seconds; never if undefined. */
const retried = <Code extends string>(
  retryAfterSeconds: number | undefined,
  kind: ErrorKind,
  status: number,
  messages: Readonly<Record<Code, string>>,
) =>
  Object.fromEntries(
    Object.entries<string>(messages).map(([code, message]) => [
      code,
      { kind, status, message, ...omitUndefined({ retryAfterSeconds }) },
    ]),
  ) as Record<Code, StatedError>;

const stated = <Code extends string>(
  kind: ErrorKind,
  status: number,
  messages: Readonly<Record<Code, string>>,
) => retried(undefined, kind, status, messages);

export const apiErrors = {
  ...serverErrors,
  ...stated('invalid_request_error', 400, {
    incorrect_team:
      'Tollgate-Team is not a known team, or Tollgate-Environment is neither production nor sandbox. Correct the headers.',
    invalid_param:
      'A field or parameter is missing, unknown or invalid. Correct it and send the request again.',
    incorrect_amount: 'The amount is invalid. Send an integer of at least 1, in minor units.',
    incorrect_currency: 'The currency is invalid. Send an ISO 4217 code in capitals, such as EUR.',
    card_data_not_accepted:
      'Card data is not accepted in this field. Use the hosted page, or the card field with a key that has the scope cards.',
    origin_not_allowed:
      "The URL's origin is not on your team's list of allowed origins. Use an allowed origin, or ask an operator to add this one (tollgate team allow-origins).",
    idempotency_key_missing:
      'The request has neither an Idempotency-Key nor an orderNumber, so a retry could not be recognized. Send the Idempotency-Key header.',
  }),
  ...stated('authentication_error', 401, {
    auth_header_not_found: 'The Authorization header is missing. Send Authorization: Bearer <API key>.',
    incorrect_private_key:
      'The API key is unknown, revoked, or belongs to another environment. Use an active key of this environment.',
    api_key_expired: 'The API key has expired. Use another key, or ask an operator for a new one.',
    person_token_expired:
      'This token or session has expired. Sign in again, or issue a new token (tollgate operator token).',
    person_token_revoked:
      'This token or session was revoked. Sign in again, or issue a new token (tollgate operator token).',
    session_idle: 'The session was idle for too long (CONSOLE_IDLE_MINUTES). Sign in again.',
    sign_in_link_used: 'This sign-in link was used or revoked. Request a new one (tollgate operator link).',
  }),
  ...stated('authentication_error', 403, {
    network_not_allowed:
      "The API key may not be used from this network. Send the request from one of the key's networks.",
    https_required: 'The request did not use HTTPS. Treat its API key as compromised, and use HTTPS.',
    scope_missing: 'The API key lacks the required scope. Use a key with that scope.',
    person_required:
      'Reviews in this environment require two people. API keys cannot resolve them. Sign in to the console, or send the token of a person.',
    operator_required:
      'This resolution can free money, so an API key of the team cannot give it. Ask an operator, or resolve it with check_again.',
    approval_by_requester:
      'The key that requested the payout cannot approve or refuse it. Use another key with the scope approvals.',
    internal_only: 'This port is for the services of the gateway only. Call the front door.',
  }),
  ...stated('invalid_request_error', 404, {
    payment_not_found: 'No payment has this token. Check the token and the environment of the API key.',
    payout_not_found: 'No payout has this token. Check the token and the environment of the API key.',
    refund_not_found: 'No refund has this token. Check the token and the environment of the API key.',
    dispute_not_found: 'No dispute has this token. Check the token and the environment of the API key.',
    review_not_found: 'No open review has this code and number. List the reviews again.',
    reconciliation_not_found:
      'No finished reconciliation that your team may read has this token. Use a token from the list of reconciliations, or retry later.',
    request_not_found:
      'No stored request of your team has this id. Check the id and the environment of the API key. A request made a moment ago may appear after a second.',
    account_not_found: 'No merchant account has this name. Use a name from the list of accounts.',
    team_not_found: 'No team has this name. Use a name from the list of teams.',
    key_not_found: 'The team has no key with this id. Use an id from the list of keys.',
    credential_not_found: 'No active token or session has this id. Use an id from the list of credentials.',
    webhook_not_found: 'No webhook has this id. Use an id from the list of webhooks.',
    webhook_endpoint_not_found:
      'No webhook endpoint of your team has this id. Check the id and the environment of the API key.',
  }),
  ...retried(1, 'api_error', 408, {
    request_timeout:
      'The request arrived too slowly and was not executed. Retry with the same Idempotency-Key. Headers must arrive within two seconds, the whole request within three.',
  }),
  ...stated('processing_error', 409, {
    reconciliation_due:
      'The event store was restored from a backup, and the affected days of this account are not reconciled. Reconcile them, then resume the account.',
    accounts_file_missing:
      'The gateway runs without an accounts file (PROVIDER_ACCOUNTS_FILE). There is nothing to reload.',
    accounts_file_invalid:
      'The accounts file is invalid. The accounts are unchanged. Correct the file and retry.',
    team_exists: 'A team with this name exists. Choose another name.',
    key_exists: 'A key with this id exists, and a key is shown only once. Issue another key.',
    too_many_active_keys: 'The team has two active keys in this environment, the maximum. Revoke one first.',
    signing_key_missing:
      'Team changes are signed, and this gateway has no signing key. Use the command line on the host that has it.',
    too_many_views: 'You have reached the maximum number of saved views. Delete one first.',
    webhook_endpoint_exists: 'Your team already has an endpoint with this URL. Update that endpoint instead.',
    webhook_endpoint_disabled:
      'The endpoint is disabled and receives nothing. Enable it first: PATCH {"status":"enabled"}.',
    too_many_webhook_endpoints:
      'Your team has 20 webhook endpoints in this environment, the maximum. Delete one first.',
    too_many_endpoint_changes:
      'Your team has reached 5,000 changes of webhook endpoints, the maximum. Contact an operator.',
    payment_in_final_state: 'The payment is in a final state. Retrieve it to see the outcome.',
    payment_not_confirmable:
      'The payment is not authorized. Capture or void a payment only in the phase authorized.',
    payment_not_refundable:
      'The payment cannot be refunded yet: it is not paid. Retrieve it to see its status.',
    payment_disputed:
      'The amount is disputed by the customer, or lost in a dispute, and cannot be refunded. Send at most the refundable amount, or wait for the decision of the bank.',
    refund_exceeds_amount: 'The refund exceeds the refundable amount. Send a lower amount.',
    payout_not_awaiting_approval: 'The payout is not awaiting approval. Retrieve it to see its phase.',
    payout_approval_refused:
      'The payout was refused by its approver. Nothing was sent. To pay out anyway, send a new request with a new Idempotency-Key or orderNumber.',
    payout_approval_lapsed:
      'The approval of the payout has expired. Nothing was sent. To pay out anyway, send a new request with a new Idempotency-Key or orderNumber.',
    payout_exceeds_balance: 'The payout exceeds your available balance. Send a lower amount.',
    transfer_exceeds_balance:
      'The transfer exceeds what the wallet has available in this account. Send a lower amount.',
    too_many_refunds:
      'The payment has 500 refunds, the maximum. Refund the rest in the console of the Payment Service; the gateway records it.',
    too_much_metadata:
      'The refunds of this payment have reached their total size of metadata. Send this refund with less metadata or none.',
    recurring_token_not_found:
      'Your team has no such recurring token. Use a token that a payment of your team returned.',
    resolution_not_allowed:
      'The review does not allow this resolution. Use one of the resolutions listed with it.',
    resolved_as_not_made:
      'A review established that this operation was not executed. To execute it, send a new request with a new Idempotency-Key.',
    no_account:
      'No merchant account serves this environment, team and currency. Ask an operator to configure one.',
  }),
  ...stated('invalid_request_error', 409, {
    too_many_replays: 'These webhooks were replayed too often. Read the current state from the API instead.',
  }),
  ...retried(2, 'processing_error', 409, {
    operation_in_progress:
      'Another operation is in progress, or its outcome is not known yet. Retry later with the same Idempotency-Key. It is never executed twice.',
  }),
  // With Retry-After: without it, callers would conclude that nothing was created.
  ...retried(600, 'processing_error', 409, {
    payment_in_review:
      'The payment failed here, but the provider shows a payment for the same order. Do not create another one: the customer may have paid. Retry after the review is resolved.',
    refund_in_review:
      'The refund failed here, but the provider shows a refund of the same amount. Do not send another one. Retry after the review is resolved.',
    payout_in_review:
      'The payout failed here, but the provider shows a payout under the same number. Do not send another one: it may have been paid. Retry after the review is resolved.',
  }),
  ...retried(3600, 'processing_error', 409, {
    refund_doubtful:
      'A review established that this refund was not made, but the provider has shown a refund of the same amount since. Ask an operator about it. Retry with a new Idempotency-Key only if the operator confirms that no money went back.',
  }),
  ...stated('invalid_request_error', 410, {
    callback_address_ended: 'This callback URL has expired. Stop sending to it.',
  }),
  ...stated('processing_error', 422, {
    sum_too_large:
      'A sum exceeds 9,007,199,254,740,991 minor units, the largest exact number in JSON. Request fewer days, or add up the CSV export.',
    amount_limit_exceeded:
      'The amount exceeds the limit per call of your team or key. Send a lower amount, or ask an operator to raise the limit.',
    daily_limit_exceeded:
      'The amount exceeds the rest of the daily limit of your team or key. Retry after midnight UTC.',
  }),
  ...stated('invalid_request_error', 422, {
    idempotency_key_reused:
      'This Idempotency-Key (or orderNumber) was used for a request with other terms, and that request was accepted. Retrieve it by the token in this answer. Use a new key only for a separate operation.',
  }),
  ...retried(1, 'api_error', 429, {
    rate_limit_exceeded: 'The rate limit is exceeded. The request was not executed. Retry later.',
    too_many_reads:
      'Too many expensive reads of this API key or person are running: pages above 100 entries, exports, event pages, filters by metadata, lists over all teams. Retry when one of them has ended.',
  }),
  ...retried(5, 'api_error', 429, {
    too_many_waits:
      'Too many requests are waiting for events. Retry when one of them has ended, or request without waiting.',
  }),
  ...retried(20, 'api_error', 429, {
    too_many_callbacks:
      'Too many callbacks arrived for this payment. This one was not stored. Send it again later.',
  }),
  ...stated('api_error', 502, {
    provider_account_refused:
      "The Payment Service refused the gateway's merchant account. Nothing was executed. Ask an operator to check the account.",
    provider_not_reached:
      'The Payment Service could not be reached. No money moved. Send a new request with a new Idempotency-Key or orderNumber.',
  }),
  ...retried(1, 'api_error', 503, {
    store_unavailable: 'The event store is unavailable. Retry the request. It is never executed twice.',
    service_unavailable:
      'The gateway service for this route is unavailable. Nothing was executed. Retry the request.',
    answer_lost:
      'The gateway service for this route did not answer, so the outcome is unknown. Retry the same request with the same Idempotency-Key.',
    read_model_behind: 'The read model has not reached the requested position yet. Retry in a second.',
  }),
  ...retried(2, 'api_error', 503, {
    provider_unavailable:
      'The Payment Service is unavailable. Nothing was sent. Retry later with the same Idempotency-Key.',
  }),
  ...retried(5, 'api_error', 503, {
    event_of_newer_version:
      'A newer version of the gateway wrote an event that this instance cannot read. Retry the request; another instance may answer.',
    upgrade_not_finished:
      'The gateway is being upgraded, and this request needs the new version everywhere. Retry the request. It is never executed twice.',
    bus_unavailable: 'The callback could not be stored. Send it again.',
  }),
  ...retried(30, 'api_error', 503, {
    account_paused:
      'An operator has paused the merchant account. Nothing was sent. Retry later with the same Idempotency-Key.',
    account_draining:
      'An operator is draining the merchant account, so it accepts nothing new. Nothing was sent. Retry later with the same Idempotency-Key.',
  }),
};

/** The field or header at fault, if it is always the same one. */
const parameters: Partial<Record<ErrorCode, string>> = {
  incorrect_team: 'Tollgate-Team',
  incorrect_amount: 'amount',
  payment_disputed: 'amount',
  refund_exceeds_amount: 'amount',
  amount_limit_exceeded: 'amount',
  daily_limit_exceeded: 'amount',
  payout_exceeds_balance: 'amount',
  transfer_exceeds_balance: 'amount',
  incorrect_currency: 'currency',
  idempotency_key_missing: 'Idempotency-Key',
  payment_not_found: 'token',
  payout_not_found: 'token',
  dispute_not_found: 'token',
  reconciliation_not_found: 'token',
  payment_in_final_state: 'token',
  payment_not_confirmable: 'token',
  payment_not_refundable: 'token',
  payout_not_awaiting_approval: 'token',
  too_many_refunds: 'token',
  refund_not_found: 'refundToken',
  review_not_found: 'code',
  request_not_found: 'id',
  webhook_not_found: 'id',
  webhook_endpoint_not_found: 'id',
  account_not_found: 'account',
  team_not_found: 'team',
  team_exists: 'team',
  key_not_found: 'keyId',
  key_exists: 'keyId',
  credential_not_found: 'credentialId',
  too_many_views: 'name',
  webhook_endpoint_exists: 'url',
  too_much_metadata: 'metadata',
  recurring_token_not_found: 'recurringToken',
  resolution_not_allowed: 'resolution',
};

export type ErrorCode = keyof typeof apiErrors;

/** The page that explains the codes. */
export const errorPage = '/docs/errors';

/** The anchor of codes that are not ours: the Payment Service's, which are passed on. */
export const foreignErrorsAnchor = 'of-the-payment-service';

/** Path of a code's explanation, from the root of the gateway's URL. */
export const docUrlOf = (code: string): string =>
  `${errorPage}#${Object.hasOwn(apiErrors, code) ? code : foreignErrorsAnchor}`;

export function statedError(code: ErrorCode): StatedError {
  const parameter = parameters[code];
  return parameter === undefined ? apiErrors[code] : { ...apiErrors[code], parameter };
}
