import type { FastifyReply, FastifyRequest } from 'fastify';
import { expect, it, test } from 'vitest';
import { keepReturnAddress, takeReturnAddress } from './return-address.ts';

/** A browser that requests a page, is refused, and signs in. @returns the URL after signing in */
function signInAfter(request: { method: string; url: string; referer?: string }): string {
  let cookie = '';
  const reply = {
    header: (_name: string, value: string) => (cookie = value.split(';', 1)[0] ?? ''),
  } as unknown as FastifyReply;
  const { method, url, referer } = request;
  keepReturnAddress({ method, url, headers: { referer } } as unknown as FastifyRequest, reply, '');
  return takeReturnAddress({ headers: { cookie } } as unknown as FastifyRequest, reply, '');
}

test.each([
  ['/console/payments/pay_1?timeline=newest', '/console/payments/pay_1?timeline=newest'],
  ['/console', '/console'],
  ['/console/sign-in?link=used', '/console'],
  ['/console/search/suggestions?q=4711', '/console'],
  ['/consoles', '/console'],
  ['//elsewhere.test/console', '/console'],
  ['/console/a\r\nset-cookie: b', '/console'],
])('signing in after %j leads to %s', (url, page) => {
  expect(signInAfter({ method: 'GET', url })).toBe(page);
});

it('leads back to the form that was sent, regardless of the site in the referer', () => {
  const sent = { method: 'POST', url: '/console/payments/pay_1/refund' };
  expect(signInAfter({ ...sent, referer: 'http://gateway.test/console/payments/pay_1' })).toBe(
    '/console/payments/pay_1',
  );
  expect(signInAfter({ ...sent, referer: 'http://elsewhere.test/' })).toBe('/console');
  expect(signInAfter(sent)).toBe('/console');
});
