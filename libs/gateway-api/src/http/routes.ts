/** Every route of the API: services register them, the front door forwards them, and the OpenAPI document lists them. */
import { balanceQuerySchema } from '@tollgate/payment-api';
import type { CallerScope, OperatorScope, PersonScope, Scope } from '@tollgate/teams';
import type { z } from 'zod';
import type { AnswerName } from './answers.ts';
import type { BodyName } from './requests.ts';
import type { ErrorCode } from './errors.ts';
import { paymentExportSchema, paymentListSchema, reviewListSchema, totalsQuerySchema } from './queries.ts';
import { accountRoutes } from './account-routes.ts';
import { credentialRoutes } from './credential-routes.ts';
import { operatorRoutes } from './operator-routes.ts';
import { reconciliationRoutes } from './reconciliation-routes.ts';
import { feedRoutes } from './feed-routes.ts';
import { requestRoutes } from './request-routes.ts';
import { webhookRoutes } from './webhook-routes.ts';
import { payoutRoutes } from './payout-routes.ts';
import { disputeRoutes } from './dispute-routes.ts';
import { ledgerRoutes } from './ledger-routes.ts';
import { refundRoutes } from './refund-routes.ts';
import { teamRoutes } from './team-routes.ts';
import {
  calls,
  done,
  get,
  listed,
  ofProviderCalls,
  oneObject,
  ownCsvFile,
  ownList,
  post,
  shown,
  unknown,
} from './route-parts.ts';

/** The services that answer teams; `api` stands for every process with an HTTP server. */
export type AnsweringService = 'command-service' | 'query-service' | 'notifier' | 'api';

/** The groups of routes, in the order of the documents, with descriptions. */
export const tags = {
  Payments: 'Taking money: creating, capturing, voiding, retrieving and listing payments.',
  Refunds: 'Giving money back.',
  Payouts: 'Paying money out, and approving it.',
  Money: 'Balances, totals and the journal.',
  People: 'Reviews and reconciliations.',
  Webhooks: 'Endpoints, deliveries and replays.',
  Receivers: 'Webhooks that your team receives.',
  Requests: 'Stored requests.',
  Events: 'The event feed.',
  Operators: 'Routes over all teams, for operators.',
  Operation: 'Health and documents of the gateway itself; no key is needed.',
} as const;
export type Tag = keyof typeof tags;

/**
 * The limit of a route across teams: `teams`, its handler uses the caller's reach; `named-team`, the team and the environment
 * in the request;
 * `installation`, only callers that reach everything; `person`, the person's own objects.
 */
export type Bound = 'teams' | 'named-team' | 'installation' | 'person';

/** The caller needs one of these scopes. Without any, no key is needed. With one of keys first, the caller's team bounds it. */
type Access =
  | { scopes?: undefined; bound?: undefined }
  | { scopes: readonly [Scope, ...CallerScope[]]; bound?: undefined }
  | { scopes: readonly [OperatorScope | PersonScope]; bound: Bound };

export type Route = StatedRoute & Access;

interface StatedRoute {
  service: AnsweringService;
  method: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  /** As Fastify writes it: `/api/v1/payments/:token`. */
  url: string;
  tag: Tag;
  summary: string;
  description?: string;
  /** Parsed before the handler runs. */
  query?: z.ZodObject;
  idempotencyKey?: 'required' | 'optional';
  /** `awaited`: the read waits for the index. `current`: it includes everything recorded before, and waits for nothing. */
  minPosition?: 'awaited' | 'current';
  /** Carries the `Tollgate-Position` of the latest event in the answer. */
  tellsPosition?: true;
  body?: { schema: BodyName; example: object; isOptional?: true };
  /** Carries `ETag` and answers `If-None-Match`. */
  isTagged?: true;
  /** By status: its meaning and, if there is a body, its schema or another content type. */
  answers: Readonly<
    Record<
      number,
      { meaning: string; schema: AnswerName } | { meaning: string; type: string } | { meaning: string }
    >
  >;
  /** Carries `Tollgate-Position`, and `Idempotent-Replayed` on a replay. */
  isCommand?: true;
  /** True if error codes of the Payment Service are passed on, which we cannot list. */
  handsOnErrors?: true;
  /** Always much more expensive than others; see `expensive-reads.ts` for further expensive reads. */
  isExpensive?: true;
  /** Beyond those that every call with a key or a body may answer. */
  errors?: readonly ErrorCode[];
}

