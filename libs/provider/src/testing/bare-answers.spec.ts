import { expect, it } from 'vitest';
import { toBareAnswer, withoutFilters } from './bare-answers.ts';

const bare = (method: string, path: string, body: object) =>
  JSON.parse(toBareAnswer({ method, path }, { statusCode: 200, body: JSON.stringify(body) }).body) as unknown;

const payment = { token: 'a', status: 'approved', orderNumber: 'o', amount: 5, refundedAmount: 0 };
const ok = { success: true };

it.each([
  ['POST', 'payments', { ...ok, token: 'a', payment }, { ...ok, token: 'a' }],
  ['POST', 'payments/confirm', { ...ok, payment }, ok],
  ['POST', 'refunds', { ...ok, token: 'r', refund: { token: 'r' } }, { ...ok, token: 'r' }],
  ['POST', 'payouts', { ...ok, payout: { token: 'p', status: 'approved' } }, { ...ok, token: 'p' }],
  [
    'GET',
    'balance?currency=EUR',
    { ...ok, wallet: { available: 1, hold: 2 } },
    { ...ok, available: 1, held: 2 },
  ],
  ['GET', 'disputes/list', { ...ok, disputes: [{ id: 'd' }] }, { ...ok, disputes: [{}] }],
])('%s /%s shows no more than the specification', (method, path, rich, shown) => {
  expect(bare(method, `/api/v1/${path}`, rich)).toEqual(shown);
});

it('a payment has token, status and number; a payout has no status', () => {
  const shown = { token: 'a', status: 'approved', orderNumber: 'o' };
  expect(bare('GET', '/api/v1/payments/a', { ...ok, payment })).toEqual({ ...ok, payment: shown });
  expect(bare('GET', '/api/v1/payments', { ...ok, payments: [payment], totalCount: 1 })).toEqual({
    ...ok,
    payments: [shown],
  });
  const payout = { ...payment, operationType: 'payouts' };
  expect(bare('GET', '/api/v1/payments/a', { ...ok, payment: payout })).toEqual({
    ...ok,
    payment: { token: 'a', orderNumber: 'o' },
  });
});

it('a failure keeps its kind, and has a code that is on no list', () => {
  const errors = [
    { code: 'incorrect_amount', kind: 'invalid_request_error', message: 'no', parameter: 'amount' },
  ];
  expect(bare('POST', '/api/v1/refunds', { success: false, errors })).toEqual({
    success: false,
    errors: [{ code: expect.stringMatching(/^E\d{4}$/), kind: 'invalid_request_error' }],
  });
});

it('lists are requested without filters, a balance for its currency', () => {
  const asked = (path: string) => withoutFilters({ method: 'GET', path }).path;
  expect(asked('/api/v1/payments?orderNumber=o')).toBe('/api/v1/payments');
  expect(asked('/api/v1/balance?currency=EUR')).toBe('/api/v1/balance?currency=EUR');
});
