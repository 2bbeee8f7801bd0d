/** A provider in memory that can lose a call before or after its effect. */
import type { AcceptedRefund, Authorization } from '../domain/payment/payment-commands.ts';
import type { CallOutcome, CallRefused } from '../domain/outbound-call/outbound-call.ts';
import type { ObservedPayout } from '../domain/payout/payout-commands.ts';
import { omitUndefined, type Clock } from '@tollgate/service-kit';
import {
  pageRows,
  type AuthorizeRequest,
  type ComparablePayment,
  type InquiryOutcome,
  type Page,
  type PageQuery,
  type PayOutRequest,
  type Provider,
} from '../provider.ts';

export type Operation = 'authorize' | 'capture' | 'void' | 'refund' | 'payout';

/**
 * `lost-before`: no effect, outcome unknown. `lost-after`: the effect, outcome unknown. `breaks`: the adapter itself throws,
 * which it never should. `hangs`: a creation takes effect and no answer arrives within the adapter's deadline.
 */
type CallFault =
  | { kind: 'lost-before' | 'lost-after' | 'not-sent' | 'breaks' }
  | { kind: 'refused'; code: string; errorKind: string }
  | { kind: 'hangs'; deadlineMs: number };

/** A call that reached the provider. */
interface ReceivedCall {
  operation: Operation;
  /** Order number of a creation, or the provider's token of the changed payment. */
  of: string;
  amount?: number;
}

type FakeTime = Pick<Clock, 'now'> & Partial<Pick<Clock, 'sleep'>>;

type FakePayment = ComparablePayment['observed'] & Omit<ComparablePayment, 'observed'>;

export interface FakeProvider {
  provider: Provider;
  /** Creations that reached the provider, in order. */
  requests: AuthorizeRequest[];
  payoutRequests: PayOutRequest[];
  /** Every call that moves money and reached the provider, in order. */
  received: ReceivedCall[];
  payments: Map<string, FakePayment>;
  payouts: Map<string, ObservedPayout>;
  /** Number of inquiries by token and by order number. */
  inquiries: { retrieved: number; listed: number };
  pagesRead: number;
  balanceCalls: number;
  /** Faults of the next calls of an operation, in order. */
  faultsOf: Record<Operation, CallFault[]>;
  /** Faults of the next creations, in order. */
  faults: CallFault[];
  /** False: inquiries get no usable answer. */
  answersInquiries: boolean;
  /** Final status of a refund or payout that takes effect. */
  refundStatus: string;
  payoutStatus: string;
  /** Final status of a card or recurring payment. */
  chargeStatus: string;
  /** True if the bank asks for a page first (3DS). */
  chargeNeedsPage: boolean;
  /** Runs before a call is answered, after it took effect. */
  beforeAnswerOf: (call: ReceivedCall) => Promise<void>;
  /** Runs before a page is read: payments made by it shift the rows. */
  beforePage: (query: PageQuery) => Promise<void>;
  /** Changes the payment that the latest creation of this order number has made. */
  change(orderNumber: string, change: Partial<FakePayment>): void;
}

/** @param clock gives the time of creation; without it none is shown, as in some deployments */
export function createFakeProvider(clock?: FakeTime): FakeProvider {
  const faults: CallFault[] = [];
  const fake: FakeProvider = {
    requests: [],
    payoutRequests: [],
    received: [],
    payments: new Map(),
    payouts: new Map(),
    inquiries: { retrieved: 0, listed: 0 },
    pagesRead: 0,
    balanceCalls: 0,
    faults,
    faultsOf: { authorize: faults, capture: [], void: [], refund: [], payout: [] },
    answersInquiries: true,
    refundStatus: 'approved',
    payoutStatus: 'approved',
    chargeStatus: 'approved',
    chargeNeedsPage: false,
    beforeAnswerOf: async () => {},
    beforePage: async () => {},
    change(orderNumber, change) {
      const payment = [...fake.payments.values()].findLast((each) => each.orderNumber === orderNumber);
      if (payment === undefined) throw new Error(`the provider has no payment ${orderNumber}`);
      Object.assign(payment, change);
    },
    provider: undefined as never,
  };
  fake.provider = providerOf(fake, clock);
  return fake;
}

const tooLate = { kind: 'not-sent', reason: 'too late' } as const;
const noAnswer = { kind: 'unknown', reason: 'timeout' } as const;

