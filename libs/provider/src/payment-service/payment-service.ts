/**
 * The Payment Service behind the port (specification, sections 4 and 5): requests in its terms, outcomes in ours. No operation
 * rejects, regardless of the peer or the network. Each is sent once; see {@link ServiceOutcome} for what its end proves.
 */
import {
  pageRows,
  type AuthorizeRequest,
  type CallOutcome,
  type InquiryOutcome,
  type MaySend,
  type PageQuery,
  type Provider,
} from '@tollgate/core';
import { amountSchema, type ApiError } from '@tollgate/core/money';
import type { CreatePaymentRequest } from '@tollgate/payment-api';
import {
  readBalance,
  readCreation,
  readDisputes,
  readHoldEnd,
  readPageOfPayments,
  readPageOfPayouts,
  readPayment,
  readPayments,
  readPayout,
  readPayoutCreation,
  readPayouts,
  readRefund,
} from './answers.ts';
import { classify, type AnswerReader, type ServiceOutcome } from './classify.ts';
import { readOptions, type PaymentServiceClientOptions } from './client-options.ts';
import { createExchange, type ExchangeRequest } from './exchange.ts';
import { secretsOfCreation, secretsOfPayout } from './secrets.ts';
import {
  toAuthorization,
  toComparable,
  toFound,
  toFoundDispute,
  toObservedIfShown,
  toPayout,
  toRefund,
} from './translate.ts';

/** @throws PaymentServiceClientError if an option is unusable; plain HTTP is refused here. */
export function createPaymentService(options: PaymentServiceClientOptions): Provider {
  const { basePath, ...connection } = readOptions(options);
  const exchange = createExchange({ ...connection, clock: options.clock, connections: options.connections });
  const call: Call = async (request, read, { secrets = [], maySend = always, answerWithinMs } = {}) => {
    if ('kind' in request) return request;
    const key = options.privateKey.reveal();
    const path = `${basePath}/api/v1${request.path}`;
    const result = await exchange.send(
      { ...request, path, headers: headersOf(request, key) },
      maySend,
      answerWithinMs,
    );
    return classify(result, read, [key, ...secrets]);
  };
  return { ...movingCalls(call), ...inquiryCalls(call), close: () => exchange.close() };
}

const always: MaySend = () => true;

type Request = Omit<ExchangeRequest, 'headers'>;
type Unusable = { kind: 'not-sent'; reason: string };

type Call = <Answer>(
  request: Request | Unusable,
  read: AnswerReader<Answer>,
  options?: { secrets?: string[]; maySend?: MaySend; answerWithinMs?: number | undefined },
) => Promise<ServiceOutcome<Answer>>;

function movingCalls(call: Call) {
  return {
    authorize: async ({ answerWithinMs, ...asked }, maySend) => {
      const request = toCreateRequest(asked);
      const secrets = secretsOfCreation(request);
      const sent = { secrets, maySend, answerWithinMs };
      return ended(await call(post('/payments', request), readCreation, sent), toAuthorization);
    },
    capture: async (token, maySend) =>
      ended(
        await call(post('/payments/confirm', { token }), readHoldEnd(token), { maySend }),
        toObservedIfShown,
      ),
    void: async (token, maySend) =>
      ended(
        await call(post('/payments/decline', { token }), readHoldEnd(token), { maySend }),
        toObservedIfShown,
      ),
    refund: async ({ serviceToken: token, amount }, maySend) => {
      // JSON has no NaN and writes null, which a service may read as no amount: a refund of everything.
      const isUsable = amountSchema.safeParse(amount).success;
      const request = isUsable ? post('/refunds', { token, amount }) : unusable('amount');
      return ended(await call(request, readRefund(token), { maySend }), toRefund);
    },
    payout: async (request, maySend) => {
      const sent = { secrets: secretsOfPayout(request), maySend };
      const read = readPayoutCreation(request.orderNumber);
      return ended(await call(post('/payouts', request), read, sent), ({ payout }) => toPayout(payout));
    },
  } satisfies Partial<Provider>;
}

