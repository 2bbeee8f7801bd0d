/** What the API offers, call by call. */
import { paymentRequestSchema, resolutionRequestSchema } from '@tollgate/command-service';
import { replaySchema } from '@tollgate/notifier';
import {
  balanceQuerySchema,
  paymentNameSchema,
  payoutRequestSchema,
  refundRequestSchema,
} from '@tollgate/payment-api';
import type { Scope } from '@tollgate/teams';
import {
  reviewListSchema,
  paymentExportSchema,
  paymentListSchema,
  payoutListSchema,
  totalsQuerySchema,
} from '@tollgate/query-service';
import type { AnswerName } from './answer-schemas.ts';
import { type Errors, ofCommands, ofProviderCalls, ofReads, underKey, withBody } from './errors.ts';

/** The bodies of requests, by the names that they have in the document. These are the schemas that the routes parse with. */
export const bodySchemas = {
  PaymentRequest: paymentRequestSchema,
  PaymentName: paymentNameSchema,
  RefundRequest: refundRequestSchema,
  PayoutRequest: payoutRequestSchema,
  Resolution: resolutionRequestSchema,
  Replay: replaySchema,
} as const;
export type BodyName = keyof typeof bodySchemas;

export const querySchemas = {
  payments: paymentListSchema,
  paymentExport: paymentExportSchema,
  payouts: payoutListSchema,
  reviews: reviewListSchema,
  balance: balanceQuerySchema,
  totals: totalsQuerySchema,
} as const;

export interface Operation {
  method: 'get' | 'post';
  /** As OpenAPI writes it: `/api/v1/payments/{token}`. */
  path: string;
  /** Its name in generated clients. */
  id: string;
  tag: 'Payments' | 'Refunds' | 'Payouts' | 'Money' | 'People' | 'Webhooks' | 'Operation';
  summary: string;
  description?: string;
  /** The key needs one of them; absent: no key is needed. */
  scopes?: readonly Scope[];
  query?: keyof typeof querySchemas;
  idempotencyKey?: 'required' | 'optional';
  minPosition?: true;
  body?: { schema: BodyName; example: object; isOptional?: true };
  /** Carries `ETag` and answers `If-None-Match`. */
  isTagged?: true;
  /** By status: what it means, and the schema of the body or another content type, where it has a body. */
  answers: Readonly<
    Record<
      number,
      { meaning: string; schema: AnswerName } | { meaning: string; type: string } | { meaning: string }
    >
  >;
  /** Carries `Tollgate-Position`, and `Idempotent-Replayed` where a repeat is known. */
  isCommand?: true;
  /** True where codes of the Payment Service are handed on, which are not ours to list. */
  handsOnErrors?: true;
  errors?: readonly Errors[];
}

const done = (meaning: string, schema: AnswerName) => ({ 200: { meaning, schema } });
const unknown = (schema: AnswerName) => ({
  202: { meaning: 'Sent, and the outcome is not known yet. It will be; nothing need be repeated.', schema },
});

/** Of one thing that callers ask for again and again. */
const tagged = (meaning: string, schema: AnswerName) => ({
  isTagged: true as const,
  answers: {
    ...done(meaning, schema),
    304: { meaning: 'It is what `If-None-Match` names; without a body.' },
  },
});

const calls = { isCommand: true, handsOnErrors: true } as const;

