/** The routes of the interface (specification, section 4), behind the bearer key. */
import { balanceQuerySchema, paymentNameSchema, refundRequestSchema } from '@tollgate/payment-api';
import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import { createApiCall, type ApiCallDeps, type Ending, type HandleCall } from './api-calls.ts';
import {
  readCreation,
  readListQuery,
  readPayout,
  readRequest,
  toRecordFilter,
  type Read,
} from './api-requests.ts';
import {
  creationAnswer,
  payoutAnswer,
  refundAnswer,
  refusal,
  success,
  toListedPayout,
  toServiceDispute,
  toServicePayment,
  type ProcessingUrl,
} from './answers.ts';
import type { MoneyMovements } from './money-movements.ts';
import { paymentNotFound, type Result } from './payment-changes.ts';
import type { Payment } from './payments.ts';
import type { Merchant } from './storage/merchants-table.ts';
import type { Tables } from './storage/tables.ts';

export type ApiRoutesDeps = ApiCallDeps & MoneyMovements & Tables & { processingUrl: ProcessingUrl };

const listedDisputesMax = 100;
const disputesQuerySchema = z.strictObject({});

export function registerApiRoutes(app: FastifyInstance, deps: ApiRoutesDeps): void {
  const { now, changes, processingUrl, refund, payOut } = deps;
  const call = createApiCall(deps);
  const created = (payment: Payment): Ending => ({
    answer: creationAnswer(payment, processingUrl),
    effect: 'created',
    token: payment.token,
  });
  const ended = (effect: 'confirmed' | 'declined') => (payment: Payment) => ({
    answer: success({ payment: toServicePayment(payment, processingUrl) }),
    effect,
    token: payment.token,
    orderNumber: payment.orderNumber,
  });
  const creations = changing((body) => readCreation(body, now()), changes.create, created);
  const readName = (body: unknown) => readRequest(paymentNameSchema, body);
  const confirmations = changing(
    readName,
    (merchant, { token }) => changes.confirm(merchant, token),
    ended('confirmed'),
  );
  const declines = changing(
    readName,
    (merchant, { token }) => changes.decline(merchant, token),
    ended('declined'),
  );
  const refunds = changing(
    (body) => readRequest(refundRequestSchema, body),
    refund,
    (made): Ending => ({
      answer: refundAnswer(made),
      effect: 'created',
      token: made.token,
      orderNumber: made.orderNumber,
    }),
  );
  const payouts = changing(
    (body) => readPayout(body, now()),
    payOut,
    (made): Ending => ({ answer: payoutAnswer(made), effect: 'created', token: made.token }),
  );
  app.post('/api/v1/payments', call('create', creations));
  app.get('/api/v1/payments', call('list', listPayments(deps)));
  app.get('/api/v1/payments/:token', call('get', retrievePayment(deps)));
  app.post('/api/v1/payments/confirm', call('confirm', confirmations));
  app.post('/api/v1/payments/decline', call('decline', declines));
  app.post('/api/v1/refunds', call('refund', refunds));
  app.post('/api/v1/payouts', call('payout', payouts));
  app.get('/api/v1/balance', call('balance', readBalance(deps)));
  app.get('/api/v1/disputes/list', call('disputes', listDisputes(deps)));
}

/** An operation with an effect. */
const changing =
  <Body, Value>(
    read: (body: unknown) => Read<Body>,
    change: (merchant: Merchant, body: Body) => Result<Value>,
    toEnding: (value: Value) => Ending,
  ): HandleCall =>
  (request, merchant) => {
    const { value, faults } = read(request.body);
    if (faults !== undefined) return { answer: refusal(...faults) };
    const result = change(merchant, value);
    return result.refused === undefined ? toEnding(result.value) : { answer: refusal(result.refused) };
  };

/** A payment or a payout. */
function retrievePayment({ payments, payouts, processingUrl }: ApiRoutesDeps): HandleCall {
  return (request, merchant) => {
    const { token } = request.params as { token: string };
    const payment = payments.find(token);
    const payout = payment === undefined ? payouts.find(token) : undefined;
    const found = payment ?? payout;
    if (found?.merchantId !== merchant.id) return { answer: refusal(paymentNotFound()) };
    const shown =
      payment === undefined ? payout && toListedPayout(payout) : toServicePayment(payment, processingUrl);
    return { answer: success({ payment: shown }), token: found.token, orderNumber: found.orderNumber };
  };
}

function listPayments({ payments, payouts, processingUrl }: ApiRoutesDeps): HandleCall {
  return (request, merchant) => {
    const { value, faults } = readListQuery(request.query);
    if (faults !== undefined) return { answer: refusal(...faults) };
    const { page, perPage, operationType } = value;
    const filter = toRecordFilter(merchant.id, value);
    const part = { offset: (page - 1) * perPage, limit: perPage };
    const isOfPayments = operationType === 'pays';
    const shown = isOfPayments
      ? payments.list(filter, part).map((payment) => toServicePayment(payment, processingUrl))
      : payouts.list(filter, part).map(toListedPayout);
    const totalCount = (isOfPayments ? payments : payouts).count(filter);
    return { answer: success({ payments: shown, totalCount, page, perPage }) };
  };
}

function readBalance({ wallets }: ApiRoutesDeps): HandleCall {
  return (request, merchant) => {
    const { value, faults } = readRequest(balanceQuerySchema, request.query);
    if (faults !== undefined) return { answer: refusal(...faults) };
    return { answer: success({ wallet: wallets.of({ merchantId: merchant.id, currency: value.currency }) }) };
  };
}

function listDisputes({ disputes }: ApiRoutesDeps): HandleCall {
  return (request, merchant) => {
    const { faults } = readRequest(disputesQuerySchema, request.query);
    if (faults !== undefined) return { answer: refusal(...faults) };
    const newest = disputes.list({ merchantId: merchant.id }, { limit: listedDisputesMax });
    return { answer: success({ disputes: newest.map(toServiceDispute) }) };
  };
}
