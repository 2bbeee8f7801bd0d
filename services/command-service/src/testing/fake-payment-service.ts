/** The Payment Service in memory, as the connector sees it: it can do its work and lose the answer, or neither. */
import type {
  ApiError,
  CallOutcome,
  CreatePaymentRequest,
  PaymentServiceClient,
  PayoutRequest,
  RefundRequest,
  ServiceDispute,
  ServicePayment,
  ServicePayout,
} from '@tollgate/payment-api';

export type Operation = 'create' | 'confirm' | 'decline' | 'refund' | 'payout';

/**
 * `lost-before`: no effect, and nobody can tell. `lost-after`: the effect, and nobody can tell. `breaks`: the connector
 * itself fails, which it never should.
 */
export type CallFault =
  | { kind: 'lost-before' | 'lost-after' | 'not-sent' | 'breaks' }
  | { kind: 'refused'; code: string; errorKind: string };

/** A call that reached the service. */
export interface ReceivedCall {
  operation: Operation;
  /** Order number of what is made, or the service's token of what is changed. */
  of: string;
  amount?: number;
}

export interface FakePaymentService {
  client: PaymentServiceClient;
  /** Creations that reached the service, in order. */
  requests: CreatePaymentRequest[];
  payoutRequests: PayoutRequest[];
  /** Every call that moves money and reached the service, in order. */
  received: ReceivedCall[];
  payments: Map<string, ServicePayment>;
  payouts: Map<string, ServicePayout>;
  disputes: ServiceDispute[];
  /** What each retrieval and list has been. */
  inquiries: { retrieved: number; listed: number };
  balanceCalls: number;
  /** What goes wrong with the next calls of an operation, in order. */
  faultsOf: Record<Operation, CallFault[]>;
  /** What goes wrong with the next creations, in order. */
  faults: CallFault[];
  /** False: retrievals and lists get no usable answer. */
  answersInquiries: boolean;
  /** What a refund or payout that takes effect ends as. */
  refundStatus: string;
  payoutStatus: string;
  /** What a card or recurring payment ends as. */
  chargeStatus: string;
  /** True where the bank asks for a page first (3DS). */
  chargeNeedsPage: boolean;
  /** Runs before a call is answered, after it took effect. */
  beforeAnswer: (request: CreatePaymentRequest) => Promise<void>;
  beforeAnswerOf: (call: ReceivedCall) => Promise<void>;
  /** Changes the payment that was made by the latest creation of this order number. */
  change(orderNumber: string, change: Partial<ServicePayment>): void;
}

export function createFakePaymentService(): FakePaymentService {
  const faults: CallFault[] = [];
  const fake: FakePaymentService = {
    requests: [],
    payoutRequests: [],
    received: [],
    payments: new Map(),
    payouts: new Map(),
    disputes: [],
    inquiries: { retrieved: 0, listed: 0 },
    balanceCalls: 0,
    faults,
    faultsOf: { create: faults, confirm: [], decline: [], refund: [], payout: [] },
    answersInquiries: true,
    refundStatus: 'approved',
    payoutStatus: 'approved',
    chargeStatus: 'approved',
    chargeNeedsPage: false,
    beforeAnswer: async () => {},
    beforeAnswerOf: async () => {},
    change(orderNumber, change) {
      const payment = [...fake.payments.values()].findLast((each) => each.orderNumber === orderNumber);
      if (payment === undefined) throw new Error(`the service has no payment ${orderNumber}`);
      Object.assign(payment, change);
    },
    client: undefined as never,
  };
  fake.client = clientOf(fake);
  return fake;
}

const clientOf = (fake: FakePaymentService): PaymentServiceClient => ({
  createPayment: (request) => create(fake, request),
  confirmPayment: (token) => endCaptureOrVoid(fake, 'confirm', token),
  declinePayment: (token) => endCaptureOrVoid(fake, 'decline', token),
  refundPayment: (request) => refund(fake, request),
  createPayout: (request) => payOut(fake, request),
  retrievePayment: async (token) => retrieve(fake, fake.payments, token),
  retrievePayout: async (token) => retrieve(fake, fake.payouts, token),
  listPayments: async (query) => list(fake, fake.payments, query.orderNumber ?? ''),
  listPayouts: async ({ orderNumber }) => list(fake, fake.payouts, orderNumber),
  retrieveBalance: async (currency) => {
    fake.balanceCalls += 1;
    if (!fake.answersInquiries) return { kind: 'unknown', reason: 'timeout' };
    return { kind: 'accepted', answer: { currency, available: 700, hold: 300 } };
  },
  listDisputes: async () =>
    fake.answersInquiries
      ? { kind: 'accepted', answer: structuredClone(fake.disputes) }
      : { kind: 'unknown', reason: 'timeout' },
  close: async () => {},
});

const refusal = (code: string, kind = 'processing_error'): { kind: 'refused'; errors: ApiError[] } => ({
  kind: 'refused',
  errors: [{ code, kind, message: 'no' }],
});

