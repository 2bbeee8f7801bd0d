import { describe, expect, it } from 'vitest';
import { caller as anyCaller } from '../testing/harness.ts';
import { originRefusal } from './allowed-origins.ts';

const origins = ['https://shop.example'];
const caller = { ...anyCaller, allowedOrigins: { callback: origins, redirect: origins } };
const free = { ...anyCaller, allowedOrigins: { callback: [], redirect: undefined } };

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
