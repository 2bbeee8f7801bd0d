import { describe, expect, it } from 'vitest';
import { callbackPath, isCallbackCapability, parseCallbackSecrets } from './callback-capability.ts';

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
      const capability = callbackPath([active], 'sandbox', 'pay_1').split('/').at(-1) ?? '';
      expect(isCallbackCapability(secrets, 'sandbox', 'pay_1', capability)).toBe(true);
    }
    expect(callbackPath(secrets, 'sandbox', 'pay_1')).toContain('/b.');
  });

  it('is worth nothing once its secret is gone', () => {
    const capability = callbackPath(secrets, 'sandbox', 'pay_1').split('/').at(-1) ?? '';
    expect(isCallbackCapability(secrets.slice(1), 'sandbox', 'pay_1', capability)).toBe(false);
  });

  it('distinguishes environment from token wherever the boundary between them is', () => {
    const capability = callbackPath(secrets, 'sandbox', 'pay_1').split('/').at(-1) ?? '';
    expect(isCallbackCapability(secrets, 'sandboxpay', '_1', capability)).toBe(false);
  });
});
