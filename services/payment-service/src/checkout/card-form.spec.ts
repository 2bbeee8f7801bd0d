import { describe, expect, it } from 'vitest';
import { approvedCard, goodForm } from '../testing/samples.ts';
import { readCardForm } from './card-form.ts';

const now = Date.UTC(2026, 5, 15);
const read = (fields: Partial<Record<string, string>> = {}) =>
  readCardForm(new URLSearchParams({ ...goodForm(approvedCard), ...fields }), now);

describe('the card form', () => {
  it("returns the card's behavior, and nothing else of it", () => {
    expect(read()).toEqual({
      card: { outcome: 'approved', needsAuthentication: false, sanitizedMask: '439296******1251' },
    });
  });

  it.each([
    '4392 9632 0355 1251',
    '4392-9632-0355-1251',
    ' 4392963203551251 ',
    '４３９２９６３２０３５５１２５１',
  ])('takes the number as people write it: %j', (number) => {
    expect(read({ number }).card?.outcome).toBe('approved');
  });

  it.each(['06/26', '6/26', '06/2026', '0626', '06 / 26', '06-26', '12/99'])(
    'takes the expiry %j',
    (expiry) => {
      expect(read({ expiry }).faults).toBeUndefined();
    },
  );

  it.each(['', '13/30', '00/30', '2030', '06/3', '062', 'June 2030'])(
    'does not understand the expiry %j',
    (expiry) => {
      expect(read({ expiry }).faults).toEqual({ expiry: 'expiry' });
    },
  );

  it('accepts a card until the end of its month, and a day longer for customers in western time zones', () => {
    const at = (time: number) =>
      readCardForm(new URLSearchParams({ ...goodForm(approvedCard), expiry: '06/26' }), time);
    expect(at(Date.UTC(2026, 5, 30, 23, 59)).faults).toBeUndefined();
    expect(at(Date.UTC(2026, 6, 1, 11)).faults).toBeUndefined();
    expect(at(Date.UTC(2026, 6, 2)).faults).toEqual({ expiry: 'expiryPast' });
  });

  it.each([
    ['number', '1234', 'number'],
    ['number', '4392a63203551251', 'number'],
    // One wrong digit, and two transposed digits.
    ['number', '4392963203551252', 'numberMistyped'],
    ['number', '4392963203551215', 'numberMistyped'],
    ['cvv', '12', 'cvv'],
    ['cvv', '12345', 'cvv'],
    ['holder', '  ', 'holder'],
    ['holder', 'x'.repeat(256), 'holder'],
  ])('finds fault with %s %j', (field, value, fault) => {
    expect(read({ [field]: value }).faults).toEqual({ [field]: fault });
  });

  it('returns nothing that could be a card number, whichever field it was typed into', () => {
    const result = read({
      number: '1',
      expiry: approvedCard,
      holder: `Ada ${approvedCard}`,
      cvv: approvedCard,
    });
    expect(JSON.stringify(result)).not.toMatch(/\d{3}/);
  });
});
