import { expect, it } from 'vitest';
import { secureAttribute } from './cookies.ts';

// Also applies to a proxy that terminates TLS and is missing from TRUSTED_PROXIES.
it.each([
  ['HTTPS of our own', 'https', {}, undefined, '; Secure'],
  ['a proxy that is not declared', 'http', { 'x-forwarded-proto': 'https' }, undefined, '; Secure'],
  ['a public URL with https', 'http', {}, 'https://pay.example', '; Secure'],
  ['plain HTTP', 'http', {}, undefined, ''],
  ['plain HTTP behind a proxy', 'http', { 'x-forwarded-proto': 'http' }, 'http://127.0.0.1:3000', ''],
] as const)('cookies by %s', (_, protocol, headers, publicUrl, attribute) => {
  expect(secureAttribute({ protocol, headers }, publicUrl)).toBe(attribute);
});