const captureOrVoid = (operation: 'confirm' | 'decline', summary: string) =>
  ({
    ...post('command-service', 'Payments', `/api/v1/payments/${operation}`),
    summary,
    description: 'Always the whole amount. Idempotent: a repeat is not executed again.',
    scopes: ['payments'],
    ...calls,
    body: { schema: 'PaymentName', example: { token: 'pay_…' } },
    answers: { ...done('Done.', 'EndedCaptureOrVoidPayment'), ...unknown('EndedCaptureOrVoidPayment') },
    errors: [
      ...(['payment_not_found', 'payment_not_confirmable', 'payment_in_final_state'] as const),
      ...(['resolved_as_not_made', ...ofProviderCalls] as const),
    ],
  }) satisfies Route;

const payments = {
  createPayment: {
    ...post('command-service', 'Payments', '/api/v1/payments'),
    summary: 'Creates a payment',
    description:
      'A repeat with the same `Idempotency-Key` (or, without one, the same `orderNumber`) is executed once and gets the same answer. `card` requires the scope `cards`, `recurringToken` the scope `stored-cards`.',
    scopes: ['payments'],
    idempotencyKey: 'optional',
    ...calls,
    body: {
      schema: 'PaymentRequest',
      example: {
        product: 'Tea',
        amount: 1250,
        currency: 'EUR',
        orderNumber: 'order-1',
        metadata: { basket: '4711' },
      },
    },
    answers: {
      ...done('Accepted. Redirect your customer to `processingUrl`.', 'CreatedPayment'),
      ...unknown('CreatedPayment'),
    },
    errors: [
      ...(['incorrect_amount', 'incorrect_currency', 'card_data_not_accepted'] as const),
      ...(['origin_not_allowed', 'idempotency_key_missing', 'recurring_token_not_found'] as const),
      ...(['amount_limit_exceeded', 'daily_limit_exceeded', 'payment_in_review'] as const),
      ...(['resolved_as_not_made', 'idempotency_key_reused', ...ofProviderCalls] as const),
    ],
  },
  confirmPayment: captureOrVoid('confirm', 'Captures an authorized payment: takes the reserved money'),
  declinePayment: captureOrVoid('decline', 'Voids an authorized payment: releases the reserved money'),
  listPayments: {
    ...get('query-service', 'Payments', '/api/v1/payments'),
    summary: 'Lists payments, newest first',
    description:
      '`operationType` other than `pays` requires the scope `read` or `payouts`. Follow `nextCursor`; page numbers reach only the first 10,000 rows.',
    scopes: ['read', 'payments'],
    query: paymentListSchema,
    ...ownList('PaymentList'),
  },
  exportPayments: {
    ...get('query-service', 'Payments', '/api/v1/payments.csv'),
    summary: 'Exports all matching payments as a CSV file, newest first',
    description: [
      'RFC 4180 with a header line; amounts in minor units, times in ISO 8601 UTC. Against formula injection, an apostrophe is inserted before `= + - @` and before an apostrophe wherever a spreadsheet could start a cell: at the start of a text, and after `;`, `|`, a tab or a line break. Remove it to restore the text.',
      'Each payment has the state at the time its line is written. A payment that matches throughout appears once. Payments created after the start are not included. If the connection breaks, the file is incomplete: request it again.',
      '`operationType` other than `pays` requires the scope `read` or `payouts`.',
    ].join('\n\n'),
    scopes: ['read', 'payments'],
    query: paymentExportSchema,
    ...ownCsvFile,
  },
  retrievePayment: {
    ...get('query-service', 'Payments', '/api/v1/payments/:token'),
    summary: 'Shows a payment',
    description: 'Also shows a payout, as in the specification, to keys with the scope `read` or `payouts`.',
    scopes: ['read', 'payments'],
    ...oneObject('The payment.', 'PaymentAnswer'),
    errors: ['payment_not_found'],
  },
  listPaymentEvents: {
    ...get('query-service', 'Payments', '/api/v1/payments/:token/events'),
    summary: 'Shows the whole history of a payment',
    scopes: ['read', 'payments'],
    tellsPosition: true,
    answers: done('Every event, in order.', 'PaymentHistory'),
    errors: ['payment_not_found'],
  },
} satisfies Record<string, Route>;

