/** The typed HTTPS client of the Payment Service (specification, sections 4 and 5). */
import {
  type ReadDisputes,
  readBalance,
  readCreation,
  readDisputes,
  readHoldEnd,
  readPayment,
  readPageOfPayments,
  readPageOfPayouts,
  readPayments,
  readPayout,
  readPayoutCreation,
  readPayouts,
  readRefund,
  type ComparableRow,
} from './answers.ts';
import { classify, type AnswerReader, type ServiceOutcome } from './classify.ts';
import { readOptions, type PaymentServiceClientOptions } from './client-options.ts';
import { createExchange, type ExchangeRequest } from './exchange.ts';
import type {
  CreatePaymentAnswer,
  CreatePaymentRequest,
  PayoutAnswer,
  PayoutRequest,
  RefundAnswer,
  RefundRequest,
  ServiceBalance,
  ServicePayment,
  ServicePayout,
} from '@tollgate/payment-api';
import { pageRows, type MaySend, type Page, type PageQuery } from '@tollgate/core';
import { secretsOfCreation, secretsOfPayout } from './secrets.ts';
import { amountSchema } from '@tollgate/core/money';

/**
 * The operations of the Payment Service. None rejects, regardless of the peer or the network. Each is sent once; see
 * {@link ServiceOutcome} for what its end proves. Amounts are in minor units and as the service returns them: the
 * caller checks them.
 */
export interface PaymentServiceClient {
  createPayment(
    request: CreatePaymentRequest,
    maySend?: MaySend,
    /** How long the answer is waited for; absent: as long as for every call. */
    answerWithinMs?: number,
  ): Promise<ServiceOutcome<CreatePaymentAnswer>>;
  /** An unknown token is `refused` with the code `payment_not_found`. */
  retrievePayment(token: string): Promise<ServiceOutcome<ServicePayment>>;
  /** Newest first; an empty list is `accepted` only if proven. */
  listPayments(query: { orderNumber: string }): Promise<ServiceOutcome<ServicePayment[]>>;
  /** Captures all authorized money of a two-step payment. Without a payment if the service shows none. */
  confirmPayment(token: string, maySend?: MaySend): Promise<ServiceOutcome<ServicePayment | undefined>>;
  /** Voids all authorized money of a two-step payment. Without a payment if the service shows none. */
  declinePayment(token: string, maySend?: MaySend): Promise<ServiceOutcome<ServicePayment | undefined>>;
  /** Default amount: all that is left. An accepted refund may have any status, including `declined`. */
  refundPayment(request: RefundRequest, maySend?: MaySend): Promise<ServiceOutcome<RefundAnswer>>;
  /** An accepted payout may have any status, including `declined`. */
  createPayout(request: PayoutRequest, maySend?: MaySend): Promise<ServiceOutcome<PayoutAnswer>>;
  /** An unknown token is `refused` with the code `payment_not_found`. */
  retrievePayout(token: string): Promise<ServiceOutcome<ServicePayout>>;
  /** Newest first; an empty list is `accepted` only if proven. */
  listPayouts(query: { orderNumber: string }): Promise<ServiceOutcome<ServicePayout[]>>;
  /** One page of payments created on some days, newest first; `accepted` only if proven to be that page. */
  pageOfPayments(query: PageQuery): Promise<ServiceOutcome<Page<ComparableRow>>>;
  pageOfPayouts(query: PageQuery): Promise<ServiceOutcome<Page<ServicePayout>>>;
  retrieveBalance(currency: string): Promise<ServiceOutcome<ServiceBalance>>;
  /** The newest disputes: a missing one may still exist. */
  listDisputes(): Promise<ServiceOutcome<ReadDisputes>>;
  /** Waits for the calls under way, at most one deadline; later calls are `not-sent`. */
  close(): Promise<void>;
}

/** @throws PaymentServiceClientError if an option is unusable; plain HTTP is refused here. */
export function createPaymentServiceClient(options: PaymentServiceClientOptions): PaymentServiceClient {
  const { basePath, ...connection } = readOptions(options);
  const exchange = createExchange({
    ...connection,
    clock: options.clock,
    connections: options.connections,
  });

  const call: Call = async (request, read, { secrets = [], maySend = always, answerWithinMs } = {}) => {
    const key = options.privateKey.reveal();
    const path = `${basePath}/api/v1${request.path}`;
    const result = await exchange.send(
      { ...request, path, headers: headersOf(request, key) },
      maySend,
      answerWithinMs,
    );
    return classify(result, read, [key, ...secrets]);
  };
  return { ...paymentCalls(call), ...moneyCalls(call), close: () => exchange.close() };
}

