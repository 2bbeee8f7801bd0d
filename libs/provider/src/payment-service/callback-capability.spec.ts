import { describe, expect, it } from 'vitest';
import { callbackPath, parseCallbackSecrets, readCallbackCapability } from './callback-capability.ts';

const issuedAt = Date.UTC(2026, 10, 23, 12);
const day = Date.UTC(2026, 10, 23);

const secret = (letter: string) => letter.repeat(32);

describe('parseCallbackSecrets', () => {
  it('reads one secret, or two in the order of their use', () => {
    expect(parseCallbackSecrets(`a:${secret('x')}`).map(({ kid }) => kid)).toEqual(['a']);
    expect(parseCallbackSecrets(`b:${secret('y')}, a:${secret('x')}`).map(({ kid }) => kid)).toEqual([
      'b',
      'a',
    ]);
  });

  it.each([
    ['nothing', ''],
    ['no kid', secret('x')],
    ['a short secret', 'a:short'],
    ['the same kid twice', `a:${secret('x')},a:${secret('y')}`],
    ['three secrets', `a:${secret('x')},b:${secret('y')},c:${secret('z')}`],
  ])('refuses %s, names the variable and does not repeat the value', (_name, text) => {
    expect(() => parseCallbackSecrets(text)).toThrow(/CALLBACK_SECRETS/);
    expect(() => parseCallbackSecrets(text)).not.toThrow(/xxxx|short,/);
  });
});

describe('a capability', () => {
  const secrets = parseCallbackSecrets(`b:${secret('y')},a:${secret('x')}`);

  it('is made with the first secret and accepted with each', () => {
    const [first, second] = secrets;
    for (const active of [first, second]) {
      if (active === undefined) throw new Error('missing');
      const capability = callbackPath([active], 'sandbox', 'pay_1', issuedAt).split('/').at(-1) ?? '';
      expect(readCallbackCapability(secrets, 'sandbox', 'pay_1', capability)).toEqual({ issuedAt: day });
    }
    expect(callbackPath(secrets, 'sandbox', 'pay_1', issuedAt)).toContain('/b.');
  });

  it('is invalid once its secret is removed', () => {
    const capability = callbackPath(secrets, 'sandbox', 'pay_1', issuedAt).split('/').at(-1) ?? '';
    expect(readCallbackCapability(secrets.slice(1), 'sandbox', 'pay_1', capability)).toBeUndefined();
  });

  it('distinguishes environment from token, even if they join to the same text', () => {
    const capability = callbackPath(secrets, 'sandbox', 'pay_1', issuedAt).split('/').at(-1) ?? '';
    expect(readCallbackCapability(secrets, 'sandboxpay', '_1', capability)).toBeUndefined();
  });

  it('contains its day, and is valid for no other', () => {
    const capability = callbackPath(secrets, 'sandbox', 'pay_1', issuedAt).split('/').at(-1) ?? '';
    const [kid, number, mac] = capability.split('.');
    for (const other of [`${kid}.${Number(number) + 1}.${mac}`, `${kid}.${mac}`, `${kid}.0${number}.${mac}`])
      expect(readCallbackCapability(secrets, 'sandbox', 'pay_1', other), other).toBeUndefined();
  });
});
