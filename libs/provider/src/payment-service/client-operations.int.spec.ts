/** Requests and results of each operation, over real HTTPS. The possible ends of a call are in client.int.spec.ts. */
import { systemClock } from '@tollgate/service-kit';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { ServiceOutcome } from './classify.ts';
import { createPaymentServiceClient, type PaymentServiceClient } from './client.ts';
import type { PayoutRequest } from '@tollgate/payment-api';
import {
  createAuthority,
  issue,
  json,
  startHttpsPeer,
  type Arrival,
  type Behaviour,
  type HttpsPeer,
} from '../testing/https-peer.ts';

const key = 'sk_sandbox_0123456789abcdef';
const pan = '4392963203551251';
const recurringToken = 'rec_0123456789abcdef';
const account = 'DE89370400440532013000';
const orderNumber = 'pay_1.1';

const creation = {
  product: 'Coffee',
  amount: 450,
  currency: 'EUR',
  callbackUrl: 'https://gateway.example/callbacks',
  orderNumber,
};
const payoutRequest = { amount: 900, currency: 'EUR', orderNumber };
const payment = { token: 'token-1', status: 'pending', amount: 450, currency: 'EUR', orderNumber };
const refund = { token: 'refund-1', amount: 40, currency: 'EUR', status: 'declined' };
const payout = { token: 'payout-1', amount: 900, currency: 'EUR', orderNumber, status: 'approved' };
const wallet = { currency: 'EUR', available: 5, hold: 7 };
const dispute = { id: 'dispute-1', amount: 5, currency: 'EUR', status: 'pending' };

interface Operation {
  run: (client: PaymentServiceClient) => Promise<ServiceOutcome<unknown>>;
  request: { method: string; url: string; body?: object };
  /** Fields of the right answer next to `success`, and the result; without `read`, the whole body. */
  right: object;
  read?: unknown;
}

const holdEnd = (how: 'confirm' | 'decline'): Operation => ({
  run: (client) => (how === 'confirm' ? client.confirmPayment('token-1') : client.declinePayment('token-1')),
  request: { method: 'POST', url: `/api/v1/payments/${how}`, body: { token: 'token-1' } },
  right: { payment },
  read: payment,
});

const createPayout = (destination: PayoutRequest['destination']): Operation => ({
  run: (client) => client.createPayout({ ...payoutRequest, destination }),
  request: { method: 'POST', url: '/api/v1/payouts', body: { ...payoutRequest, destination } },
  right: { payout },
});

const listedPayment = { ...payment, operationType: 'pay', createdAt: '2026-11-02T23:59:59.999Z' };
const listedPayout = { ...payout, operationType: 'payout', createdAt: '2026-11-01T00:00:00Z' };

function pageOf(
  method: 'pageOfPayments' | 'pageOfPayouts',
  { type, row }: { type: string; row: object },
): Operation {
  const days = 'dateFrom=2026-11-01&dateTo=2026-11-02';
  return {
    run: (client) => client[method]({ from: '2026-11-01', to: '2026-11-02', page: 2 }),
    request: { method: 'GET', url: `/api/v1/payments?operationType=${type}&${days}&page=2&perPage=500` },
    right: { payments: [row, { ...row, createdAt: null }], totalCount: 502, page: 2, perPage: 500 },
    read: { found: [row, { ...row, createdAt: undefined }], total: 502 },
  };
}

const operations: Record<string, Operation> = {
  createPayment: {
    run: (client) => client.createPayment({ ...creation, recurringToken }),
    request: { method: 'POST', url: '/api/v1/payments', body: { ...creation, recurringToken } },
    right: { token: 'token-1', payment: { status: 'approved', amount: 450, currency: 'EUR' } },
  },
  retrievePayment: {
    run: (client) => client.retrievePayment('token-1'),
    request: { method: 'GET', url: '/api/v1/payments/token-1' },
    right: { payment },
    read: payment,
  },
  listPayments: {
    run: (client) => client.listPayments({ orderNumber }),
    request: { method: 'GET', url: `/api/v1/payments?orderNumber=${orderNumber}` },
    right: { payments: [payment], totalCount: 1 },
    read: [payment],
  },
  confirmPayment: holdEnd('confirm'),
  declinePayment: holdEnd('decline'),
  refundPayment: {
    run: (client) => client.refundPayment({ token: 'token-1', amount: 40 }),
    request: { method: 'POST', url: '/api/v1/refunds', body: { token: 'token-1', amount: 40 } },
    right: { token: 'refund-1', refund },
  },
  'createPayout to a card': createPayout({ card: { pan, expires: '12/2030' } }),
  'createPayout to a recurring token': createPayout({ recurringToken }),
  'createPayout to a bank account': createPayout({ bankAccount: { bankName: 'Bank', account } }),
  retrievePayout: {
    run: (client) => client.retrievePayout('payout-1'),
    request: { method: 'GET', url: '/api/v1/payments/payout-1' },
    right: { payment: { ...payout, operationType: 'payout' } },
    read: { ...payout, operationType: 'payout' },
  },
  listPayouts: {
    run: (client) => client.listPayouts({ orderNumber }),
    request: { method: 'GET', url: `/api/v1/payments?operationType=payouts&orderNumber=${orderNumber}` },
    right: { payments: [payout], totalCount: 1 },
    read: [payout],
  },
  pageOfPayments: pageOf('pageOfPayments', {
    type: 'pays',
    row: listedPayment,
  }),
  pageOfPayouts: pageOf('pageOfPayouts', {
    type: 'payouts',
    row: listedPayout,
  }),
  retrieveBalance: {
    run: (client) => client.retrieveBalance('EUR'),
    request: { method: 'GET', url: '/api/v1/balance?currency=EUR' },
    right: { wallet },
    read: wallet,
  },
  listDisputes: {
    run: (client) => client.listDisputes(),
    request: { method: 'GET', url: '/api/v1/disputes/list' },
    right: { disputes: [dispute] },
    read: { found: [dispute], unreadable: 0 },
  },
};

