import {
  createPaymentAnswerSchema,
  errorBodySchema,
  listPaymentsAnswerSchema,
  retrievePaymentAnswerSchema,
} from '@tollgate/payment-api';
import { Secret } from '@tollgate/service-kit';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { errorsOf, startHarness, type Harness } from './testing/harness.ts';
import { approvedCard, tea } from './testing/samples.ts';

let harness: Harness;
beforeAll(async () => {
  harness = await startHarness();
});
afterAll(() => harness.remove());

const post = (body: unknown) => harness.call('POST', '/api/v1/payments', body);

describe('authentication', () => {
  const paths = [
    ['GET', '/api/v1/payments'],
    ['POST', '/api/v1/payments'],
    ['GET', '/api/v1/payments/any'],
    ['GET', '/sandbox/ledger'],
    ['POST', '/sandbox/faults'],
  ] as const;

  it.each(paths)('rejects %s %s without a header, before the body is read', async (method, path) => {
    const answer = await harness.call(method, path, method === 'POST' ? 'not json' : undefined, null);
    expect(answer.statusCode).toBe(401);
    expect(errorsOf(answer)).toMatchObject([
      { code: 'auth_header_not_found', kind: 'authentication_error', parameter: 'Authorization' },
    ]);
  });

  it.each([
    'Bearer sk_sandbox_000000000000000000000000',
    'Bearer sk_production_000000000000000000000000',
    'Bearer x',
    "Bearer ' OR 1=1 --",
  ])('rejects the wrong key %s', async (authorization) => {
    const answer = await harness.call('GET', '/api/v1/payments', undefined, authorization);
    expect(answer.statusCode).toBe(401);
    expect(answer.body['success']).toBe(false);
    if (authorization.split(' ').length === 2)
      expect(errorsOf(answer)).toMatchObject([
        { code: 'incorrect_private_key', kind: 'authentication_error' },
      ]);
  });

  it.each(['Basic abc', 'Bearer', 'Bearer   ', ''])('finds no bearer key in %j', async (authorization) => {
    const answer = await harness.call('GET', '/api/v1/payments', undefined, authorization);
    expect(errorsOf(answer)).toMatchObject([{ code: 'auth_header_not_found' }]);
  });

  it('rejects a key with one character changed, and takes the right one', async () => {
    const wrong = `${harness.key().slice(0, -1)}${harness.key().endsWith('0') ? '1' : '0'}`;
    expect((await harness.call('GET', '/api/v1/payments', undefined, `Bearer ${wrong}`)).statusCode).toBe(
      401,
    );
    expect((await harness.call('GET', '/api/v1/payments')).statusCode).toBe(200);
  });
});

describe('the registration of a merchant', () => {
  it('gives a key that works, and keeps a given one', async () => {
    const made = await harness.addMerchant({ name: 'registered' });
    expect(made).toMatch(/^sk_sandbox_[0-9a-f]{48}$/);
    const key = `sk_sandbox_${'k'.repeat(32)}`;
    for (let times = 0; times < 2; times += 1)
      expect(await harness.addMerchant({ name: 'registered', key: new Secret(key) })).toBe(key);
    for (const each of [made, key])
      expect((await harness.call('GET', '/api/v1/payments', undefined, `Bearer ${each}`)).statusCode).toBe(
        200,
      );
  });

  it('refuses a key of another merchant or environment', async () => {
    await expect(
      harness.addMerchant({ name: 'thief', key: new Secret(harness.key()) }),
    ).rejects.toMatchObject({
      code: 'key_taken',
    });
    const production = new Secret(`sk_production_${'k'.repeat(32)}`);
    await expect(harness.addMerchant({ name: 'thief', key: production })).rejects.toMatchObject({
      code: 'key_invalid',
    });
  });
});

