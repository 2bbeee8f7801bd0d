import { expect, test } from 'vitest';
import { isOwnCallback } from './inquire-payment.ts';

const own = 'https://gateway.example/callbacks/sandbox/pay_1/k1.mac';

test.each([
  ['the same address', own],
  ['a rotated secret', 'https://gateway.example/callbacks/sandbox/pay_1/k2.other'],
  ['a base that has moved', 'http://10.0.0.7:3001/behind/callbacks/sandbox/pay_1/k1.mac'],
  ['what a service writes differently', 'HTTPS://Gateway.Example:443/callbacks/sandbox/pay_1/k1.mac'],
])('%s is our callback', (_, shown) => {
  expect(isOwnCallback(own, shown)).toBe(true);
});

test.each([
  ['another host with another secret', 'https://staging.example/callbacks/sandbox/pay_1/k9.other'],
  ["another payment's", 'https://gateway.example/callbacks/sandbox/pay_2/k1.other'],
  ['no callback of a gateway at all', 'https://shop.example'],
])('%s is not', (_, shown) => {
  expect(isOwnCallback(own, shown)).toBe(false);
});

test.each([undefined, '', '***'])('%j proves nothing', (shown) => {
  expect(isOwnCallback(own, shown)).toBeUndefined();
});