const providerOf = (fake: FakeProvider, clock: FakeTime | undefined): Provider => ({
  authorize: async (request, maySend) => (maySend() ? authorize(fake, request, clock) : tooLate),
  capture: async (token, maySend) => (maySend() ? captureOrVoid(fake, 'capture', token) : tooLate),
  void: async (token, maySend) => (maySend() ? captureOrVoid(fake, 'void', token) : tooLate),
  refund: async (request, maySend) => (maySend() ? refund(fake, request) : tooLate),
  payout: async (request, maySend) => (maySend() ? payOut(fake, request, clock) : tooLate),
  inquirePayment: async (token) => inquire(fake, fake.payments, token, toFound),
  inquirePayout: async (token) => inquire(fake, fake.payouts, token, (payout) => ({ ...payout })),
  listPayments: async ({ orderNumber }) => list(fake, fake.payments, orderNumber, toFound),
  listPayouts: async ({ orderNumber }) => list(fake, fake.payouts, orderNumber, (payout) => ({ ...payout })),
  pageOfPayments: async (query) => page(fake, fake.payments, query, toFound),
  pageOfPayouts: async (query) => page(fake, fake.payouts, query, (payout) => ({ ...payout })),
  balance: async (currency) => {
    fake.balanceCalls += 1;
    return fake.answersInquiries
      ? { kind: 'accepted', answer: { currency, available: 700, hold: 300 } }
      : noAnswer;
  },
  listDisputes: async () =>
    fake.answersInquiries ? { kind: 'accepted', answer: { found: [], unreadable: 0 } } : noAnswer,
  close: async () => {},
});

const toFound = ({ recurringToken, callbackUrl, product, ...observed }: FakePayment): ComparablePayment => ({
  observed,
  ...omitUndefined({ recurringToken, callbackUrl, product }),
});

const createdBy = (clock: Pick<Clock, 'now'> | undefined) => omitUndefined({ createdAt: clock?.now() });

const refusal = (code: string, kind = 'processing_error'): CallRefused => ({
  kind: 'refused',
  errors: [{ code, kind, message: 'no' }],
  ...(kind === 'authentication_error' || kind === 'settings_error' ? { isAccountRefused: true } : {}),
});

/** Carries out one call with the next fault. */
async function receive<Answer>(
  fake: FakeProvider,
  call: ReceivedCall,
  effect: () => CallOutcome<Answer>,
): Promise<CallOutcome<Answer>> {
  const fault = fake.faultsOf[call.operation].shift();
  if (fault?.kind === 'not-sent') return { kind: 'not-sent', reason: 'ECONNREFUSED' };
  if (fault?.kind === 'breaks') throw new TypeError('the adapter is broken');
  fake.received.push(call);
  if (fault?.kind === 'lost-before') return noAnswer;
  if (fault?.kind === 'refused') return refusal(fault.code, fault.errorKind);
  const outcome = effect();
  await fake.beforeAnswerOf(call);
  return fault?.kind === 'lost-after' ? { kind: 'unknown', reason: 'connection reset' } : outcome;
}

async function authorize(fake: FakeProvider, request: AuthorizeRequest, clock?: FakeTime) {
  const { amount, currency, orderNumber, callbackUrl, product, source, isRecurring } = request;
  const fault = fake.faultsOf.authorize[0];
  if (fault?.kind !== 'not-sent' && fault?.kind !== 'breaks') fake.requests.push(request);
  const serviceToken = `service-${fake.requests.length}`;
  const outcome = await receive<Authorization>(
    fake,
    { operation: 'authorize', of: orderNumber, amount },
    () => {
      const status = source === undefined ? 'init' : fake.chargeStatus;
      const hasPage = source === undefined || fake.chargeNeedsPage;
      const page = hasPage ? { processingUrl: `https://pay.example/${serviceToken}` } : {};
      fake.payments.set(serviceToken, {
        serviceToken,
        status,
        amount,
        currency,
        orderNumber,
        authorizedAmount: 0,
        refundedAmount: 0,
        ...page,
        ...createdBy(clock),
        callbackUrl,
        product,
        ...(isRecurring ? { recurringToken: `service-recurring-${serviceToken}` } : {}),
      });
      return { kind: 'accepted', serviceToken, ...page, amount, currency };
    },
  );
  if (fault?.kind !== 'hangs') return outcome;
  await clock?.sleep?.(request.answerWithinMs ?? fault.deadlineMs);
  return noAnswer;
}