describe('POST /api/v1/payments', () => {
  it('answers 200 with a token of 32 characters, the page, and the payment', async () => {
    const answer = await post({ ...tea, orderNumber: 'create-1' });
    expect(answer.statusCode).toBe(200);
    const { token, processingUrl, payment } = createPaymentAnswerSchema.parse(answer.body);
    expect(token).toMatch(/^[0-9a-f]{32}$/);
    expect(processingUrl).toBe(`${harness.addresses().httpsUrl}/checkout/${token}`);
    expect(payment).toEqual({ amount: 1250, currency: 'EUR', status: 'init' });
  });

  it('takes every optional field of the hosted checkout', async () => {
    const answer = await post({
      ...tea,
      orderNumber: 'create-2',
      redirectSuccessUrl: 'https://shop.example/ok',
      redirectFailUrl: 'https://shop.example/no',
      locale: 'de-AT',
      needConfirmation: true,
      recurring: true,
      customer: { email: 'ada@example.org', ip: '192.0.2.1' },
    });
    expect(answer.statusCode).toBe(200);
    expect(answer.text).not.toContain('ada@example.org');
  });

  it('takes the same orderNumber again unless the merchant has asked for unique ones', async () => {
    expect((await post({ ...tea, orderNumber: 'twice' })).statusCode).toBe(200);
    expect((await post({ ...tea, orderNumber: 'twice' })).statusCode).toBe(200);
  });

  it.each([
    ['product', { product: undefined }, 'invalid_param'],
    ['product', { product: '' }, 'invalid_param'],
    ['product', { product: 'x'.repeat(256) }, 'invalid_param'],
    ['amount', { amount: undefined }, 'incorrect_amount'],
    ['amount', { amount: 0 }, 'incorrect_amount'],
    ['amount', { amount: -1 }, 'incorrect_amount'],
    ['amount', { amount: 12.5 }, 'incorrect_amount'],
    ['amount', { amount: '1250' }, 'incorrect_amount'],
    ['amount', { amount: 2 ** 53 }, 'incorrect_amount'],
    ['currency', { currency: undefined }, 'incorrect_currency'],
    ['currency', { currency: 'eur' }, 'incorrect_currency'],
    ['currency', { currency: 'XXX' }, 'incorrect_currency'],
    ['currency', { currency: 978 }, 'incorrect_currency'],
    ['callbackUrl', { callbackUrl: undefined }, 'invalid_param'],
    ['callbackUrl', { callbackUrl: 'ftp://shop.example' }, 'invalid_param'],
    ['callbackUrl', { callbackUrl: 'shop' }, 'invalid_param'],
    ['redirectSuccessUrl', { redirectSuccessUrl: 'javascript:alert(1)' }, 'invalid_param'],
    ['redirectFailUrl', { redirectFailUrl: 'data:text/html,x' }, 'invalid_param'],
    ['orderNumber', { orderNumber: '' }, 'invalid_param'],
    ['orderNumber', { orderNumber: 17 }, 'invalid_param'],
    ['locale', { locale: 'not a locale' }, 'invalid_param'],
    ['needConfirmation', { needConfirmation: 'yes' }, 'invalid_param'],
    ['customer.email', { customer: { email: 'nobody' } }, 'invalid_param'],
    ['unheardOf', { unheardOf: 1 }, 'invalid_param'],
    ['card', { card: 'broken' }, 'invalid_param'],
    ['recurringToken', { recurringToken: '' }, 'invalid_param'],
  ])('refuses a wrong %s (%j) by name', async (parameter, fields, code) => {
    const answer = await post({ ...tea, ...fields });
    expect(answer.statusCode).toBe(400);
    errorBodySchema.parse(answer.body);
    expect(errorsOf(answer)).toEqual([
      {
        code,
        kind: 'invalid_request_error',
        parameter,
        message: expect.stringContaining(parameter) as string,
      },
    ]);
    expect(answer.text).not.toContain(approvedCard);
  });

  it('reports every fault of a request at once', async () => {
    const answer = await post({ amount: 0, currency: 'x', callbackUrl: 1, one: 1, two: 2 });
    const parameters = errorsOf(answer).map(({ parameter }) => parameter);
    expect(parameters.sort()).toEqual(['amount', 'callbackUrl', 'currency', 'one', 'product', 'two']);
  });

  it.each([
    ['not JSON', '{"product":', 'invalid_json', 400],
    ['empty', '', 'invalid_param', 400],
    ['a poisoned prototype', '{"__proto__":{"a":1}}', 'invalid_json', 400],
    ['a list', [tea], 'invalid_param', 400],
    ['null', 'null', 'invalid_param', 400],
  ])('refuses a body that is %s', async (_name, body, code, statusCode) => {
    const answer = await post(body);
    expect(answer.statusCode).toBe(statusCode);
    expect(errorsOf(answer)).toMatchObject([{ code, kind: 'invalid_request_error', parameter: 'body' }]);
  });

  it('refuses a body of more than 64 KiB', async () => {
    const answer = await post({ ...tea, product: 'x'.repeat(70_000) });
    expect(answer.statusCode).toBe(413);
    expect(errorsOf(answer)).toMatchObject([{ kind: 'invalid_request_error' }]);
  });
});

