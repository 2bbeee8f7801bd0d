/** The routes of the interface (specification, section 4), behind the bearer key. */
import type { FastifyInstance } from 'fastify';
import { createApiCall, type ApiCallDeps, type HandleCall } from './api-calls.ts';
import { readCreation, readListQuery, toPaymentFilter } from './api-requests.ts';
import {
  creationAnswer,
  refusal,
  success,
  toServicePayment,
  type Answer,
  type ProcessingUrl,
} from './answers.ts';
import type { CallbackDelivery } from './callbacks.ts';
import { paymentNotFound, type Changed, type PaymentChanges } from './payment-changes.ts';
import type { PaymentsTable } from './storage/payments-table.ts';

export interface ApiRoutesDeps extends ApiCallDeps {
  changes: PaymentChanges;
  payments: PaymentsTable;
  delivery: Pick<CallbackDelivery, 'sendNow'>;
  processingUrl: ProcessingUrl;
}

export function registerApiRoutes(app: FastifyInstance, deps: ApiRoutesDeps): void {
  const call = createApiCall(deps);
  app.post('/api/v1/payments', call('create', createPayment(deps)));
  app.get('/api/v1/payments', call('list', listPayments(deps)));
  app.get('/api/v1/payments/:token', call('get', retrievePayment(deps)));
}

function createPayment({ changes, faults, delivery, processingUrl }: ApiRoutesDeps): HandleCall {
  const toAnswer = (created: Changed): Answer =>
    created.refused === undefined ? creationAnswer(created.payment, processingUrl) : refusal(created.refused);

  return async (request, merchant, note) => {
    const read = readCreation(request.body);
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

function retrievePayment({ payments, processingUrl }: ApiRoutesDeps): HandleCall {
  return (request, merchant) => {
    const { token } = request.params as { token: string };
    const payment = payments.find(token);
    if (payment?.merchantId !== merchant.id) return { answer: refusal(paymentNotFound()) };
    const answer = success({ payment: toServicePayment(payment, processingUrl) });
    return { answer, token: payment.token, orderNumber: payment.orderNumber };
  };
}

function listPayments({ payments, processingUrl }: ApiRoutesDeps): HandleCall {
  return (request, merchant) => {
    const read = readListQuery(request.query);
    if (read.faults !== undefined) return { answer: refusal(...read.faults) };
    const { page, perPage, operationType } = read.value;
    // There are no payouts, so a list of them is empty.
    if (operationType === 'payouts')
      return { answer: success({ payments: [], totalCount: 0, page, perPage }) };
    const filter = toPaymentFilter(merchant.id, read.value);
    const found = payments.list(filter, { offset: (page - 1) * perPage, limit: perPage });
    const shown = found.map((payment) => toServicePayment(payment, processingUrl));
    return { answer: success({ payments: shown, totalCount: payments.count(filter), page, perPage }) };
  };
}
