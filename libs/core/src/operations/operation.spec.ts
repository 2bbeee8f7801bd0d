import { describe, expect, it } from 'vitest';
import { originRefusal } from './operation.ts';
import type { Requester } from '../domain/requester.ts';

const origins = ['https://shop.example'];
const caller: Requester = {
  team: 'demo',
  keyId: 'k',
  environment: 'sandbox',
  allowedOrigins: { callback: origins, redirect: origins },
  wallet: { kind: 'provider' },
};
const free: Requester = { ...caller, allowedOrigins: { callback: [], redirect: undefined } };

describe('originRefusal', () => {
  it.each([
    ['callbackUrl', 'callbacks'],
    ['redirectSuccessUrl', 'redirects'],
    ['redirectFailUrl', 'redirects'],
  ])('refuses a %s to an origin that is not allowed', (parameter, purpose) => {
    const refusal = { code: 'origin_not_allowed', parameter, purpose };
    expect(originRefusal({ [parameter]: 'https://evil.example/x' }, caller)).toEqual(refusal);
    expect(originRefusal({ [parameter]: 'https://shop.example/x' }, caller)).toBeUndefined();
  });

  it('accepts any https redirect until the team has set a list', () => {
    expect(originRefusal({ redirectFailUrl: 'https://other.example/x' }, free)).toBeUndefined();
    expect(originRefusal({ callbackUrl: 'https://other.example/x' }, free)).toMatchObject({
      parameter: 'callbackUrl',
    });
  });
});