const payments: readonly Operation[] = [
  {
    ...{ method: 'post', path: '/api/v1/payments', id: 'createPayment', tag: 'Payments' },
    summary: 'Creates a payment',
    description:
      'Repeated under the same `Idempotency-Key` (or, without one, the same `orderNumber`) it is carried out once and answered alike. `card` takes the scope `cards`.',
    ...{ scopes: ['payments'], idempotencyKey: 'optional', ...calls },
    body: {
      schema: 'PaymentRequest',
      example: { product: 'Tea', amount: 1250, currency: 'EUR', orderNumber: 'order-1' },
    },
    answers: {
      ...done('The Payment Service has it. Send your customer to `processingUrl`.', 'CreatedPayment'),
      ...unknown('CreatedPayment'),
    },
    errors: [
      {
        400: [
          ...(['incorrect_amount', 'incorrect_currency', 'card_data_not_accepted'] as const),
          ...(['origin_not_allowed', 'idempotency_key_missing'] as const),
        ],
        409: ['recurring_token_not_found', 'resolved_as_not_made'],
        422: ['idempotency_key_reused'],
      },
      ofProviderCalls,
    ],
  },
  ...(['confirm', 'decline'] as const).map((operation): Operation => ({
    ...{ method: 'post', path: `/api/v1/payments/${operation}`, id: `${operation}Payment`, tag: 'Payments' },
    summary:
      operation === 'confirm'
        ? 'Takes the money that a two-step payment holds'
        : 'Gives the money back that a two-step payment holds',
    description: 'May be repeated: it is carried out once.',
    ...{ scopes: ['payments'], ...calls },
    body: { schema: 'PaymentName', example: { token: 'pay_…' } },
    answers: { ...done('It is done.', 'EndedCaptureOrVoidPayment'), ...unknown('EndedCaptureOrVoidPayment') },
    errors: [
      {
        404: ['payment_not_found'],
        409: ['payment_not_confirmable', 'payment_in_final_state', 'resolved_as_not_made'],
      },
      ofProviderCalls,
    ],
  })),
  {
    ...{ method: 'get', path: '/api/v1/payments', id: 'listPayments', tag: 'Payments' },
    summary: 'Lists payments, newest first',
    description:
      '`operationType` other than `pays` takes the scope `read` or `payouts`. Follow `nextCursor`; pages by number go 10,000 rows deep.',
    ...{ scopes: ['read', 'payments'], query: 'payments', minPosition: true },
    answers: done('One page.', 'PaymentList'),
    errors: [ofReads],
  },
  {
    ...{ method: 'get', path: '/api/v1/payments.csv', id: 'exportPayments', tag: 'Payments' },
    summary: 'Gives all payments that fit as a CSV file, newest first',
    description: [
      'RFC 4180 with a line of names; amounts in minor units, times ISO 8601 in UTC. A text that a spreadsheet would take for a formula, and one that begins with an apostrophe, has an apostrophe in front: take one off the front of a field to have what was there.',
      'Every payment is as it is when its line is written: one that fits all the time is in the file once, and those created after the beginning are not in it. A file whose connection breaks off is not complete: ask for it again.',
      '`operationType` other than `pays` takes the scope `read` or `payouts`. A team may have two exports at a time.',
    ].join('\n\n'),
    ...{ scopes: ['read', 'payments'], query: 'paymentExport', minPosition: true },
    answers: { 200: { meaning: 'The file.', type: 'text/csv' } },
    errors: [ofReads, { 429: ['too_many_exports'] }],
  },
  {
    ...{ method: 'get', path: '/api/v1/payments/{token}', id: 'retrievePayment', tag: 'Payments' },
    summary: 'Shows a payment',
    description: 'A payout too, as in the specification, to keys with the scope `read` or `payouts`.',
    ...{ scopes: ['read', 'payments'], minPosition: true },
    ...tagged('The payment.', 'PaymentAnswer'),
    errors: [ofReads, { 404: ['payment_not_found'] }],
  },
  {
    ...{ method: 'get', path: '/api/v1/payments/{token}/events', id: 'listPaymentEvents', tag: 'Payments' },
    summary: 'Shows the whole history of a payment',
    scopes: ['read', 'payments'],
    answers: done('Every event, in order.', 'PaymentHistory'),
    errors: [{ 404: ['payment_not_found'], 503: ['core_api_error'] }],
  },
];

const refunds: readonly Operation[] = [
  {
    ...{ method: 'post', path: '/api/v1/refunds', id: 'refundPayment', tag: 'Refunds' },
    summary: 'Refunds a payment, or a part of it',
    description:
      'Without `amount`, all that is left. Repeated under the same `Idempotency-Key` it is carried out once.',
    ...{ scopes: ['refunds'], idempotencyKey: 'required', ...calls },
    body: { schema: 'RefundRequest', example: { token: 'pay_…', amount: 500 } },
    answers: { ...done('The Payment Service has it.', 'CreatedRefund'), ...unknown('CreatedRefund') },
    errors: [
      {
        400: ['incorrect_amount', 'card_data_not_accepted', 'idempotency_key_missing'],
        404: ['payment_not_found'],
        409: ['refund_exceeds_amount', 'payment_not_refundable', 'resolved_as_not_made'],
        422: ['idempotency_key_reused'],
      },
      ofProviderCalls,
    ],
  },
  {
    ...{ method: 'get', path: '/api/v1/refunds/{refundToken}', id: 'retrieveRefund', tag: 'Refunds' },
    summary: 'Shows a refund',
    ...{ scopes: ['read', 'refunds', 'payments'], minPosition: true },
    ...tagged('The refund.', 'RefundAnswer'),
    errors: [ofReads, { 404: ['refund_not_found'] }],
  },
];

