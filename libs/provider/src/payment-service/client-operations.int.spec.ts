/** Every operation against every way in which its call can end, over real HTTPS. */
import { systemClock } from '@tollgate/service-kit';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { ServiceOutcome } from './classify.ts';
import { createPaymentServiceClient, type PaymentServiceClient } from './client.ts';
import type { PayoutRequest } from '@tollgate/payment-api';
import {
  createAuthority,
  issue,
  json,
  rawAnswer,
  reset,
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
  /** Fields of the right answer beside `success`, and what is read from them; without `read`, the whole body. */
  right: object;
  read?: unknown;
  /** Answers of success that hold less than is needed, or something else, by the reason of the outcome. */
  wrong: Record<string, object[]>;
}

const holdEnd = (how: 'confirm' | 'decline'): Operation => ({
  run: (client) => (how === 'confirm' ? client.confirmPayment('token-1') : client.declinePayment('token-1')),
  request: { method: 'POST', url: `/api/v1/payments/${how}`, body: { token: 'token-1' } },
  right: { payment },
  read: payment,
  wrong: {
    'success without a readable payment': [{ payment: { status: 'approved' } }],
    'answer about another payment': [{ payment: { ...payment, token: 'token-2' } }, { token: 'token-2' }],
  },
});

const createPayout = (destination: PayoutRequest['destination']): Operation => ({
  run: (client) => client.createPayout({ ...payoutRequest, destination }),
  request: { method: 'POST', url: '/api/v1/payouts', body: { ...payoutRequest, destination } },
  right: { payout },
  wrong: {
    'success without a readable payout': [{}, { payout: { ...payout, token: '' } }],
    'answer about another payout': [{ payout: { ...payout, orderNumber: 'pay_2.1' } }],
  },
});

const listedPayment = { ...payment, operationType: 'pay', createdAt: '2026-11-02T23:59:59.999Z' };
const listedPayout = { ...payout, operationType: 'payout', createdAt: '2026-11-01T00:00:00Z' };

function pageOf(
  method: 'pageOfPayments' | 'pageOfPayouts',
  { type, name, row, other }: { type: string; name: string; row: object; other: object },
): Operation {
  const days = 'dateFrom=2026-11-01&dateTo=2026-11-02';
  return {
    run: (client) => client[method]({ from: '2026-11-01', to: '2026-11-02', page: 2 }),
    request: { method: 'GET', url: `/api/v1/payments?operationType=${type}&${days}&page=2&perPage=500` },
    right: { payments: [row, { ...row, createdAt: null }], totalCount: 502, page: 2, perPage: 500 },
    read: { found: [row, { ...row, createdAt: undefined }], total: 502 },
    wrong: {
      [`success without readable ${name}`]: [{}, { payments: [{ token: 'token-1' }] }],
      'list of another page': [
        { payments: [row], page: 1 },
        { payments: [row], perPage: 100 },
        { payments: Array.from({ length: 501 }, () => row) },
      ],
      'list of other operations': [{ payments: [row, other] }],
      'list of other days': [
        { payments: [{ ...row, createdAt: '2026-11-03T00:00:00Z' }] },
        { payments: [{ ...row, createdAt: '2026-10-31T23:59:59.999Z' }] },
      ],
      'list without all its rows': [
        { payments: [row], totalCount: 502 },
        { payments: [], totalCount: 501 },
      ],
    },
  };
}

const operations: Record<string, Operation> = {
  createPayment: {
    run: (client) => client.createPayment({ ...creation, recurringToken }),
    request: { method: 'POST', url: '/api/v1/payments', body: { ...creation, recurringToken } },
    right: { token: 'token-1', payment: { status: 'approved', amount: 450, currency: 'EUR' } },
    wrong: { 'success without a readable token and payment': [{}, { token: '' }] },
  },
  retrievePayment: {
    run: (client) => client.retrievePayment('token-1'),
    request: { method: 'GET', url: '/api/v1/payments/token-1' },
    right: { payment },
    read: payment,
    wrong: {
      'success without a readable payment': [{}],
      'answer about another payment': [{ payment: { ...payment, token: 'token-2' } }],
    },
  },
  listPayments: {
    run: (client) => client.listPayments({ orderNumber }),
    request: { method: 'GET', url: `/api/v1/payments?orderNumber=${orderNumber}` },
    right: { payments: [payment], totalCount: 1 },
    read: [payment],
    wrong: {
      'success without readable payments': [{}],
      'list of other order numbers': [{ payments: [{ ...payment, orderNumber: 'pay_2.1' }] }],
      'list without all its rows': [{ payments: [], totalCount: 1 }],
    },
  },
  confirmPayment: holdEnd('confirm'),
  declinePayment: holdEnd('decline'),
  refundPayment: {
    run: (client) => client.refundPayment({ token: 'token-1', amount: 40 }),
    request: { method: 'POST', url: '/api/v1/refunds', body: { token: 'token-1', amount: 40 } },
    right: { token: 'refund-1', refund },
    wrong: {
      'success without a readable refund': [{}, { token: 'refund-1' }, { refund }],
      'success without a token of the refund': [
        { token: 'token-1', refund: { ...refund, token: 'token-1' } },
      ],
      'answer about another payment': [{ token: 'refund-1', refund, payment: { token: 'token-2' } }],
    },
  },
  'createPayout to a card': createPayout({ card: { pan, expires: '12/2030' } }),
  'createPayout to a recurring token': createPayout({ recurringToken }),
  'createPayout to a bank account': createPayout({ bankAccount: { bankName: 'Bank', account } }),
  retrievePayout: {
    run: (client) => client.retrievePayout('payout-1'),
    request: { method: 'GET', url: '/api/v1/payments/payout-1' },
    right: { payment: { ...payout, operationType: 'payout' } },
    read: { ...payout, operationType: 'payout' },
    wrong: {
      'success without a readable payout': [{}],
      'answer about another payout': [{ payment }, { payment: { ...payout, operationType: 'pay' } }],
    },
  },
  listPayouts: {
    run: (client) => client.listPayouts({ orderNumber }),
    request: { method: 'GET', url: `/api/v1/payments?operationType=payouts&orderNumber=${orderNumber}` },
    right: { payments: [payout], totalCount: 1 },
    read: [payout],
    wrong: {
      'success without readable payouts': [{}],
      'list of other order numbers': [{ payments: [{ ...payout, orderNumber: 'pay_2.1' }] }],
      'list without all its rows': [{ payments: [], totalCount: 1 }],
    },
  },
  pageOfPayments: pageOf('pageOfPayments', {
    ...{ type: 'pays', name: 'payments', row: listedPayment, other: listedPayout },
  }),
  pageOfPayouts: pageOf('pageOfPayouts', {
    ...{ type: 'payouts', name: 'payouts', row: listedPayout, other: listedPayment },
  }),
  retrieveBalance: {
    run: (client) => client.retrieveBalance('EUR'),
    request: { method: 'GET', url: '/api/v1/balance?currency=EUR' },
    right: { wallet },
    read: wallet,
    wrong: {
      'success without a readable balance': [{}],
      'answer about another currency': [{ wallet: { ...wallet, currency: 'USD' } }],
    },
  },
  listDisputes: {
    run: (client) => client.listDisputes(),
    request: { method: 'GET', url: '/api/v1/disputes/list' },
    right: { disputes: [dispute] },
    read: { found: [dispute], unreadable: 0 },
    wrong: { 'success without readable disputes': [{}, { disputes: [{ status: 'pending' }] }] },
  },
};