function captureOrVoid(fake: FakeProvider, operation: 'capture' | 'void', token: string) {
  return receive<{ observed?: ComparablePayment['observed'] }>(fake, { operation, of: token }, () => {
    const payment = fake.payments.get(token);
    if (payment === undefined) return refusal('payment_not_found', 'invalid_request_error');
    if (payment.status !== 'pending') return refusal('payment_in_final_state');
    if (payment.authorizedAmount === 0) return refusal('payment_not_confirmable');
    const status = operation === 'capture' ? 'approved' : 'declined';
    Object.assign(payment, { status, authorizedAmount: 0 });
    return { kind: 'accepted', observed: toFound(payment).observed };
  });
}

function refund(fake: FakeProvider, { serviceToken, amount }: { serviceToken: string; amount: number }) {
  const serviceRefundToken = `service-refund-${fake.received.length + 1}`;
  return receive<AcceptedRefund>(fake, { operation: 'refund', of: serviceToken, amount }, () => {
    const payment = fake.payments.get(serviceToken);
    if (payment === undefined) return refusal('payment_not_found', 'invalid_request_error');
    const refundedAmount = (payment.refundedAmount ?? 0) + amount;
    if (refundedAmount > payment.amount) return refusal('refund_exceeds_amount');
    if (fake.refundStatus === 'approved')
      Object.assign(payment, {
        refundedAmount,
        status: refundedAmount === payment.amount ? 'refunded' : payment.status,
      });
    const { currency } = payment;
    return { kind: 'accepted', serviceRefundToken, amount, currency, status: fake.refundStatus };
  });
}

function payOut(fake: FakeProvider, request: PayOutRequest, clock?: Pick<Clock, 'now'>) {
  const { amount, currency, orderNumber } = request;
  const serviceToken = `service-payout-${fake.received.length + 1}`;
  return receive<ObservedPayout>(fake, { operation: 'payout', of: orderNumber, amount }, () => {
    fake.payoutRequests.push(request);
    const payout = {
      serviceToken,
      amount,
      currency,
      orderNumber,
      status: fake.payoutStatus,
      ...createdBy(clock),
    };
    fake.payouts.set(serviceToken, payout);
    return { kind: 'accepted', ...payout };
  });
}

function inquire<Kept, Shown>(
  fake: FakeProvider,
  kept: ReadonlyMap<string, Kept>,
  token: string,
  show: (each: Kept) => Shown,
): InquiryOutcome<Shown> {
  fake.inquiries.retrieved += 1;
  if (!fake.answersInquiries) return noAnswer;
  const found = kept.get(token);
  return found === undefined ? { kind: 'missing' } : { kind: 'accepted', answer: show(found) };
}

function list<Kept extends { orderNumber?: string }, Shown>(
  fake: FakeProvider,
  kept: ReadonlyMap<string, Kept>,
  orderNumber: string,
  show: (each: Kept) => Shown,
): InquiryOutcome<Shown[]> {
  fake.inquiries.listed += 1;
  if (!fake.answersInquiries) return noAnswer;
  return {
    kind: 'accepted',
    answer: [...kept.values()].filter((each) => each.orderNumber === orderNumber).map(show),
  };
}

async function page<Kept extends { createdAt?: number }, Shown>(
  fake: FakeProvider,
  kept: ReadonlyMap<string, Kept>,
  query: PageQuery,
  show: (each: Kept) => Shown,
): Promise<InquiryOutcome<Page<Shown>>> {
  fake.pagesRead += 1;
  if (!fake.answersInquiries) return noAnswer;
  await fake.beforePage(query);
  const all = [...kept.values()].filter((each) => isOnDays(each, query)).toReversed();
  const first = (query.page - 1) * pageRows;
  return {
    kind: 'accepted',
    answer: { found: all.slice(first, first + pageRows).map(show), total: all.length },
  };
}

function isOnDays({ createdAt }: { createdAt?: number }, { from, to }: PageQuery): boolean {
  if (createdAt === undefined) return true;
  const day = new Date(createdAt).toISOString().slice(0, 10);
  return from <= day && day <= to;
}