const payouts: readonly Operation[] = [
  {
    ...{ method: 'post', path: '/api/v1/payouts', id: 'createPayout', tag: 'Payouts' },
    summary: 'Pays out',
    description:
      'Repeated under the same `Idempotency-Key` (or, without one, the same `orderNumber`) it is carried out once. `destination.card` takes the scope `cards`.',
    ...{ scopes: ['payouts'], idempotencyKey: 'optional', ...calls },
    body: {
      schema: 'PayoutRequest',
      example: {
        ...{ amount: 500, currency: 'EUR', orderNumber: 'payout-1' },
        destination: { bankAccount: { bankName: 'A bank', account: 'DE02120300000000202051' } },
      },
    },
    answers: { ...done('The Payment Service has it.', 'CreatedPayout'), ...unknown('CreatedPayout') },
    errors: [
      {
        400: [
          ...(['incorrect_amount', 'incorrect_currency', 'card_data_not_accepted'] as const),
          'origin_not_allowed',
        ],
        409: ['recurring_token_not_found', 'resolved_as_not_made'],
        422: ['idempotency_key_reused'],
      },
      ofProviderCalls,
    ],
  },
  {
    ...{ method: 'get', path: '/api/v1/payouts', id: 'listPayouts', tag: 'Payouts' },
    summary: 'Lists payouts, newest first',
    ...{ scopes: ['read', 'payouts'], query: 'payouts', minPosition: true },
    answers: done('One page.', 'PayoutList'),
    errors: [ofReads],
  },
  {
    ...{ method: 'get', path: '/api/v1/payouts/{token}', id: 'retrievePayout', tag: 'Payouts' },
    summary: 'Shows a payout',
    ...{ scopes: ['read', 'payouts'], minPosition: true },
    ...tagged('The payout.', 'PayoutAnswer'),
    errors: [ofReads, { 404: ['payout_not_found'] }],
  },
  {
    ...{ method: 'get', path: '/api/v1/payouts/{token}/events', id: 'listPayoutEvents', tag: 'Payouts' },
    summary: 'Shows the whole history of a payout',
    scopes: ['read', 'payouts'],
    answers: done('Every event, in order.', 'PayoutHistory'),
    errors: [{ 404: ['payout_not_found'], 503: ['core_api_error'] }],
  },
];

const others: readonly Operation[] = [
  {
    ...{ method: 'get', path: '/api/v1/balance', id: 'retrieveBalance', tag: 'Money' },
    summary: 'Tells how much money there is in a currency',
    description:
      'As the Payment Service tells it, over the accounts that take your payments; up to a second old.',
    ...{ scopes: ['read', 'payments', 'payouts'], query: 'balance' },
    answers: done('The balance.', 'Balance'),
    errors: [
      { 400: ['incorrect_currency', 'invalid_param'], 409: ['no_account'], 503: ['provider_unavailable'] },
      ofCommands,
    ],
  },
  {
    ...{ method: 'get', path: '/api/v1/totals', id: 'listTotals', tag: 'Money' },
    summary: 'Sums up payments, refunds and payouts by day and currency',
    description:
      'Each payment and payout counts on the day of its creation, in UTC, under the status that it has now. At most 366 days; the last 30 unless you say otherwise. Payouts to keys only with the scope `read` or `payouts`.',
    ...{ scopes: ['read', 'payments'], query: 'totals', minPosition: true },
    answers: done('The totals.', 'Totals'),
    errors: [ofReads],
  },
  {
    ...{ method: 'get', path: '/api/v1/disputes/list', id: 'listDisputes', tag: 'Money' },
    summary: 'Lists the last hundred disputes, newest first',
    ...{ scopes: ['read', 'payments'], minPosition: true },
    answers: done('The disputes.', 'DisputeList'),
    errors: [ofReads],
  },
  {
    ...{ method: 'get', path: '/api/v1/reviews', id: 'listReviews', tag: 'People' },
    summary: 'Lists what waits for a person, oldest first',
    description: 'Of payouts to keys only with the scope `read`, `payouts` or `admin`.',
    ...{ scopes: ['read', 'payments', 'admin'], query: 'reviews', minPosition: true },
    answers: done('One page.', 'ReviewList'),
    errors: [ofReads],
  },
  {
    ...{ method: 'post', path: '/api/v1/reviews/{token}/resolve', id: 'resolveReview', tag: 'People' },
    summary: 'Tells what a person has found out',
    description: 'Who said so, and why, becomes part of the history.',
    ...{ scopes: ['admin'], isCommand: true },
    body: {
      schema: 'Resolution',
      example: {
        code: 'unknown_status',
        number: 1,
        resolution: 'inquire_again',
        reason: 'Asked the Payment Service.',
      },
    },
    answers: done('It is resolved.', 'ResolvedReview'),
    errors: [
      {
        404: ['payment_not_found', 'payout_not_found', 'review_not_found'],
        409: ['resolution_not_allowed'],
      },
      ofCommands,
    ],
  },
];