describe('the merchant setting uniqueOrderNumber', () => {
  it('refuses a second payment with the same orderNumber, and only of the same merchant', async () => {
    await post({ ...tea, orderNumber: 'unique' });
    const key = await harness.addMerchant({ name: 'strict', uniqueOrderNumber: true });
    const create = (orderNumber?: string) =>
      harness.call('POST', '/api/v1/payments', { ...tea, orderNumber }, `Bearer ${key}`);
    expect((await create('unique')).statusCode).toBe(200);
    const refused = await create('unique');
    expect(refused.statusCode).toBe(409);
    expect(errorsOf(refused)).toMatchObject([
      { code: 'order_number_already_exists', kind: 'processing_error', parameter: 'orderNumber' },
    ]);
    expect((await create('another')).statusCode).toBe(200);
    expect([(await create()).statusCode, (await create()).statusCode]).toEqual([200, 200]);
  });

  it('holds for creations that arrive together', async () => {
    const key = await harness.addMerchant({ name: 'strict', uniqueOrderNumber: true });
    const answers = await Promise.all(
      Array.from({ length: 10 }, () =>
        harness.call('POST', '/api/v1/payments', { ...tea, orderNumber: 'race' }, `Bearer ${key}`),
      ),
    );
    expect(answers.filter(({ statusCode }) => statusCode === 200)).toHaveLength(1);
  });
});

describe('GET /api/v1/payments/{token}', () => {
  it('shows the payment with every field, and the page while it is not final', async () => {
    const fields = {
      ...tea,
      orderNumber: 'get-1',
      redirectSuccessUrl: 'https://shop.example/ok',
      locale: 'fr',
    };
    const token = await harness.create(fields);
    const answer = await harness.call('GET', `/api/v1/payments/${token}`);
    const { payment } = retrievePaymentAnswerSchema.parse(answer.body);
    expect(payment).toEqual({
      ...fields,
      token,
      status: 'init',
      redirectFailUrl: null,
      needConfirmation: false,
      heldAmount: 0,
      refundedAmount: 0,
      processingUrl: `${harness.addresses().httpsUrl}/checkout/${token}`,
      createdAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/) as string,
      updatedAt: payment.createdAt,
    });
    await harness.pay(token, { outcome: 'approved' });
    expect((await harness.retrieve(token)).processingUrl).toBeUndefined();
  });

  it.each(['0'.repeat(32), 'x', '%00', 'x'.repeat(400)])('does not find the payment %s', async (token) => {
    const answer = await harness.call('GET', `/api/v1/payments/${token}`);
    expect(answer.statusCode).toBe(404);
    expect(errorsOf(answer)).toMatchObject([
      { code: 'payment_not_found', kind: 'invalid_request_error', parameter: 'token' },
    ]);
  });

  it("does not find another merchant's payment, in the same words", async () => {
    const token = await harness.create();
    const stranger = `Bearer ${await harness.addMerchant({ name: 'stranger' })}`;
    const others = await harness.call('GET', `/api/v1/payments/${token}`, undefined, stranger);
    const nobodys = await harness.call('GET', `/api/v1/payments/${'0'.repeat(32)}`, undefined, stranger);
    expect(others).toEqual(nobodys);
  });
});