let peer: HttpsPeer;
let client: PaymentServiceClient;

/** What came before a test is not its business. */
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

/** What a peer may repeat. The key and the request apart: the one must not be removed for the sake of the other. */
const repeated = {
  'the key': ({ headers }: Arrival) => headers.authorization ?? '',
  'the request': ({ url, body }: Arrival) => `${url} ${body}`,
};

describe.each(Object.entries(operations))('%s', (_name, { run, request, right, read, wrong }) => {
  const answer = { success: true, ...right };

  it('asks as the specification says, once, and hands on what is answered', async () => {
    peer.next(json(200, answer));
    expect(await run(client)).toEqual({ kind: 'accepted', answer: read ?? answer });

    const { body, ...line } = request;
    expect(arrivals()).toMatchObject([{ ...line, headers: { authorization: `Bearer ${key}` } }]);
    expect(arrivals()[0]?.body).toBe(body === undefined ? '' : JSON.stringify(body));
  });

  const text = JSON.stringify(answer);
  const unreadable: [string, Behaviour, string][] = [
    ['a lost reply', reset, 'connection reset'],
    [
      'an error of the service',
      json(500, { success: false, errors: [{ code: 'core_api_error', kind: 'api_error' }] }),
      'api_error core_api_error',
    ],
    ['the right answer with an error status', json(503, answer), 'success with http 503'],
    [
      'a page',
      ({ response }) => void response.writeHead(502).end('<h1>Bad Gateway</h1>'),
      'http 502 without a readable body',
    ],
    [
      'half of the right answer',
      rawAnswer(`HTTP/1.1 200 OK\r\nconnection: close\r\n\r\n${text.slice(0, text.length / 2)}`),
      'http 200 without a readable body',
    ],
    [
      'the right answer cut short',
      rawAnswer(`HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: 5000\r\n\r\n${text}`),
      'body cut short',
    ],
    [
      'an error of a kind that nobody knows',
      json(409, { success: false, errors: [{ code: 'declined_by_bank', kind: 'bank_error' }] }),
      'unknown kind unknown code',
    ],
  ];
  it.each(unreadable)('is unknown after %s, and is not sent again', async (_case, behaviour, reason) => {
    peer.next(behaviour);
    expect(await run(client)).toEqual({ kind: 'unknown', reason });
    expect(arrivals().length).toBe(1);
  });

  const wrongAnswers = Object.entries(wrong).flatMap(([reason, bodies]) =>
    bodies.map((body) => [reason, body] as const),
  );
  it.each(wrongAnswers)('is unknown (%s) after %j', async (reason, body) => {
    peer.next(json(200, { success: true, ...body }));
    expect(await run(client)).toEqual({ kind: 'unknown', reason });
  });

  it('is refused with any code, whatever the status', async () => {
    const error = { code: 'some_code_of_theirs', kind: 'processing_error', message: 'Too little.' };
    for (const statusCode of [409, 200, 502]) {
      peer.next(json(statusCode, { success: false, errors: [error] }));
      expect(await run(client)).toEqual({ kind: 'refused', errors: [error] });
    }
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

describe('the end of a hold without a payment', () => {
  it('is accepted, with nothing to read', async () => {
    peer.next(json(200, { success: true }), json(200, { success: true, payment: null }));
    expect(await client.confirmPayment('token-1')).toEqual({ kind: 'accepted', answer: undefined });
    expect(await client.declinePayment('token-1')).toEqual({ kind: 'accepted', answer: undefined });
  });
});

describe('a request that would ask for something else than was meant is not sent', () => {
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

  it('and what is odd keeps inside its place', async () => {
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
