import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseDataSecrets } from '@tollgate/service-kit';
import {
  type IdempotencyKey,
  createFingerprints,
  deriveOperationToken,
  tokenInOrderNumber,
} from './tokens.ts';

const key = (value: string) => ({ source: 'Idempotency-Key', value }) as const;

const derivePaymentToken = (environment: string, team: string, by: IdempotencyKey, installation = 'home') =>
  deriveOperationToken('pay', { installation, environment, team }, by);

describe('the token of a request', () => {
  it('is the same for the same request and has only one form', () => {
    const token = derivePaymentToken('sandbox', 'demo', key('a'));
    expect(token).toBe(derivePaymentToken('sandbox', 'demo', key('a')));
    expect(token).toMatch(/^pay_[a-z2-7]{26}$/);
  });

  it('is a prefix of RFC 4648 base32', () => {
    // SHA-256 of ["home","sandbox","demo","payment","Idempotency-Key","a"], encoded by another implementation.
    expect(derivePaymentToken('sandbox', 'demo', key('a'))).toBe('pay_r7idjeebk43lf337ab3c7qurrm');
  });

  // A recreated store found the charge of the former one under its own number, and called it approved.
  it('differs in another installation', () => {
    const [here, there] = ['home', 'elsewhere'].map((name) =>
      derivePaymentToken('sandbox', 'demo', key('a'), name),
    );
    expect(here).not.toBe(there);
  });

  it('separates environments, teams, keys and sources of key', () => {
    const part = fc.string({ maxLength: 12 });
    const identity = fc.tuple(
      part,
      part,
      fc.constantFrom('Idempotency-Key' as const, 'orderNumber' as const),
      part,
    );
    fc.assert(
      fc.property(identity, identity, (a, b) => {
        fc.pre(JSON.stringify(a) !== JSON.stringify(b));
        const [first, second] = [a, b].map(([environment, team, source, value]) =>
          derivePaymentToken(environment, team, { source, value }),
        );
        expect(first).not.toBe(second);
      }),
    );
  });
});

const secretOf = (kid: string, letter = kid) => `${kid}:${letter.repeat(32)}`;
const underSecrets = (...secrets: string[]) => createFingerprints(parseDataSecrets(secrets.join(',')));
const fingerprintOf = (value: object, ...secrets: string[]) =>
  underSecrets(...secrets, secretOf('a'))(value).fingerprint;

describe('the fingerprint of a request', () => {
  it('does not depend on the order of fields, at any depth', () => {
    expect(fingerprintOf({ a: 1, b: { c: [1, 2], d: 'x' } })).toBe(
      fingerprintOf({ b: { d: 'x', c: [1, 2] }, a: 1 }),
    );
  });

  it('is the same for an absent and an undefined field', () => {
    expect(fingerprintOf({ a: 1, b: undefined })).toBe(fingerprintOf({ a: 1 }));
  });

  it('is the same for an explicit default and an absent field', () => {
    expect(fingerprintOf({ a: 1, flag: false, metadata: {} })).toBe(fingerprintOf({ a: 1 }));
  });

  it.each([
    [{ a: true }, {}],
    [{ a: 1 }, { a: 2 }],
    [{ a: '1' }, { a: 1 }],
    [{ a: [1, 2] }, { a: [2, 1] }],
    [{ a: null }, {}],
    [{ a: { b: 1 } }, { b: { a: 1 } }],
  ])('distinguishes %j from %j', (a, b) => {
    expect(fingerprintOf(a)).not.toBe(fingerprintOf(b));
  });

  it('names its secret, and differs under another secret of the same name', () => {
    expect(fingerprintOf({ a: 1 })).toMatch(/^a\.[\w-]{43}$/);
    expect(underSecrets(secretOf('a', 'z'))({ a: 1 }).fingerprint).not.toBe(fingerprintOf({ a: 1 }));
  });

  it('is made under the first secret, and recognized under all', () => {
    const both = underSecrets(secretOf('b'), secretOf('a'))({ a: 1 });
    expect(both.fingerprint).toBe(fingerprintOf({ a: 1 }, secretOf('b')));
    expect(both.earlierFingerprints).toEqual([fingerprintOf({ a: 1 })]);
  });
});

describe('the token in an order number', () => {
  const token = derivePaymentToken('sandbox', 'demo', key('a'));

  it('is found only in the number of an attempt of the same kind', () => {
    expect(tokenInOrderNumber('pay', `${token}.1`)).toBe(token);
    expect(tokenInOrderNumber('po', `${token}.1`)).toBeUndefined();
  });

  it.each([
    undefined,
    token,
    `${token}.`,
    `${token}.1234567890`,
    `x${token}.1`,
    'pay_2024.17',
    `${token.toUpperCase()}.1`,
  ])('is not found in %s', (orderNumber) => expect(tokenInOrderNumber('pay', orderNumber)).toBeUndefined());
});