let peer: HttpsPeer;
let client: PaymentServiceClient;

/** Ignores calls before the test. */
let arrivalsBefore = 0;
const arrivals = () => peer.arrivals.slice(arrivalsBefore);

beforeAll(async () => {
  const authority = await createAuthority('Ours');
  peer = await startHttpsPeer(await issue(authority), json(500, 'no behaviour was set'));
  client = createPaymentServiceClient({
    baseUrl: peer.baseUrl,
    privateKey: { reveal: () => key },
    ca: authority.cert,
    maxConnections: 1,
    clock: systemClock,
  });
});
afterAll(async () => {
  await client.close();
  await peer.close();
});
beforeEach(() => {
  arrivalsBefore = peer.arrivals.length;
});

/** Texts that a peer may repeat. The key and the request separately: removing one must not depend on the other. */
const repeated = {
  'the key': ({ headers }: Arrival) => headers.authorization ?? '',
  'the request': ({ url, body }: Arrival) => `${url} ${body}`,
};

describe.each(Object.entries(operations))('%s', (_name, { run, request, right, read }) => {
  const answer = { success: true, ...right };

  it('sends the specified request, once, and passes the answer on', async () => {
    peer.next(json(200, answer));
    expect(await run(client)).toEqual({ kind: 'accepted', answer: read ?? answer });

    const { body, ...line } = request;
    expect(arrivals()).toMatchObject([{ ...line, headers: { authorization: `Bearer ${key}` } }]);
    expect(arrivals()[0]?.body).toBe(body === undefined ? '' : JSON.stringify(body));
  });

  it.each(Object.entries(repeated))(
    'brings back no secret, however the peer repeats %s',
    async (_what, say) => {
      const kind = 'settings_error';
      const echo =
        (statusCode: number, wrap: (said: string) => object): Behaviour =>
        (context) =>
          json(statusCode, wrap(say(context.arrival)))(context);
      peer.next(
        echo(200, (said) => ({ ...answer, echo: said, echoes: [{ said, [said]: said }] })),
        echo(400, (said) => ({
          success: false,
          errors: [{ code: said, kind, message: said, parameter: said }],
        })),
        echo(403, (said) => ({ success: false, errors: said })),
        ({ response, arrival }) => void response.writeHead(502).end(say(arrival)),
      );
      const outcomes = [await run(client), await run(client), await run(client), await run(client)];

      expect(outcomes.map((outcome) => outcome.kind)).toEqual(['accepted', 'refused', 'unknown', 'unknown']);
      for (const secret of [key, pan, recurringToken, account])
        expect(JSON.stringify(outcomes)).not.toContain(secret);
    },
  );
});

describe('a request that would mean something else is not sent', () => {
  it.each([Number.NaN, Number.POSITIVE_INFINITY, 0, -1, 1.5, 2 ** 53])(
    'a refund of %d, which JSON or a service may turn into a whole one',
    async (amount) => {
      const outcome = await client.refundPayment({ token: 'token-1', amount });
      expect(outcome).toEqual({ kind: 'not-sent', reason: 'unusable amount' });
      expect(arrivals()).toEqual([]);
    },
  );

  it('but a refund without an amount is, as all that is left', async () => {
    peer.next(json(200, { success: true, token: 'refund-1', refund }));
    expect((await client.refundPayment({ token: 'token-1' })).kind).toBe('accepted');
    expect(arrivals().map(({ body }) => JSON.parse(body) as unknown)).toEqual([{ token: 'token-1' }]);
  });

  it.each(['', '.', '..', '\ud800'])('a retrieval of the payout %j', async (token) => {
    expect(await client.retrievePayout(token)).toEqual({ kind: 'not-sent', reason: 'unusable token' });
    expect(arrivals()).toEqual([]);
  });

  it.each(['', '\ud800'])('a list by the order number %j', async (unusable) => {
    const outcome = { kind: 'not-sent', reason: 'unusable order number' };
    expect(await client.listPayments({ orderNumber: unusable })).toEqual(outcome);
    expect(await client.listPayouts({ orderNumber: unusable })).toEqual(outcome);
    expect(arrivals()).toEqual([]);
  });

  it('and unusual input stays inside its place', async () => {
    const odd = 'a/../b?c#d%2e ä&currency=USD';
    const shown = { ...payout, token: odd, orderNumber: odd };
    peer.next(json(200, { success: true, payment: shown }), json(200, { success: true, payments: [shown] }));
    peer.next(json(200, { success: true, wallet: { ...wallet, currency: odd } }));
    expect(await client.retrievePayout(odd)).toMatchObject({ kind: 'accepted' });
    expect(await client.listPayouts({ orderNumber: odd })).toMatchObject({ kind: 'accepted' });
    expect(await client.retrieveBalance(odd)).toMatchObject({ kind: 'accepted' });

    const urls = arrivals().map(({ url }) => new URL(url, peer.baseUrl));
    expect(urls[0]?.pathname).toBe(`/api/v1/payments/${encodeURIComponent(odd)}`);
    expect(urls[1]?.searchParams.getAll('orderNumber')).toEqual([odd]);
    expect([...(urls[2]?.searchParams ?? [])]).toEqual([['currency', odd]]);
  });
});