const always: MaySend = () => true;

type Call = <Answer>(
  request: Omit<ExchangeRequest, 'headers'>,
  read: AnswerReader<Answer>,
  options?: {
    secrets?: string[];
    maySend?: MaySend | undefined;
    answerWithinMs?: number | undefined;
  },
) => Promise<ServiceOutcome<Answer>>;

function paymentCalls(call: Call) {
  return {
    createPayment: async (request, maySend, answerWithinMs) =>
      call(post('/payments', request), readCreation, {
        secrets: secretsOfCreation(request),
        maySend,
        answerWithinMs,
      }),
    retrievePayment: async (token) => {
      const segment = toPathSegment(token);
      return segment === undefined
        ? unusable('token')
        : call(get(`/payments/${segment}`), readPayment(token));
    },
    listPayments: async ({ orderNumber }) =>
      isUsable(orderNumber)
        ? call(get('/payments', { orderNumber }), readPayments(orderNumber))
        : unusable('order number'),
    pageOfPayments: async (query) =>
      call(get('/payments', { operationType: 'pays', ...toPageFilter(query) }), readPageOfPayments(query)),
    confirmPayment: async (token, maySend) =>
      call(post('/payments/confirm', { token }), readHoldEnd(token), { maySend }),
    declinePayment: async (token, maySend) =>
      call(post('/payments/decline', { token }), readHoldEnd(token), { maySend }),
  } satisfies Partial<PaymentServiceClient>;
}

function moneyCalls(call: Call) {
  return {
    refundPayment: async (request, maySend) =>
      // JSON has no NaN and writes null, which a service may read as no amount: a refund of everything.
      amountSchema.optional().safeParse(request.amount).success
        ? call(post('/refunds', request), readRefund(request.token), { maySend })
        : unusable('amount'),
    createPayout: async (request, maySend) =>
      call(post('/payouts', request), readPayoutCreation(request.orderNumber), {
        secrets: secretsOfPayout(request),
        maySend,
      }),
    retrievePayout: async (token) => {
      const segment = toPathSegment(token);
      return segment === undefined ? unusable('token') : call(get(`/payments/${segment}`), readPayout(token));
    },
    listPayouts: async ({ orderNumber }) =>
      isUsable(orderNumber)
        ? call(get('/payments', { operationType: 'payouts', orderNumber }), readPayouts(orderNumber))
        : unusable('order number'),
    pageOfPayouts: async (query) =>
      call(get('/payments', { operationType: 'payouts', ...toPageFilter(query) }), readPageOfPayouts(query)),
    retrieveBalance: async (currency) => call(get('/balance', { currency }), readBalance(currency)),
    listDisputes: async () => call(get('/disputes/list'), readDisputes),
  } satisfies Partial<PaymentServiceClient>;
}

const post = (path: string, body: object) => ({ method: 'POST', path, body: JSON.stringify(body) }) as const;

const get = (path: string, query: Record<string, string | number> = {}) =>
  ({ method: 'GET', path: `${path}${toQueryString(query)}` }) as const;

const toPageFilter = ({ from, to, page }: PageQuery) =>
  ({ dateFrom: from, dateTo: to, page, perPage: pageRows }) as const;

const unusable = (what: 'token' | 'order number' | 'amount') =>
  ({ kind: 'not-sent', reason: `unusable ${what}` }) as const;

/**
 * False for an order number that a query cannot carry: services ignore an empty one, and half of a surrogate pair
 * arrives as another. That list would prove nothing about this one.
 */
const isUsable = (orderNumber: string): boolean => orderNumber !== '' && orderNumber.isWellFormed();

/** An encoded answer would be unreadable, so none is requested. */
const headersOf = (request: Pick<ExchangeRequest, 'body'>, key: string): Record<string, string> => ({
  authorization: `Bearer ${key}`,
  accept: 'application/json',
  'accept-encoding': 'identity',
  ...(request.body === undefined ? {} : { 'content-type': 'application/json' }),
});

/** Undefined for text that no encoding keeps inside its path segment: empty, dots, half of a surrogate pair. */
const toPathSegment = (token: string): string | undefined =>
  token === '' || token === '.' || token === '..' || !token.isWellFormed()
    ? undefined
    : encodeURIComponent(token);

function toQueryString(query: Record<string, string | number>): string {
  const parameters = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) parameters.set(name, String(value));
  return parameters.size === 0 ? '' : `?${parameters.toString()}`;
}
