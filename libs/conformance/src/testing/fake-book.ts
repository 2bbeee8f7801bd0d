/** The books of the fake service: payments, money, and what each call does to them. */
import type { FakeCallback } from './fake-service.ts';

export interface Refusal {
  statusCode: number;
  code: string;
  kind: string;
}

/** How a call ends that is refused. */
export class Refused extends Error {
  readonly refusal: Refusal;
  constructor(refusal: Refusal) {
    super(refusal.code);
    this.refusal = refusal;
  }
}

type Fields = Record<string, unknown>;

interface FakePayment {
  token: string;
  status: string;
  fields: Fields;
  heldAmount: number;
  refundedAmount: number;
  createdAt: number;
  recurringToken?: string;
}

interface BookCall {
  method: string;
  path: string;
  query: URLSearchParams;
  body: Fields;
}

export interface Book {
  /** Gives what a successful answer holds. @throws Refused */
  answer(call: BookCall, baseUrl: string, newToken: () => string): Fields;
  /** The customer opens the page. */
  open(token: string): FakePayment | undefined;
  /** The customer pays or fails to; gives where the customer is sent. */
  settle(payment: FakePayment, outcome: 'approved' | 'declined'): string;
}

const refusal = (statusCode: number, code: string, kind: string) => new Refused({ statusCode, code, kind });
const invalid = (code = 'invalid_param') => refusal(400, code, 'invalid_request_error');
const unprocessable = (code: string) => refusal(409, code, 'processing_error');
const notFound = () => refusal(404, 'payment_not_found', 'invalid_request_error');

const minuteMs = 60_000;
const dayMs = 24 * 60 * minuteMs;

const isText = (value: unknown) => typeof value === 'string' && value !== '';
const isUrl = (value: unknown) =>
  typeof value === 'string' && /^https?:\/\//.test(value) && URL.canParse(value);
const isAmount = (value: unknown) => Number.isSafeInteger(value) && (value as number) >= 1;
const isCurrency = (value: unknown) => typeof value === 'string' && /^[A-Z]{3}$/.test(value);
const isCard = (value: unknown) => typeof value === 'object' && value !== null && 'pan' in value;
const isFlag = (value: unknown) => typeof value === 'boolean';

const required: Record<string, (value: unknown) => boolean> = {
  product: isText,
  amount: isAmount,
  currency: isCurrency,
  callbackUrl: isUrl,
};
const optional: Record<string, (value: unknown) => boolean> = {
  orderNumber: isText,
  redirectSuccessUrl: isUrl,
  redirectFailUrl: isUrl,
  locale: isText,
  needConfirmation: isFlag,
  recurring: isFlag,
  recurringToken: isText,
  card: isCard,
};
const codes: Record<string, string> = { amount: 'incorrect_amount', currency: 'incorrect_currency' };

function validate(fields: Fields): void {
  for (const [name, isRight] of Object.entries(required))
    if (!isRight(fields[name])) throw invalid(codes[name]);
  for (const [name, value] of Object.entries(fields)) {
    const isRight = required[name] ?? optional[name];
    if (isRight?.(value) !== true) throw invalid(codes[name]);
  }
}

