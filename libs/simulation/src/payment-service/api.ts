/** The interface of the specification on top of the ledger: takes a request as sent and returns its answer. */
import { toBareAnswer, withoutFilters } from '@tollgate/provider/bare';
import type { Faults } from '../faults/faults.ts';
import type { Random } from '../world/random.ts';
import type { Ledger, LedgerPayment, LedgerPayout } from './ledger.ts';

export interface ServiceRequest {
  account: string;
  method: string;
  path: string;
  /** Empty for a GET. */
  body: Record<string, unknown>;
}

export interface ServiceAnswer {
  statusCode: number;
  body: string;
}

export const movesMoney = ({ method }: Pick<ServiceRequest, 'method'>): boolean => method === 'POST';

interface Service {
  ledger: Ledger;
  /** Decides the outcome of cards, refunds and payouts. */
  random: Random;
  options: Pick<Faults, 'saysRefundedEarly' | 'showsDisputedPayments' | 'isBare'>;
}

export function createServiceApi(ledger: Ledger, random: Random, options: Service['options']) {
  const service = { ledger, random, options };
  const answerOf = (request: ServiceRequest): ServiceAnswer => {
    const { pathname, searchParams } = new URL(request.path, 'https://service.sim');
    const path = pathname.replace('/api/v1', '');
    return movesMoney(request)
      ? post(service, path, request)
      : get(service, path, searchParams, request.account);
  };
  return options.isBare
    ? (request: ServiceRequest) => toBareAnswer(request, answerOf(withoutFilters(request)))
    : answerOf;
}

const json = (body: object, statusCode = 200): ServiceAnswer => ({ statusCode, body: JSON.stringify(body) });
export const refusal = (code: string, kind = 'processing_error', statusCode = 409): ServiceAnswer =>
  json({ success: false, errors: [{ code, kind, message: code }] }, statusCode);
const unknownToken = () => refusal('payment_not_found', 'invalid_request_error', 404);

function post(service: Service, path: string, { account, body }: ServiceRequest): ServiceAnswer {
  const { ledger, random } = service;
  if (path === '/payments') return create(service, account, body);
  if (path === '/payouts') return payOut(service, account, body);
  const payment = ledger.findPayment(text(body['token']));
  if (payment === undefined) return unknownToken();
  if (path === '/refunds') {
    const rest = payment.amount - payment.refundedAmount;
    const amount = typeof body['amount'] === 'number' ? body['amount'] : rest;
    const outcome = random.pick(['approved', 'approved', 'approved', 'pending', 'declined'] as const);
    const refund = ledger.refund(payment, amount, outcome);
    if (refund === undefined) return refusal('refund_exceeds_amount');
    const { token, status } = refund;
    return json({ success: true, token, refund: { token, amount, currency: payment.currency, status } });
  }
  const isDone = path === '/payments/confirm' ? ledger.capture(payment) : ledger.void(payment);
  return isDone
    ? json({ success: true, payment: toShown(service.options, payment) })
    : refusal('payment_not_confirmable');
}

const termsOf = (account: string, body: Record<string, unknown>) => ({
  account,
  orderNumber: text(body['orderNumber']),
  callbackUrl: text(body['callbackUrl']),
  amount: Number(body['amount']),
  currency: text(body['currency']),
});

function payOut({ ledger, random }: Service, account: string, body: Record<string, unknown>): ServiceAnswer {
  const { recurringToken } = (body['destination'] ?? {}) as { recurringToken?: string };
  if (!isKnownToken(ledger, account, recurringToken)) return refusal('recurring_token_not_found');
  const outcome = random.pick(['approved', 'approved', 'pending', 'declined'] as const);
  return json({ success: true, payout: toShownPayout(ledger.payOut(termsOf(account, body), outcome)) });
}