const others = {
  retrieveBalance: {
    ...get('command-service', 'Money', '/api/v1/balance'),
    summary: 'Shows the balance in a currency',
    description:
      "`available` is what can be paid out now: in each merchant account the smaller of what the wallet has and what the Payment Service reports as available, up to one second old. One payout draws on one account. `hold` is the rest of the wallet. If the team's payouts are taken from the provider's balance, both are the sums that the Payment Service reports. 503 if the Payment Service gives no usable answer.",
    scopes: ['read', 'payments', 'payouts'],
    query: balanceQuerySchema,
    answers: done('The balance.', 'Balance'),
    errors: [
      ...(['incorrect_currency', 'invalid_param', 'no_account', 'provider_unavailable'] as const),
      ...(['read_model_behind', 'sum_too_large'] as const),
    ],
  },
  listTotals: {
    ...get('query-service', 'Money', '/api/v1/totals'),
    summary: 'Sums up payments, refunds and payouts by day and currency',
    description:
      'Each payment and payout counts on the UTC day of its creation, under its current status. At most 366 days; the last 30 by default. Payouts require the scope `read` or `payouts`.',
    scopes: ['read', 'payments'],
    query: totalsQuerySchema,
    minPosition: 'awaited',
    ...shown('The totals.', 'Totals', 'sum_too_large'),
  },
  listReviews: {
    ...get('query-service', 'People', '/api/v1/reviews'),
    summary: 'Lists open reviews, oldest first',
    description:
      'Reviews of payouts require the scope `read`, `payouts` or `admin`; reviews of operations that only the Payment Service has (`kind: "unmatched"`) require `admin`, and are shown to the only team of the merchant account.',
    scopes: ['read', 'payments', 'admin'],
    query: reviewListSchema,
    minPosition: 'awaited',
    ...listed('ReviewList'),
  },
  resolveReview: {
    ...post('command-service', 'People', '/api/v1/reviews/:token/resolve'),
    summary: 'Resolves a review',
    description:
      'The history records the person or key, and the reason. If reviews require two people, the first answer is kept (202) and changes nothing until another person gives the same one; a new answer replaces it. API keys are refused then. Otherwise a key may give every answer that frees no money: `accept_theirs`, `refund_not_made` and `payout_not_made` are for operators (403 `operator_required`). Team leads may answer `check_again` only.',
    scopes: ['admin', 'operators:teams'],
    isCommand: true,
    body: {
      schema: 'Resolution',
      example: {
        code: 'discrepancy',
        number: 1,
        resolution: 'check_again',
        reason: 'The Payment Service was inquired.',
      },
    },
    answers: {
      ...done('The review is resolved.', 'ResolvedReview'),
      ...unknown('ResolvedReview', 'The proposal is recorded. A second person must confirm it.'),
    },
    errors: [
      ...(['payment_not_found', 'payout_not_found', 'review_not_found'] as const),
      ...(['resolution_not_allowed', 'person_required', 'operator_required'] as const),
    ],
  },
} satisfies Record<string, Route>;

const aboutTheGateway = {
  tellHealth: {
    ...get('api', 'Operation', '/healthz'),
    summary: 'Reports whether the process is alive',
    answers: done('It is alive.', 'Health'),
  },
  tellReadiness: {
    ...get('api', 'Operation', '/readyz'),
    summary: 'Reports whether the gateway is ready',
    description:
      'While `index` is listed, payments are created and retrieved by token as usual, and lists answer 503 `read_model_behind`.',
    answers: {
      ...done('It is ready.', 'Readiness'),
      503: { meaning: 'It is not ready; `notReady` names what is missing.', schema: 'Readiness' },
    },
  },
  tellInterface: {
    ...get('api', 'Operation', '/openapi.json'),
    summary: 'This document',
    answers: { 200: { meaning: 'The OpenAPI 3.1 document.', type: 'application/json' } },
  },
} satisfies Record<string, Route>;

/** By their names in generated clients. */
export const routes = {
  ...payments,
  ...refundRoutes,
  ...disputeRoutes,
  ...ledgerRoutes,
  ...payoutRoutes,
  ...others,
  ...reconciliationRoutes,
  ...webhookRoutes,
  ...requestRoutes,
  ...feedRoutes,
  ...operatorRoutes,
  ...credentialRoutes,
  ...accountRoutes,
  ...teamRoutes,
  ...aboutTheGateway,
};

/** The routes that a service answers; a front door forwards no others to it. */
export const routesOf = (service: AnsweringService): readonly Route[] =>
  Object.values<Route>(routes).filter((route) => route.service === service);
