/** The interface of the specification over the ledger: a request, as it was sent, and the answer that it has. */
import { toBareAnswer, withoutFilters } from '@tollgate/provider/bare';
import type { Random } from '../world/random.ts';
import type { Ledger, LedgerDispute, LedgerPayment, LedgerPayout, LedgerRefund } from './ledger.ts';

export interface ServiceRequest {
  account: string;
  method: string;
  path: string;
  body: Record<string, unknown> | undefined;
}

export interface ServiceAnswer {
  statusCode: number;
  body: string;
}

interface Outcomes {
  /** Of a card that is charged. */
  isApproved: () => boolean;
  refundStatus: () => LedgerRefund['status'];
  payoutStatus: () => LedgerPayout['status'];
}

export const movesMoney = ({ method }: Pick<ServiceRequest, 'method'>): boolean => method === 'POST';

export function createServiceApi(
  ledger: Ledger,
  random: Random,
  options: { saysRefundedEarly: boolean; showsDisputedPayments: boolean; isBare: boolean },
) {
  const outcomes: Outcomes = {
    isApproved: () => random.chance(0.85),
    refundStatus: () => random.pick(['approved', 'approved', 'approved', 'pending', 'declined']),
    payoutStatus: () => random.pick(['approved', 'approved', 'pending', 'declined']),
  };
  const answerOf = (request: ServiceRequest): ServiceAnswer => {
    const url = new URL(request.path, 'https://service.sim');
    const path = url.pathname.replace('/api/v1', '');
    if (request.method === 'POST') return post(ledger, outcomes, path, request);
    const { saysRefundedEarly, showsDisputedPayments } = options;
    return get({ ledger, saysRefundedEarly, showsDisputedPayments }, path, url.searchParams, request.account);
  };
  return options.isBare
    ? (request: ServiceRequest) => toBareAnswer(request, answerOf(withoutFilters(request)))
    : answerOf;
}

const json = (body: object, statusCode = 200): ServiceAnswer => ({ statusCode, body: JSON.stringify(body) });
export const refusal = (code: string, kind = 'processing_error'): ServiceAnswer =>
  json({ success: false, errors: [{ code, kind, message: code }] }, 409);
const unknownToken = () =>
  json(
    {
      success: false,
      errors: [{ code: 'payment_not_found', kind: 'invalid_request_error', message: 'unknown' }],
    },
    404,
  );

function post(
  ledger: Ledger,
  outcomes: Outcomes,
  path: string,
  { account, body = {} }: ServiceRequest,
): ServiceAnswer {
  const token = text(body['token']);
  switch (path) {
    case '/payments':
      return create(ledger, outcomes, account, body);
    case '/payments/confirm':
    case '/payments/decline': {
      const payment = ledger.findPayment(token);
      if (payment === undefined) return unknownToken();
      const isDone = path === '/payments/confirm' ? ledger.capture(payment) : ledger.void(payment);
      return isDone
        ? json({ success: true, payment: toShown({ saysRefundedEarly: false }, payment) })
        : refusal('payment_not_confirmable');
    }
    case '/refunds': {
      const payment = ledger.findPayment(token);
      if (payment === undefined) return unknownToken();
      const amount =
        typeof body['amount'] === 'number' ? body['amount'] : payment.amount - payment.refundedAmount;
      const refund = ledger.refund(payment, amount, outcomes.refundStatus());
      if (refund === undefined) return refusal('refund_exceeds_amount');
      const { currency } = payment;
      return json({
        success: true,
        token: refund.token,
        refund: { token: refund.token, amount, currency, status: refund.status },
      });
    }
    case '/payouts': {
      const { recurringToken } = (body['destination'] ?? {}) as { recurringToken?: string };
      if (!isKnownToken(ledger, account, recurringToken)) return refusal('recurring_token_not_found');
      const terms = {
        orderNumber: text(body['orderNumber']),
        callbackUrl: text(body['callbackUrl']),
        amount: Number(body['amount']),
        currency: text(body['currency']),
        account,
      };
      return json({ success: true, payout: toShownPayout(ledger.payOut(terms, outcomes.payoutStatus())) });
    }
    default:
      return refusal('invalid_param', 'invalid_request_error');
  }
}

