/** The Payment Service in memory, as the connector sees it: it can do its work and lose the answer, or neither. */
import type {
  CallOutcome,
  CreatePaymentAnswer,
  CreatePaymentRequest,
  PaymentServiceClient,
  ServicePayment,
} from '@tollgate/payment-api';

export type CreationFault =
  { kind: 'lost-before' | 'lost-after' | 'not-sent' } | { kind: 'refused'; code: string; errorKind: string };

export interface FakePaymentService {
  client: PaymentServiceClient;
  /** Creations that reached the service, in order. */
  requests: CreatePaymentRequest[];
  payments: Map<string, ServicePayment>;
  looks: { retrieved: number; listed: number };
  /** What goes wrong with the next creations, in order. */
  faults: CreationFault[];
  /** False: retrievals and lists get no usable answer. */
  answersLooks: boolean;
  /** Runs before a creation is answered, after it took effect. */
  beforeAnswer: (request: CreatePaymentRequest) => Promise<void>;
  /** Changes the payment that was made by the latest creation of this order number. */
  change(orderNumber: string, change: Partial<ServicePayment>): void;
}

export function createFakePaymentService(): FakePaymentService {
  const fake: FakePaymentService = {
    requests: [],
    payments: new Map(),
    looks: { retrieved: 0, listed: 0 },
    faults: [],
    answersLooks: true,
    beforeAnswer: async () => {},
    change(orderNumber, change) {
      const payment = [...fake.payments.values()].findLast((each) => each.orderNumber === orderNumber);
      if (payment === undefined) throw new Error(`the service has no payment ${orderNumber}`);
      Object.assign(payment, change);
    },
    client: {
      createPayment: (request) => create(fake, request),
      retrievePayment: async (token) => retrieve(fake, token),
      listPayments: async (query) => list(fake, query.orderNumber ?? ''),
      close: async () => {},
    },
  };
  return fake;
}

async function create(
  fake: FakePaymentService,
  request: CreatePaymentRequest,
): Promise<CallOutcome<CreatePaymentAnswer>> {
  const fault = fake.faults.shift();
  if (fault?.kind === 'not-sent') return { kind: 'not-sent', reason: 'ECONNREFUSED' };
  fake.requests.push(request);
  if (fault?.kind === 'lost-before') return { kind: 'unknown', reason: 'timeout' };
  if (fault?.kind === 'refused')
    return { kind: 'refused', errors: [{ code: fault.code, kind: fault.errorKind, message: 'no' }] };
  const token = `service-${fake.requests.length}`;
  const { amount, currency, orderNumber } = request;
  const processingUrl = `https://pay.example/${token}`;
  fake.payments.set(token, { token, status: 'init', amount, currency, orderNumber, processingUrl });
  await fake.beforeAnswer(request);
  if (fault?.kind === 'lost-after') return { kind: 'unknown', reason: 'connection reset' };
  return { kind: 'accepted', answer: { success: true, token, processingUrl, payment: { amount, currency } } };
}

function retrieve(fake: FakePaymentService, token: string): CallOutcome<ServicePayment> {
  fake.looks.retrieved += 1;
  if (!fake.answersLooks) return { kind: 'unknown', reason: 'timeout' };
  const payment = fake.payments.get(token);
  if (payment !== undefined) return { kind: 'accepted', answer: { ...payment } };
  return { kind: 'refused', errors: [{ code: 'payment_not_found', kind: 'invalid_request_error' }] };
}

function list(fake: FakePaymentService, orderNumber: string): CallOutcome<ServicePayment[]> {
  fake.looks.listed += 1;
  if (!fake.answersLooks) return { kind: 'unknown', reason: 'timeout' };
  return {
    kind: 'accepted',
    answer: [...fake.payments.values()].filter((each) => each.orderNumber === orderNumber),
  };
}
