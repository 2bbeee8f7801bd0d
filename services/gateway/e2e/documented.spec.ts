import { docUrlOf } from '@tollgate/gateway-api/http';
import { expect, it } from 'vitest';
import { expectDocumented } from './documented.ts';
import type { Answer } from './system.ts';

const answer = (statusCode: number, body: object, headers: Answer['headers'] = {}): Answer => ({
  statusCode,
  headers,
  body: body as Answer['body'],
});
const wallet = { currency: 'EUR', available: 1, hold: 0 };
const refused = (code: string) =>
  answer(400, {
    success: false,
    errors: [{ code, kind: 'invalid_request_error', message: 'No.', docUrl: docUrlOf(code) }],
    requestId: 'req_1',
  });
const balance = '/api/v1/balance?currency=EUR';

it('accepts an answer in the document', () => {
  expect(expectDocumented('GET', balance, answer(200, { success: true, wallet }))).toBe(
    'retrieveBalance 200',
  );
  expect(expectDocumented('GET', balance, refused('incorrect_currency'))).toBe('retrieveBalance 400');
});

it.each([
  ['a field', answer(200, { success: true, wallet: { ...wallet, owner: 'demo' } })],
  ['the lack of a field', answer(200, { success: true, wallet: { currency: 'EUR', available: 1 } })],
  ['a status', answer(418, { success: false, errors: [] })],
  ['an error code', refused('out_of_tea')],
  ['a header', answer(200, { success: true, wallet }, { 'tollgate-position': '1' })],
])('rejects %s that is not in it', (_, undocumented) => {
  expect(() => expectDocumented('GET', balance, undocumented)).toThrow();
});

it('accepts an answer without a documented body only without one', () => {
  const url = '/api/v1/payments/pay_1';
  const headers = { etag: '"x"' };
  const empty = { ...answer(304, {}, headers), body: '' as unknown as Answer['body'] };
  expect(expectDocumented('GET', url, empty)).toBe('retrievePayment 304');
  expect(() => expectDocumented('GET', url, answer(304, {}, headers))).toThrow();
  expect(() => expectDocumented('GET', balance, answer(200, { success: true, wallet }, headers))).toThrow();
});

it('rejects a call that is not in it', () => {
  expect(() => expectDocumented('GET', '/api/v1/tea', answer(200, {}))).toThrow('is not in the document');
});
