/** The routes of payments (specification, section 4), behind the bearer key. */
import { paymentNameSchema } from '@tollgate/payment-api';
import type { FastifyInstance } from 'fastify';
import { createApiCall, type ApiCallDeps, type Ending, type HandleCall } from './api-calls.ts';
import { readCreation, readListQuery, readRequest, toPaymentFilter } from './api-requests.ts';
import {
  creationAnswer,
  refusal,
  success,
  toListedPayout,
  toServicePayment,
  type Answer,
  type ProcessingUrl,
} from './answers.ts';
import type { CallbackDelivery } from './callbacks.ts';
import { paymentNotFound, type Changed, type PaymentChanges } from './payment-changes.ts';
import type { OperationsList } from './storage/operations-list.ts';
import type { PaymentsTable } from './storage/payments-table.ts';
import type { Payout, RecordsTable } from './storage/records-table.ts';

export interface ApiRoutesDeps extends ApiCallDeps {
  changes: PaymentChanges;
  payments: PaymentsTable;
  payouts: Pick<RecordsTable<Payout>, 'find'>;
  operations: OperationsList;
  delivery: Pick<CallbackDelivery, 'sendNow'>;
  processingUrl: ProcessingUrl;
}

export function registerApiRoutes(app: FastifyInstance, deps: ApiRoutesDeps): void {
  const call = createApiCall(deps);
  app.post('/api/v1/payments', call('create', createPayment(deps)));
  app.get('/api/v1/payments', call('list', listPayments(deps)));
  app.get('/api/v1/payments/:token', call('get', retrievePayment(deps)));
  app.post('/api/v1/payments/confirm', call('confirm', endHold(deps, 'confirm', 'confirmed')));
  app.post('/api/v1/payments/decline', call('decline', endHold(deps, 'decline', 'declined')));
}

function createPayment({ changes, faults, delivery, processingUrl, now }: ApiRoutesDeps): HandleCall {
  const toAnswer = (created: Changed): Answer =>
    created.refused === undefined ? creationAnswer(created.payment, processingUrl) : refusal(created.refused);

  return async (request, merchant, note) => {
    const read = readCreation(request.body, now());
    if (read.faults !== undefined) return { answer: refusal(...read.faults) };
    const created = await changes.create(merchant, read.value, (result) => {
      const answer = toAnswer(result);
      note(
        result.payment === undefined
          ? { answer }
          : { answer, effect: 'created', token: result.payment.token },
      );
    });
    if (created.payment !== undefined && faults.take(merchant.id, 'callback', ['before_reply']) !== undefined)
      await delivery.sendNow(created.payment);
    return { answer: toAnswer(created), isNoted: true };
  };
}

/** Confirms or declines a two-step payment, always the whole amount. */
function endHold(
  { changes, processingUrl }: ApiRoutesDeps,
  how: 'confirm' | 'decline',
  effect: 'confirmed' | 'declined',
): HandleCall {
  const toEnding = ({ payment, refused }: Changed): Ending => {
    if (refused !== undefined) return { answer: refusal(refused) };
    const answer = success({ payment: toServicePayment(payment, processingUrl) });
    return { answer, effect, token: payment.token, orderNumber: payment.orderNumber };
  };

  return async (request, merchant, note) => {
    const read = readRequest(paymentNameSchema, request.body);
    if (read.faults !== undefined) return { answer: refusal(...read.faults) };
    const changed = await changes[how](merchant, read.value.token, (result) => note(toEnding(result)));
    return { ...toEnding(changed), isNoted: true };
  };
}

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

function listPayments({ operations, processingUrl }: ApiRoutesDeps): HandleCall {
  return (request, merchant) => {
    const read = readListQuery(request.query);
    if (read.faults !== undefined) return { answer: refusal(...read.faults) };
    const { page, perPage, operationType } = read.value;
    const filter = toPaymentFilter(merchant.id, read.value);
    const found = operations.list(operationType, filter, { offset: (page - 1) * perPage, limit: perPage });
    const shown = found.map(({ payment, payout }) =>
      payment === undefined ? toListedPayout(payout) : toServicePayment(payment, processingUrl),
    );
    const totalCount = operations.count(operationType, filter);
    return { answer: success({ payments: shown, totalCount, page, perPage }) };
  };
}
