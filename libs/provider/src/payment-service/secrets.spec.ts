import { describe, expect, it } from 'vitest';
import { isRemoved, repeatsSecret, secretsOfCreation, secretsOfPayout, withoutSecrets } from './secrets.ts';

const pan = '4392963203551251';
const account = 'DE89370400440532013000';
const payout = { amount: 900, currency: 'EUR', orderNumber: 'mine' };
const creation = {
  product: 'Coffee',
  amount: 450,
  currency: 'EUR',
  callbackUrl: 'https://gateway.example/callbacks',
};

describe('the secrets of a request', () => {
  it('of a creation are card number, CVV and recurring token', () => {
    const card = { pan, expires: '12/2030', holder: 'A. Holder', cvv: '737' };
    expect(secretsOfCreation({ ...creation, card, recurringToken: 'rec-1' })).toEqual([pan, '737', 'rec-1']);
    expect(secretsOfCreation(creation)).toEqual([]);
  });

  it('of a payout are the parts of its destination', () => {
    const bankAccount = { bankName: 'Bank', account };
    expect(secretsOfPayout({ ...payout, destination: { card: { pan, expires: '12/2030' } } })).toEqual([pan]);
    expect(secretsOfPayout({ ...payout, destination: { recurringToken: 'rec-1' } })).toEqual(['rec-1']);
    expect(secretsOfPayout({ ...payout, destination: { bankAccount } })).toEqual([account]);
  });

  it('are never empty, as every text would repeat them', () => {
    expect(secretsOfCreation({ ...creation, recurringToken: '' })).toEqual([]);
  });
});

describe('a text repeats a secret', () => {
  it.each([pan, `to ${pan}.`, '4392 9632 0355 1251', '4392-9632-0355-1251', 'card_4392.9632/0355 1251'])(
    'of a card in %j',
    (text) => {
      expect(repeatsSecret(text, [pan])).toBe(true);
    },
  );

  it('of a bank account in the groups of paper', () => {
    expect(repeatsSecret('to DE89 3704 0044 0532 0130 00', [account])).toBe(true);
    expect(repeatsSecret('to DE89370400440532013000', ['DE89 3704 0044 0532 0130 00'])).toBe(true);
  });

  it('of a few characters match only in one piece', () => {
    expect(repeatsSecret('cvv 737', ['737'])).toBe(true);
    expect(repeatsSecret('page 7 of 37', ['737'])).toBe(false);
    expect(repeatsSecret('no secret', ['____________'])).toBe(false);
  });

  it('not where another is', () => {
    expect(repeatsSecret('4730 1983 6468 8516', [pan, account])).toBe(false);
  });
});

describe('an answer without secrets', () => {
  const parse = (value: unknown, secrets: string[]): unknown =>
    JSON.parse(JSON.stringify(value), withoutSecrets(secrets));

  it('has something else in place of each text that repeats one', () => {
    const answer = {
      token: 't',
      echo: [`pan ${pan}`, Number(pan)],
      further: { [pan]: 1, note: '4392 9632 0355 1251' },
    };
    expect(parse(answer, [pan, '737'])).toEqual({
      token: 't',
      echo: ['[removed]', '[removed]'],
      further: { note: '[removed]' },
    });
    expect(isRemoved('[removed]')).toBe(true);
  });
});