describe('GET /api/v1/payments', () => {
  let key: string;
  const list = (query: string) => harness.call('GET', `/api/v1/payments${query}`, undefined, `Bearer ${key}`);
  const tokensOf = async (query: string) =>
    listPaymentsAnswerSchema.parse((await list(query)).body).payments.map((payment) => payment.token);
  const tokens: string[] = [];
  const day = (offset: number) => new Date(Date.now() + offset * 86_400_000).toISOString().slice(0, 10);

  beforeAll(async () => {
    key = await harness.addMerchant({ name: 'lister' });
    for (const orderNumber of ['one', 'two', 'two']) {
      const body = { ...tea, orderNumber };
      const answer = await harness.call('POST', '/api/v1/payments', body, `Bearer ${key}`);
      tokens.unshift(String(answer.body['token']));
    }
  });

  it('lists the merchant’s own payments, newest first, with their page', async () => {
    const { body } = await list('');
    expect(body).toMatchObject({ success: true, totalCount: 3, page: 1, perPage: 20 });
    expect(await tokensOf('')).toEqual(tokens);
    expect(body['payments']).toMatchObject([
      { processingUrl: expect.stringContaining('/checkout/') as string },
      {},
      {},
    ]);
  });

  it('pages', async () => {
    expect(await tokensOf('?perPage=2')).toEqual(tokens.slice(0, 2));
    expect(await tokensOf('?perPage=2&page=2')).toEqual(tokens.slice(2));
    expect(await tokensOf('?perPage=2&page=3')).toEqual([]);
    expect((await list('?perPage=2&page=2')).body).toMatchObject({ totalCount: 3, page: 2, perPage: 2 });
  });

  it('finds by orderNumber', async () => {
    expect(await tokensOf('?orderNumber=two')).toEqual(tokens.slice(0, 2));
    expect(await tokensOf('?orderNumber=three')).toEqual([]);
    expect((await list('?orderNumber=two')).body['totalCount']).toBe(2);
  });

  it('takes whole days in UTC, both included', async () => {
    // A test that runs over midnight sees yesterday's payments: the days around today are far enough.
    expect(await tokensOf(`?dateFrom=${day(-1)}&dateTo=${day(1)}`)).toEqual(tokens);
    expect(await tokensOf(`?dateFrom=${day(2)}`)).toEqual([]);
    expect(await tokensOf(`?dateTo=${day(-2)}`)).toEqual([]);
  });

  it('lists payments only, where there are no payouts', async () => {
    expect(await tokensOf('?operationType=payouts')).toEqual([]);
    expect(await tokensOf('?operationType=all')).toEqual(tokens);
    expect(await tokensOf('?operationType=pays')).toEqual(tokens);
  });

  it.each([
    ['perPage', '?perPage=501'],
    ['perPage', '?perPage=0'],
    ['page', '?page=0'],
    ['page', '?page=x'],
    ['page', '?page=1&page=2'],
    ['dateFrom', '?dateFrom=2026-02-30'],
    ['dateTo', '?dateTo=yesterday'],
    ['dateFrom', '?dateFrom=2026-01-02&dateTo=2026-01-01'],
    ['operationType', '?operationType=refunds'],
    ['orderNumber', '?orderNumber='],
    ['status', '?status=init'],
  ])('refuses a wrong %s (%s) by name', async (parameter, query) => {
    const answer = await list(query);
    expect(answer.statusCode).toBe(400);
    expect(errorsOf(answer)).toMatchObject([
      { code: 'invalid_param', kind: 'invalid_request_error', parameter },
    ]);
  });
});