const webhooksOf = (kind: 'payment' | 'payout'): readonly Operation[] => {
  const path = `/api/v1/${kind}s/{token}/webhooks`;
  const Kind = kind === 'payment' ? 'Payment' : 'Payout';
  return [
    {
      ...{ method: 'get', path, id: `list${Kind}Webhooks`, tag: 'Webhooks' },
      summary: `Shows what your team was told about a ${kind}, and every try`,
      scopes: ['read', `${kind}s`],
      answers: done('The webhooks, oldest first.', 'WebhookList'),
      errors: [{ 404: [`${kind}_not_found`] }, ofCommands],
    },
    {
      ...{ method: 'post', path: `${path}/replay`, id: `replay${Kind}Webhooks`, tag: 'Webhooks' },
      summary: 'Sends webhooks once more',
      description: 'The one with the `id`, or all.',
      scopes: [`${kind}s`],
      body: { schema: 'Replay', example: {}, isOptional: true },
      answers: { 202: { meaning: 'They are sent at once.', schema: 'ReplayedWebhooks' } },
      errors: [{ 404: [`${kind}_not_found`, 'webhook_not_found'], 409: ['too_many_replays'] }, ofCommands],
    },
  ];
};

const aboutTheGateway: readonly Operation[] = [
  {
    ...{ method: 'get', path: '/healthz', id: 'tellHealth', tag: 'Operation' },
    summary: 'The process answers',
    answers: done('It does.', 'Health'),
  },
  {
    ...{ method: 'get', path: '/readyz', id: 'tellReadiness', tag: 'Operation' },
    summary: 'Tells whether everything works',
    description:
      'While `index` is named, payments are taken and found by their tokens, and lists answer 503 `read_model_behind`.',
    answers: {
      ...done('It can.', 'Readiness'),
      503: { meaning: 'It cannot; `notReady` names what is missing.', schema: 'Readiness' },
    },
  },
  {
    ...{ method: 'get', path: '/metrics', id: 'tellMetrics', tag: 'Operation' },
    summary: "What is measured, in Prometheus' text format",
    answers: { 200: { meaning: 'The metrics.', type: 'text/plain' } },
  },
  {
    ...{ method: 'get', path: '/openapi.json', id: 'tellInterface', tag: 'Operation' },
    summary: 'This document',
    answers: { 200: { meaning: 'An OpenAPI 3.1 document.', type: 'application/json' } },
  },
  {
    ...{ method: 'get', path: '/docs', id: 'showInterface', tag: 'Operation' },
    summary: 'This document as a page to read and try',
    answers: { 200: { meaning: 'The page.', type: 'text/html' } },
  },
];

export const operations: readonly Operation[] = [
  ...payments,
  ...refunds,
  ...payouts,
  ...others,
  ...webhooksOf('payment'),
  ...webhooksOf('payout'),
  ...aboutTheGateway,
];

/** Everything that a call may answer beside what it is for. */
export const errorGroupsOf = ({ scopes, body, errors = [] }: Operation): readonly Errors[] => [
  ...(body === undefined ? [] : [withBody]),
  ...errors,
  ...(scopes === undefined ? [] : [underKey]),
];
