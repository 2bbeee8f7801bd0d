import { expect, test } from 'vitest';
import { formatApiKey, hashApiKeySecret, parseApiKey, type ApiKey } from './api-key.ts';

const key: ApiKey = { environment: 'sandbox', keyId: 'k1', secret: 'a_b-c0123456789xyz' };

test('a key is read back from its text, with any secret', () => {
  expect(formatApiKey(key)).toBe('tg_sandbox_k1_a_b-c0123456789xyz');
  expect(parseApiKey(formatApiKey(key))).toEqual(key);
});

test.each([
  '',
  'tg_staging_k1_0123456789abcdef',
  'tg_sandbox_k1_short',
  'tg_sandbox__0123456789abcdef',
  `tg_sandbox_k1_${'x'.repeat(129)}`,
  'tg_sandbox_k1_0123456789abcdef\n',
  ' tg_sandbox_k1_0123456789abcdef',
])('%j is not a key', (text) => {
  expect(parseApiKey(text)).toBeUndefined();
});

test('a key with ambiguous parts is not written', () => {
  expect(() => formatApiKey({ ...key, keyId: 'k_1' })).toThrow(RangeError);
});

test('the hash is SHA-256 in hexadecimal', () => {
  expect(hashApiKeySecret('abc')).toBe('ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad');
});
