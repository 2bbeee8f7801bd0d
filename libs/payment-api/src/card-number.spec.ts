import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { containsCardNumber, isCardNumber } from './card-number.ts';

const cardNumbers = [
  '4392963203551251',
  '4730198364688516',
  '4617611794313933',
  '4626233193837898',
  '4627342642639018',
  '4968357931420422',
  '5555555555554444',
  '2223003122003222',
  '378282246310005',
  '30569309025904',
  '6011111111111117',
  '4222222222222',
];

describe('a card number', () => {
  it.each(cardNumbers)('is %s', (digits) => {
    expect(isCardNumber(digits)).toBe(true);
  });

  it.each([
    '4392963203551252',
    '43929632035',
    '4392 9632 0355 1251',
    '',
    '43929632035512510000',
    '４392963203551251',
  ])('is not %j', (digits) => {
    expect(isCardNumber(digits)).toBe(false);
  });

  it('is spoilt by changing any one digit', () => {
    fc.assert(
      fc.property(
        fc.constantFrom(...cardNumbers),
        fc.nat(),
        fc.integer({ min: 1, max: 9 }),
        (digits, at, by) => {
          const index = at % digits.length;
          const changed = String((Number(digits[index]) + by) % 10);
          expect(isCardNumber(digits.slice(0, index) + changed + digits.slice(index + 1))).toBe(false);
        },
      ),
    );
  });
});

const inGroups = (digits: string, separator: string) => digits.replace(/(\d{4})(?=\d)/g, `$1${separator}`);

describe('a text holds a card number', () => {
  it.each(cardNumbers)('in one piece: %s', (digits) => {
    for (const text of [
      digits,
      `card ${digits}, please`,
      `pan=${digits}`,
      `card${digits}`,
      `${digits} 737`,
      `7 ${digits}`,
    ])
      expect([text, containsCardNumber(text)]).toEqual([text, true]);
  });

  it.each([' ', '-', '.', '_', '/', '\u00a0', '\n'])('in groups of four parted by %j', (separator) => {
    const text = inGroups('4392963203551251', separator);
    for (const around of [text, `card: ${text}.`, `card-${text}`, `card${text}`, `2026 ${text}`])
      expect([around, containsCardNumber(around)]).toEqual([around, true]);
  });

  it('in the groups of American Express and Diners Club, and with 19 digits', () => {
    for (const text of [
      '3782 822463 10005',
      '3782-822463-10005',
      '3056 930902 5904',
      '6304 0000 0000 0000 000',
    ])
      expect([text, containsCardNumber(text)]).toEqual([text, true]);
  });

  it('with its expiry or CVV behind it', () => {
    for (const rest of [' 737', ' 12/27', '-12-2027', ' 1', ' exp 12/27'])
      expect([rest, containsCardNumber(`4392 9632 0355 1251${rest}`)]).toEqual([rest, true]);
  });

  it('in wide digits', () => {
    expect(containsCardNumber('４３９２９６３２０３５５１２５１')).toBe(true);
  });

  it('wherever words stand around it', () => {
    const word = fc.stringMatching(/^[A-Za-z ,.:]{0,20}$/);
    fc.assert(
      fc.property(word, fc.constantFrom(...cardNumbers), word, (before, digits, after) => {
        expect(containsCardNumber(`${before} ${digits} ${after}`)).toBe(true);
      }),
    );
  });
});

describe('a text holds no card number', () => {
  it.each([
    '',
    'Two coffees and a cake',
    '4392963203551252',
    '4392 9632 0355 1252',
    '+49 170 1234567',
    '2026-07-15T10:11:12.131Z',
    'ORD-2026-07-15-000123',
    'DE89 3704 0044 0532 0130 00',
    '0000000000000000',
  ])('in %j', (text) => {
    expect(containsCardNumber(text)).toBe(false);
  });

  it('in a UUID, with its hyphens or without', () => {
    fc.assert(
      fc.property(fc.uuid(), (uuid) => {
        for (const text of [
          uuid,
          uuid.toUpperCase(),
          uuid.replaceAll('-', ''),
          `order-${uuid}`,
          `${uuid} ${uuid}`,
        ])
          expect([text, containsCardNumber(text)]).toEqual([text, false]);
      }),
      { numRuns: 1_000 },
    );
    const decimal = fc.stringMatching(/^\d{8}-\d{4}-\d{4}-\d{4}-\d{12}$/);
    fc.assert(
      fc.property(decimal, (uuid) => {
        expect(containsCardNumber(uuid)).toBe(false);
      }),
    );
  });

  it('in a run of 20 or more digits', () => {
    fc.assert(
      fc.property(fc.stringMatching(/^\d{20,60}$/), (digits) => {
        expect(containsCardNumber(digits)).toBe(false);
      }),
    );
  });

  it('in 12 or fewer digits', () => {
    fc.assert(
      fc.property(fc.stringMatching(/^\d{0,12}$/), (digits) => {
        expect(containsCardNumber(`order ${digits}`)).toBe(false);
      }),
    );
  });

  it('in a time in milliseconds, which has 13 digits', () => {
    const time = fc.integer({ min: Date.UTC(2001, 8, 10), max: Date.UTC(2033, 0, 1) });
    fc.assert(
      fc.property(time, (milliseconds) => {
        expect(containsCardNumber(`order-${milliseconds}`)).toBe(false);
      }),
    );
  });

  it('in a date and a serial number', () => {
    const serial = fc.integer({ min: 0, max: 999_999 }).map((value) => String(value).padStart(6, '0'));
    fc.assert(
      fc.property(
        fc.date({ min: new Date('2020-01-01'), max: new Date('2089-12-31'), noInvalidDate: true }),
        serial,
        (date, number) => {
          const day = date.toISOString().slice(0, 10);
          for (const text of [`${day}-${number}`, `${day.replaceAll('-', '')}${number}`])
            expect([text, containsCardNumber(text)]).toEqual([text, false]);
        },
      ),
    );
  });
});
