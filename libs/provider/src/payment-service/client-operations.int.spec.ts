/** Requests and results of each operation, over real HTTPS. The possible ends of a call are in client.int.spec.ts. */
import { systemClock } from '@tollgate/service-kit';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { PayOutDestination, Provider } from '@tollgate/core';
import { createPaymentService } from './payment-service.ts';
import {
  createAuthority,
  issue,
  json,
  startHttpsPeer,
  type Arrival,
  type Behavior,
  type HttpsPeer,
} from '../testing/https-peer.ts';

const key = 'sk_sandbox_0123456789abcdef';
const pan = '4392963203551251';
const [holder, cvv] = ['A. Holder', '737'];
const recurringToken = 'rec_0123456789abcdef';
const account = 'DE89370400440532013000';
const card = { pan, expires: '12/2030', holder, cvv };
const orderNumber = 'pay_1.1';

const callbackUrl = 'https://gateway.example/callbacks';

const creation = {
  product: 'Coffee',
  amount: 450,
  currency: 'EUR',
  callbackUrl,
  orderNumber,
};
const payoutRequest = { amount: 900, currency: 'EUR', orderNumber, callbackUrl };
const payment = { token: 'token-1', status: 'pending', amount: 450, currency: 'EUR', orderNumber };
const refund = { token: 'refund-1', amount: 40, currency: 'EUR', status: 'declined' };
const payout = { token: 'payout-1', amount: 900, currency: 'EUR', orderNumber, status: 'approved' };
const wallet = { currency: 'EUR', available: 5, hold: 7 };
const dispute = { id: 'dispute-1', amount: 5, currency: 'EUR', status: 'pending' };
const always = () => true;

/** A record of the service in our terms. */
const ours = ({ token, ...shown }: typeof payment) => ({ serviceToken: token, ...shown });

interface Operation {
  run: (client: Provider) => Promise<{ kind: string }>;
  request: { method: string; url: string; body?: object };
  /** Fields of the right answer next to `success`, and the result. */
  right: object;
  known: object;
}

const holdEnd = (operation: 'capture' | 'void', name: 'confirm' | 'decline'): Operation => ({
  run: (client) => client[operation]('token-1', always),
  request: { method: 'POST', url: `/api/v1/payments/${name}`, body: { token: 'token-1' } },
  right: { payment },
  known: { observed: ours(payment) },
});

const payoutTo = (destination: PayOutDestination): Operation => ({
  run: (client) => client.payout({ ...payoutRequest, destination }, always),
  request: { method: 'POST', url: '/api/v1/payouts', body: { ...payoutRequest, destination } },
  right: { payout },
  known: ours(payout),
});

const createdAt = Date.UTC(2026, 10, 2, 23, 59, 59);
const listedPayment = { ...payment, operationType: 'pay', createdAt: '2026-11-02T23:59:59Z' };
const listedPayout = { ...payout, operationType: 'payout', createdAt: '2026-11-02T23:59:59Z' };

function pageOf(
  method: 'pageOfPayments' | 'pageOfPayouts',
  { type, row, rows }: { type: string; row: object; rows: object[] },
): Operation {
  const days = 'dateFrom=2026-11-01&dateTo=2026-11-02';
  return {
    run: (client) => client[method]({ from: '2026-11-01', to: '2026-11-02', page: 2 }),
    request: { method: 'GET', url: `/api/v1/payments?operationType=${type}&${days}&page=2&perPage=500` },
    right: { payments: [row, { ...row, createdAt: null }], totalCount: 502, page: 2, perPage: 500 },
    known: { answer: { found: rows, total: 502 } },
  };
}