/** Carries out one call with the fault that is due. */
async function receive<Answer>(
  fake: FakePaymentService,
  call: ReceivedCall,
  effect: () => CallOutcome<Answer>,
): Promise<CallOutcome<Answer>> {
  const fault = fake.faultsOf[call.operation].shift();
  if (fault?.kind === 'not-sent') return { kind: 'not-sent', reason: 'ECONNREFUSED' };
  if (fault?.kind === 'breaks') throw new TypeError('the connector is broken');
  fake.received.push(call);
  if (fault?.kind === 'lost-before') return { kind: 'unknown', reason: 'timeout' };
  if (fault?.kind === 'refused') return refusal(fault.code, fault.errorKind);
  const outcome = effect();
  await fake.beforeAnswerOf(call);
  return fault?.kind === 'lost-after' ? { kind: 'unknown', reason: 'connection reset' } : outcome;
}

function create(fake: FakePaymentService, request: CreatePaymentRequest) {
  const { amount, currency, orderNumber = '', card, recurringToken, recurring } = request;
  const fault = fake.faultsOf.create[0]?.kind;
  const reached = fault !== 'not-sent' && fault !== 'breaks';
  if (reached) fake.requests.push(request);
  const token = `service-${fake.requests.length}`;
  return receive(fake, { operation: 'create', of: orderNumber, amount }, () => {
    const isCharge = card !== undefined || recurringToken !== undefined;
    const status = isCharge ? fake.chargeStatus : 'init';
    const page = isCharge && !fake.chargeNeedsPage ? {} : { processingUrl: `https://pay.example/${token}` };
    const given = recurring === true ? { recurringToken: `service-recurring-${token}` } : {};
    fake.payments.set(token, { token, status, amount, currency, orderNumber, ...page, ...given });
    return {
      kind: 'accepted' as const,
      answer: { success: true as const, token, ...page, payment: { amount, currency, status } },
    };
  }).then(async (outcome) => {
    await fake.beforeAnswer(request);
    return outcome;
  });
}

function endCaptureOrVoid(fake: FakePaymentService, operation: 'confirm' | 'decline', token: string) {
  return receive<ServicePayment | undefined>(fake, { operation, of: token }, () => {
    const payment = fake.payments.get(token);
    if (payment === undefined) return refusal('payment_not_found', 'invalid_request_error');
    if (payment.status !== 'pending') return refusal('payment_in_final_state');
    if ((payment.heldAmount ?? 0) === 0) return refusal('payment_not_confirmable');
    Object.assign(payment, { status: operation === 'confirm' ? 'approved' : 'declined', heldAmount: 0 });
    return { kind: 'accepted', answer: { ...payment } };
  });
}

function refund(fake: FakePaymentService, { token, amount = 0 }: RefundRequest) {
  const refundToken = `service-refund-${fake.received.length + 1}`;
  return receive(fake, { operation: 'refund', of: token, amount }, () => {
    const payment = fake.payments.get(token);
    if (payment === undefined) return refusal('payment_not_found', 'invalid_request_error');
    const refundedAmount = (payment.refundedAmount ?? 0) + amount;
    if (refundedAmount > payment.amount) return refusal('refund_exceeds_amount');
    if (fake.refundStatus === 'approved')
      Object.assign(payment, {
        refundedAmount,
        status: refundedAmount === payment.amount ? 'refunded' : payment.status,
      });
    const { currency } = payment;
    return {
      kind: 'accepted' as const,
      answer: {
        ...{ success: true as const, token: refundToken },
        refund: { token: refundToken, amount, currency, status: fake.refundStatus },
      },
    };
  });
}

function payOut(fake: FakePaymentService, request: PayoutRequest) {
  const { amount, currency, orderNumber } = request;
  const token = `service-payout-${fake.received.length + 1}`;
  return receive(fake, { operation: 'payout', of: orderNumber, amount }, () => {
    fake.payoutRequests.push(request);
    const payout = { token, amount, currency, orderNumber, status: fake.payoutStatus };
    fake.payouts.set(token, payout);
    return { kind: 'accepted' as const, answer: { success: true as const, payout: { ...payout } } };
  });
}

function retrieve<Kept>(
  fake: FakePaymentService,
  kept: ReadonlyMap<string, Kept>,
  token: string,
): CallOutcome<Kept> {
  fake.inquiries.retrieved += 1;
  if (!fake.answersInquiries) return { kind: 'unknown', reason: 'timeout' };
  const found = kept.get(token);
  return found === undefined
    ? refusal('payment_not_found', 'invalid_request_error')
    : { kind: 'accepted', answer: { ...found } };
}

function list<Kept extends { orderNumber?: string | null | undefined }>(
  fake: FakePaymentService,
  kept: ReadonlyMap<string, Kept>,
  orderNumber: string,
): CallOutcome<Kept[]> {
  fake.inquiries.listed += 1;
  if (!fake.answersInquiries) return { kind: 'unknown', reason: 'timeout' };
  return { kind: 'accepted', answer: [...kept.values()].filter((each) => each.orderNumber === orderNumber) };
}