function inquiryCalls(call: Call) {
  return {
    inquirePayment: async (token) => inquired(await call(retrieval(token), readPayment(token)), toFound),
    inquirePayout: async (token) => inquired(await call(retrieval(token), readPayout(token)), toPayout),
    listPayments: async ({ orderNumber }) =>
      inquired(await call(listOf({ orderNumber }), readPayments(orderNumber)), (all) => all.map(toFound)),
    listPayouts: async ({ orderNumber }) =>
      inquired(
        await call(listOf({ operationType: 'payouts', orderNumber }), readPayouts(orderNumber)),
        (all) => all.map(toPayout),
      ),
    pageOfPayments: async (query) =>
      inquired(await call(pageOf('pays', query), readPageOfPayments(query)), (page) => ({
        ...page,
        found: page.found.map(toComparable),
      })),
    pageOfPayouts: async (query) =>
      inquired(await call(pageOf('payouts', query), readPageOfPayouts(query)), (page) => ({
        ...page,
        found: page.found.map(toPayout),
      })),
    balance: async (currency) =>
      inquired(await call(get('/balance', { currency }), readBalance(currency)), ({ available, hold }) => ({
        currency,
        available,
        hold,
      })),
    listDisputes: async () =>
      inquired(await call(get('/disputes/list'), readDisputes), ({ found, unreadable }) => ({
        found: found.map(toFoundDispute),
        unreadable,
      })),
  } satisfies Partial<Provider>;
}

const post = (path: string, body: object): Request => ({ method: 'POST', path, body: JSON.stringify(body) });

const get = (path: string, query: Record<string, string> = {}): Request => {
  const parameters = new URLSearchParams(query).toString();
  return { method: 'GET', path: parameters === '' ? path : `${path}?${parameters}` };
};

/** Not sent for text that no encoding keeps inside its path segment: empty, dots, half of a surrogate pair. */
const retrieval = (token: string): Request | Unusable =>
  token === '' || token === '.' || token === '..' || !token.isWellFormed()
    ? unusable('token')
    : get(`/payments/${encodeURIComponent(token)}`);

/**
 * Not sent for an order number that a query cannot carry: services ignore an empty one, and half of a surrogate pair arrives as
 * another. That list would prove nothing about this one.
 */
const listOf = (query: { operationType?: string; orderNumber: string }): Request | Unusable =>
  query.orderNumber !== '' && query.orderNumber.isWellFormed()
    ? get('/payments', query)
    : unusable('order number');

const pageOf = (operationType: 'pays' | 'payouts', { from, to, page }: PageQuery): Request =>
  get('/payments', {
    operationType,
    dateFrom: from,
    dateTo: to,
    page: String(page),
    perPage: String(pageRows),
  });

const unusable = (what: 'token' | 'order number' | 'amount'): Unusable => ({
  kind: 'not-sent',
  reason: `unusable ${what}`,
});

/** An encoded answer would be unreadable, so none is requested. */
const headersOf = (request: Pick<ExchangeRequest, 'body'>, key: string): Record<string, string> => ({
  authorization: `Bearer ${key}`,
  accept: 'application/json',
  'accept-encoding': 'identity',
  ...(request.body === undefined ? {} : { 'content-type': 'application/json' }),
});

function toCreateRequest({ isCaptureDeferred, isRecurring, source, ...request }: AuthorizeRequest) {
  return {
    ...request,
    ...source,
    ...(isCaptureDeferred ? { needConfirmation: true } : {}),
    ...(isRecurring ? { recurring: true } : {}),
  } satisfies CreatePaymentRequest;
}

const accountErrorKinds: readonly string[] = ['authentication_error', 'settings_error'];

function ended<Answer, Known extends object>(
  outcome: ServiceOutcome<Answer>,
  toKnown: (answer: Answer) => Known,
): CallOutcome<Known> {
  if (outcome.kind === 'accepted') return { ...toKnown(outcome.answer), kind: 'accepted' };
  if (outcome.kind !== 'refused') return outcome;
  const { errors } = outcome;
  if (errors.some(isAboutOrderNumber)) return { kind: 'unknown', reason: 'the order number was refused' };
  const isAccountRefused = errors.some(({ kind }) => accountErrorKinds.includes(kind));
  return { kind: 'refused', errors, ...(isAccountRefused ? { isAccountRefused } : {}) };
}

/**
 * Our numbers are unique and well formed: an invalid one already exists, by this very call, delivered twice. An inquiry finds
 * it. Section 7 lists no codes, so the
 * parameter counts as well.
 */
const isAboutOrderNumber = ({ code, parameter }: ApiError): boolean =>
  code === 'order_number_already_exists' || parameter === 'orderNumber';

function inquired<Answer, Known>(
  outcome: ServiceOutcome<Answer>,
  toKnown: (answer: Answer) => Known,
): InquiryOutcome<Known> {
  const isMissing =
    outcome.kind === 'refused' && outcome.errors.some(({ code }) => code === 'payment_not_found');
  return isMissing ? { kind: 'missing' } : ended(outcome, (answer) => ({ answer: toKnown(answer) }));
}