const operations: Record<string, Operation> = {
  authorize: {
    run: (client) => {
      const asked = { ...creation, isCaptureDeferred: false, isRecurring: false };
      return client.authorize({ ...asked, source: { recurringToken } }, always);
    },
    request: { method: 'POST', url: '/api/v1/payments', body: { ...creation, recurringToken } },
    right: { token: 'token-1', payment: { status: 'approved', amount: 450, currency: 'EUR' } },
    known: { serviceToken: 'token-1', amount: 450, currency: 'EUR' },
  },
  'authorize by card': {
    run: (client) => {
      const asked = { ...creation, isCaptureDeferred: false, isRecurring: false };
      return client.authorize({ ...asked, source: { card } }, always);
    },
    request: { method: 'POST', url: '/api/v1/payments', body: { ...creation, card } },
    right: { token: 'token-1', payment: { status: 'approved', amount: 450, currency: 'EUR' } },
    known: { serviceToken: 'token-1', amount: 450, currency: 'EUR' },
  },
  inquirePayment: {
    run: (client) => client.inquirePayment('token-1'),
    request: { method: 'GET', url: '/api/v1/payments/token-1' },
    right: { payment },
    known: { answer: { observed: ours(payment) } },
  },
  listPayments: {
    run: (client) => client.listPayments({ orderNumber }),
    request: { method: 'GET', url: `/api/v1/payments?orderNumber=${orderNumber}` },
    right: { payments: [payment], totalCount: 1 },
    known: { answer: [{ observed: ours(payment) }] },
  },
  capture: holdEnd('capture', 'confirm'),
  void: holdEnd('void', 'decline'),
  refund: {
    run: (client) => client.refund({ serviceToken: 'token-1', amount: 40 }, always),
    request: { method: 'POST', url: '/api/v1/refunds', body: { token: 'token-1', amount: 40 } },
    right: { token: 'refund-1', refund },
    known: { serviceRefundToken: 'refund-1', amount: 40, currency: 'EUR', status: 'declined' },
  },
  'payout to a card': payoutTo({ card: { pan, expires: '12/2030' } }),
  'payout to a recurring token': payoutTo({ recurringToken }),
  'payout to a bank account': payoutTo({ bankAccount: { bankName: 'Bank', account } }),
  inquirePayout: {
    run: (client) => client.inquirePayout('payout-1'),
    request: { method: 'GET', url: '/api/v1/payments/payout-1' },
    right: { payment: { ...payout, operationType: 'payout' } },
    known: { answer: ours(payout) },
  },
  listPayouts: {
    run: (client) => client.listPayouts({ orderNumber }),
    request: { method: 'GET', url: `/api/v1/payments?operationType=payouts&orderNumber=${orderNumber}` },
    right: { payments: [payout], totalCount: 1 },
    known: { answer: [ours(payout)] },
  },
  pageOfPayments: pageOf('pageOfPayments', {
    type: 'pays',
    row: listedPayment,
    rows: [{ observed: { ...ours(payment), createdAt } }, { observed: ours(payment) }],
  }),
  pageOfPayouts: pageOf('pageOfPayouts', {
    type: 'payouts',
    row: listedPayout,
    rows: [{ ...ours(payout), createdAt }, ours(payout)],
  }),
  balance: {
    run: (client) => client.balance('EUR'),
    request: { method: 'GET', url: '/api/v1/balance?currency=EUR' },
    right: { wallet },
    known: { answer: wallet },
  },
  listDisputes: {
    run: (client) => client.listDisputes(),
    request: { method: 'GET', url: '/api/v1/disputes/list' },
    right: { disputes: [dispute] },
    known: { answer: { found: [{ observed: { ...dispute, state: 'open' } }], unreadable: 0 } },
  },
};

let peer: HttpsPeer;
let client: Provider;

/** Ignores calls before the test. */
let arrivalsBefore = 0;
const arrivals = () => peer.arrivals.slice(arrivalsBefore);

beforeAll(async () => {
  const authority = await createAuthority('Ours');
  peer = await startHttpsPeer(await issue(authority), json(500, 'no behavior was set'));
  client = createPaymentService({
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

describe.each(Object.entries(operations))('%s', (_name, { run, request, right, known }) => {
  const answer = { success: true, ...right };

  it('sends the specified request, once, and passes the answer on', async () => {
    peer.next(json(200, answer));
    expect(await run(client)).toEqual({ kind: 'accepted', ...known });

    const { body, ...line } = request;
    const headers = { authorization: `Bearer ${key}`, 'accept-encoding': 'identity' };
    const sent =
      body === undefined
        ? { headers, body: '' }
        : { headers: { ...headers, 'content-type': 'application/json' }, body: JSON.stringify(body) };
    expect(arrivals()).toMatchObject([{ ...line, ...sent }]);
  });

  it.each(Object.entries(repeated))(
    'brings back no secret, however the peer repeats %s',
    async (_what, say) => {
      const kind = 'settings_error';
      const echo =
        (statusCode: number, wrap: (said: string) => object): Behavior =>
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
      for (const secret of [key, pan, holder, cvv, recurringToken, account])
        expect(JSON.stringify(outcomes)).not.toContain(secret);
    },
  );
});

describe('a request that would mean something else is not sent', () => {
  it.each([Number.NaN, Number.POSITIVE_INFINITY, 0, -1, 1.5, 2 ** 53])(
    'a refund of %d, which JSON or a service may turn into a whole one',
    async (amount) => {
      const outcome = await client.refund({ serviceToken: 'token-1', amount }, always);
      expect(outcome).toEqual({ kind: 'not-sent', reason: 'unusable amount' });
      expect(arrivals()).toEqual([]);
    },
  );

  it.each(['', '.', '..', '\ud800'])('a retrieval of the payout %j', async (token) => {
    expect(await client.inquirePayout(token)).toEqual({ kind: 'not-sent', reason: 'unusable token' });
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
    expect(await client.inquirePayout(odd)).toMatchObject({ kind: 'accepted' });
    expect(await client.listPayouts({ orderNumber: odd })).toMatchObject({ kind: 'accepted' });
    expect(await client.balance(odd)).toMatchObject({ kind: 'accepted' });

    const urls = arrivals().map(({ url }) => new URL(url, peer.baseUrl));
    expect(urls[0]?.pathname).toBe(`/api/v1/payments/${encodeURIComponent(odd)}`);
    expect(urls[1]?.searchParams.getAll('orderNumber')).toEqual([odd]);
    expect([...(urls[2]?.searchParams ?? [])]).toEqual([['currency', odd]]);
  });
});