export function createFakeBook(send: (callback: FakeCallback) => void): Book {
  const payments: FakePayment[] = [];
  const payouts: FakePayment[] = [];
  const disputes: Fields[] = [];
  const balances = new Map<string, { available: number; hold: number }>();
  let now = Date.now();
  let failing: string | undefined;

  const find = (token: unknown): FakePayment => {
    if (!isText(token)) throw invalid();
    const payment = payments.find((each) => each.token === token);
    if (payment === undefined) throw notFound();
    return payment;
  };
  const balanceOf = (currency: string) => {
    const balance = balances.get(currency) ?? { available: 0, hold: 0 };
    balances.set(currency, balance);
    return balance;
  };
  const isOpen = ({ status, heldAmount }: FakePayment) =>
    (status === 'init' || status === 'pending') && heldAmount === 0;
  const notify = (payment: FakePayment, type = 'payment', status = payment.status): void => {
    const { token, fields } = payment;
    const { orderNumber = null, amount, currency } = fields;
    const body = { token, type, status, orderNumber, amount, currency };
    send({ method: 'POST', url: String(fields['callbackUrl']), contentType: 'application/json', body });
  };
  const move = (payment: FakePayment, status: string): void => {
    if (payment.status === status) return;
    payment.status = status;
    if (status === 'approved')
      balanceOf(String(payment.fields['currency'])).hold += Number(payment.fields['amount']);
    notify(payment);
  };
  const open: Book['open'] = (token) => {
    const payment = payments.find((each) => each.token === token);
    if (payment?.status === 'init') move(payment, 'pending');
    return payment;
  };
  const settle: Book['settle'] = (payment, outcome) => {
    if (!isOpen(payment)) throw unprocessable('payment_in_final_state');
    open(payment.token);
    const { needConfirmation, recurring, amount, redirectSuccessUrl, redirectFailUrl } = payment.fields;
    if (outcome === 'approved' && recurring === true) payment.recurringToken = `recurring-${payment.token}`;
    if (outcome === 'approved' && needConfirmation === true) payment.heldAmount = Number(amount);
    else move(payment, outcome);
    return String(outcome === 'approved' ? redirectSuccessUrl : redirectFailUrl);
  };
  const shown = ({ fields, ...payment }: FakePayment): Fields => ({
    locale: 'en',
    ...fields,
    ...payment,
    createdAt: new Date(payment.createdAt).toISOString(),
    updatedAt: new Date(payment.createdAt).toISOString(),
  });
  const spend = (currency: string, amount: number, code: string): void => {
    const balance = balanceOf(currency);
    if (balance.available < amount) throw unprocessable(code);
    balance.available -= amount;
  };

  const create = ({ body }: BookCall, baseUrl: string, newToken: () => string): Fields => {
    validate(body);
    const { recurringToken, card } = body;
    const isKnown = payments.some((each) => each.recurringToken === recurringToken);
    if (recurringToken !== undefined && !isKnown) throw unprocessable('recurring_token_not_found');
    const token = newToken();
    const payment = { token, status: 'init', fields: body, heldAmount: 0, refundedAmount: 0, createdAt: now };
    payments.unshift(payment);
    if (card !== undefined && (card as Fields)['pan'] === '4617611794313933') move(payment, 'pending');
    else if (card !== undefined || recurringToken !== undefined) settle(payment, 'approved');
    const { amount, currency } = body;
    const answered = { amount, currency, status: payment.status };
    return { token, processingUrl: `${baseUrl}/checkout/${token}`, payment: answered };
  };
  const list = ({ query }: BookCall): Fields => {
    const perPage = Number(query.get('perPage') ?? 20);
    if (perPage > 500) throw invalid();
    const from = (Number(query.get('page') ?? 1) - 1) * perPage;
    const orderNumber = query.get('orderNumber');
    const [dateFrom, dateTo] = ['dateFrom', 'dateTo'].map((name) =>
      Date.parse(query.get(name) ?? '2020-01-01'),
    );
    if (Number.isNaN(dateFrom)) throw invalid();
    const isInTime = ({ createdAt }: FakePayment) =>
      createdAt >= (dateFrom ?? 0) && (!query.has('dateTo') || createdAt < (dateTo ?? 0) + dayMs);
    const isOfOrder = ({ fields }: FakePayment) =>
      orderNumber === null || fields['orderNumber'] === orderNumber;
    const source = query.get('operationType') === 'payouts' ? payouts : payments;
    const found = source.filter((each) => isInTime(each) && isOfOrder(each));
    return { payments: found.slice(from, from + perPage).map(shown), totalCount: found.length };
  };
  const endHold =
    (status: string) =>
    ({ body }: BookCall): Fields => {
      const payment = find(body['token']);
      if (payment.heldAmount === 0) throw unprocessable('payment_not_confirmable');
      payment.heldAmount = 0;
      move(payment, status);
      return { payment: shown(payment) };
    };
  const refund = ({ body }: BookCall, _baseUrl: string, newToken: () => string): Fields => {
    const payment = find(body['token']);
    const { amount: paid, currency } = payment.fields;
    const { amount = Number(paid) - payment.refundedAmount } = body;
    if (!isAmount(amount)) throw invalid('incorrect_amount');
    if (payment.status !== 'approved') throw unprocessable('payment_not_refundable');
    if (payment.refundedAmount + Number(amount) > Number(paid)) throw unprocessable('refund_exceeds_amount');
    spend(String(currency), Number(amount), 'no_money_available_on_refund');
    payment.refundedAmount += Number(amount);
    if (payment.refundedAmount === paid) move(payment, 'refunded');
    notify(payment, 'refund', 'approved');
    return { token: payment.token, refund: { token: newToken(), amount, currency, status: 'approved' } };
  };
  const payout = ({ body }: BookCall, _baseUrl: string, newToken: () => string): Fields => {
    const { amount, currency, orderNumber, destination } = body;
    if (!isAmount(amount)) throw invalid('incorrect_amount');
    if (!isCurrency(currency) || destination === undefined) throw invalid();
    spend(String(currency), Number(amount), 'balance_less_than_amount');
    const token = newToken();
    const status = 'pending';
    payouts.unshift({ token, status, fields: body, heldAmount: 0, refundedAmount: 0, createdAt: now });
    return { payout: { token, amount, currency, orderNumber, status } };
  };
  const balance = ({ query }: BookCall): Fields => {
    const currency = query.get('currency');
    if (currency === null || !isCurrency(currency)) throw invalid('incorrect_currency');
    return { wallet: { currency, ...balanceOf(currency) } };
  };
  const advance = (byMs: number): void => {
    now += byMs;
    for (const payment of payments.filter(({ status }) => status === 'init' || status === 'pending')) {
      if (payment.createdAt + (payment.heldAmount > 0 ? 7 * dayMs : 30 * minuteMs) > now) continue;
      payment.heldAmount = 0;
      move(payment, 'expired');
    }
    for (const each of balances.values()) {
      each.available += each.hold;
      each.hold = 0;
    }
  };
  const dispute = ({ body }: BookCall, _baseUrl: string, newToken: () => string): Fields => {
    const { token, fields } = find(body['token']);
    const { amount, currency } = fields;
    const at = new Date(now).toISOString();
    const reason = { status: 'pending', type: 'chargeback', reasonCode: '10.4' };
    disputes.unshift({ id: newToken(), token, amount, currency, ...reason, createdAt: at, updatedAt: at });
    return {};
  };

  const routes: Record<string, (call: BookCall, baseUrl: string, newToken: () => string) => Fields> = {
    'POST /api/v1/payments': create,
    'GET /api/v1/payments': list,
    'POST /api/v1/payments/confirm': endHold('approved'),
    'POST /api/v1/payments/decline': endHold('declined'),
    'POST /api/v1/refunds': refund,
    'POST /api/v1/payouts': payout,
    'GET /api/v1/balance': balance,
    'GET /api/v1/disputes/list': () => ({ disputes }),
    'POST /sandbox/clock': ({ body }) => (advance(Number(body['advanceMs'])), {}),
    'POST /sandbox/disputes': dispute,
    'POST /sandbox/faults': () => ((failing = 'get'), {}),
    'DELETE /sandbox/faults': () => ((failing = undefined), {}),
    'GET /sandbox/ledger': () => ({
      payments: payments.map((payment) => ({
        token: payment.token,
        orderNumber: payment.fields['orderNumber'],
      })),
    }),
  };
  return {
    open,
    settle,
    answer: (call, baseUrl, newToken) => {
      const route = routes[`${call.method} ${call.path}`];
      if (route !== undefined) return route(call, baseUrl, newToken);
      const [, area, , token = '', action] = call.path.split('/');
      if (area === 'sandbox' && action === 'pay') {
        settle(find(token), call.body['outcome'] as 'approved');
        return {};
      }
      if (call.method !== 'GET') throw refusal(404, 'path_not_found', 'invalid_request_error');
      if (failing === 'get') throw refusal(500, 'core_api_error', 'api_error');
      const asked = call.path.split('/')[4];
      return { payment: shown(payouts.find((each) => each.token === asked) ?? find(asked)) };
    },
  };
}