function create(
  ledger: Ledger,
  outcomes: Outcomes,
  account: string,
  body: Record<string, unknown>,
): ServiceAnswer {
  const isHosted = body['card'] === undefined && body['recurringToken'] === undefined;
  if (!isKnownToken(ledger, account, body['recurringToken'])) return refusal('recurring_token_not_found');
  const payment = ledger.add({
    account,
    isHosted,
    orderNumber: text(body['orderNumber']),
    callbackUrl: text(body['callbackUrl']),
    amount: Number(body['amount']),
    currency: text(body['currency']),
    needConfirmation: body['needConfirmation'] === true,
    isRecurring: body['recurring'] === true,
  });
  if (!isHosted) ledger.pay(payment, outcomes.isApproved());
  const { token, amount, currency, status } = payment;
  return json({
    success: true,
    token,
    ...(isHosted ? { processingUrl: pageOf(payment) } : {}),
    payment: { amount, currency, status },
  });
}

/** A token charges through the account that it was given for. */
const isKnownToken = ({ payments }: Ledger, account: string, token: unknown): boolean =>
  token === undefined || payments.some((each) => each.recurringToken === token && each.account === account);

export const pageOf = ({ token }: Pick<LedgerPayment, 'token'>): string =>
  `https://service.sim/checkout/${token}`;

interface Service {
  ledger: Ledger;
  /** After a part of it was refunded. */
  saysRefundedEarly: boolean;
  /** Some deployments do not say which payment a dispute is about. */
  showsDisputedPayments: boolean;
}

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
  if (payment !== undefined) return json({ success: true, payment: toShown(service, payment) });
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
      : payments.filter(isAskedFor).map((each) => toShown(service, each));
  const shown = found.toReversed().slice((page - 1) * perPage, page * perPage);
  return { success: true, payments: shown, totalCount: found.length, page, perPage };
}

const disputesMax = 100;

const listDisputes = ({ ledger, showsDisputedPayments }: Service, account: string) =>
  ledger.disputes
    .filter((dispute) => dispute.account === account)
    .toReversed()
    .slice(0, disputesMax)
    .map((dispute) => toShownDispute(dispute, showsDisputedPayments));

const toShownDispute = (
  { id, payment, amount, currency, statuses, createdAt, updatedAt }: LedgerDispute,
  showsPayment: boolean,
) => ({
  id,
  amount,
  currency,
  status: statuses.at(-1),
  type: 'chargeback',
  reasonCode: '4853',
  ...(showsPayment ? { token: payment } : {}),
  createdAt: toText(createdAt),
  updatedAt: toText(updatedAt),
});

const toText = (at: number): string => new Date(at).toISOString();

function toShown({ saysRefundedEarly }: Pick<Service, 'saysRefundedEarly'>, payment: LedgerPayment) {
  const { token, amount, currency, orderNumber, callbackUrl, needConfirmation } = payment;
  const { heldAmount, refundedAmount, recurringToken } = payment;
  const isOpen = payment.isHosted && payment.status === 'init';
  const status =
    saysRefundedEarly && payment.status === 'approved' && refundedAmount > 0 ? 'refunded' : payment.status;
  return {
    token,
    status,
    amount,
    currency,
    orderNumber,
    product: 'Tea',
    callbackUrl,
    needConfirmation,
    heldAmount,
    refundedAmount,
    recurringToken,
    ...(isOpen ? { processingUrl: pageOf(payment) } : {}),
    createdAt: toText(payment.createdAt),
    updatedAt: toText(payment.updatedAt),
  };
}

function toShownPayout({ createdAt, updatedAt, account: _, ...shown }: LedgerPayout) {
  return { ...shown, operationType: 'payouts', createdAt: toText(createdAt), updatedAt: toText(updatedAt) };
}

const text = (value: unknown): string => (typeof value === 'string' ? value : '');