function create({ ledger, random }: Service, account: string, body: Record<string, unknown>): ServiceAnswer {
  const isHosted = body['card'] === undefined && body['recurringToken'] === undefined;
  if (!isKnownToken(ledger, account, body['recurringToken'])) return refusal('recurring_token_not_found');
  const payment = ledger.add({
    ...termsOf(account, body),
    isHosted,
    needConfirmation: body['needConfirmation'] === true,
    isRecurring: body['recurring'] === true,
  });
  if (!isHosted) ledger.pay(payment, random.chance(0.85));
  const { token, amount, currency, status } = payment;
  const processingUrl = isHosted ? pageOf(payment) : undefined;
  return json({ success: true, token, processingUrl, payment: { amount, currency, status } });
}

/** A token charges only through the account it was issued for. */
const isKnownToken = ({ payments }: Ledger, account: string, token: unknown): boolean =>
  token === undefined || payments.some((each) => each.recurringToken === token && each.account === account);

export const pageOf = ({ token }: Pick<LedgerPayment, 'token'>): string =>
  `https://service.sim/checkout/${token}`;

function get(service: Service, path: string, query: URLSearchParams, account: string): ServiceAnswer {
  const { ledger } = service;
  if (path === '/balance')
    return json({
      success: true,
      wallet: { currency: query.get('currency'), available: 1_000_000, hold: 0 },
    });
  if (path === '/disputes/list') return json({ success: true, disputes: listDisputes(service, account) });
  if (path === '/payments') return json(list(service, query, account));
  const token = decodeURIComponent(path.replace('/payments/', ''));
  const payment = ledger.findPayment(token);
  if (payment !== undefined) return json({ success: true, payment: toShown(service.options, payment) });
  const payout = ledger.payouts.find((each) => each.token === token);
  return payout === undefined ? unknownToken() : json({ success: true, payment: toShownPayout(payout) });
}

function list(service: Service, query: URLSearchParams, account: string) {
  const { payments, payouts } = service.ledger;
  const [orderNumber, from, to] = [query.get('orderNumber'), query.get('dateFrom'), query.get('dateTo')];
  const [page, perPage] = [Number(query.get('page') ?? 1), Number(query.get('perPage') ?? 20)];
  const isAskedFor = (each: LedgerPayment | LedgerPayout): boolean => {
    const day = new Date(each.createdAt).toISOString().slice(0, 10);
    const isOfDay = (from === null || day >= from) && (to === null || day <= to);
    return each.account === account && (orderNumber === null || each.orderNumber === orderNumber) && isOfDay;
  };
  const found =
    query.get('operationType') === 'payouts'
      ? payouts.filter(isAskedFor).map(toShownPayout)
      : payments.filter(isAskedFor).map((each) => toShown(service.options, each));
  const shown = found.toReversed().slice((page - 1) * perPage, page * perPage);
  return { success: true, payments: shown, totalCount: found.length, page, perPage };
}

const disputesMax = 100;

const listDisputes = ({ ledger, options }: Service, account: string) =>
  ledger.disputes
    .filter((dispute) => dispute.account === account)
    .toReversed()
    .slice(0, disputesMax)
    .map(({ payment, ...dispute }) => ({
      ...dispute,
      ...timesOf(dispute),
      status: dispute.statuses.at(-1),
      type: 'chargeback',
      reasonCode: '4853',
      token: options.showsDisputedPayments ? payment : undefined,
    }));

/** Like any service, this one shows more than the specification names. */
function toShown({ saysRefundedEarly }: Service['options'], payment: LedgerPayment) {
  const { status, refundedAmount, isHosted } = payment;
  const isPartlyRefunded = status === 'approved' && refundedAmount > 0;
  return {
    ...payment,
    ...timesOf(payment),
    status: saysRefundedEarly && isPartlyRefunded ? 'refunded' : status,
    product: 'Tea',
    processingUrl: isHosted && status === 'init' ? pageOf(payment) : undefined,
  };
}

const toShownPayout = (payout: LedgerPayout) => ({
  ...payout,
  ...timesOf(payout),
  operationType: 'payouts',
});

const timesOf = ({ createdAt, updatedAt }: Record<'createdAt' | 'updatedAt', number>) => ({
  createdAt: new Date(createdAt).toISOString(),
  updatedAt: new Date(updatedAt).toISOString(),
});

const text = (value: unknown): string => (typeof value === 'string' ? value : '');
