import { propertyRuns } from '@tollgate/testing';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  containsCardNumber,
  isCardNumber,
  isOnlyCardNumber,
  maskCardNumber,
  maskCardNumbers,
  maskedText,
} from './card-number.ts';

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

  it('is invalid after a change of any one digit', () => {
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

describe('a text holds a card number', () => {
  it('followed by its expiry or CVV', () => {
    for (const rest of [' 737', ' 12/27', '-12-2027', ' 1', ' exp 12/27'])
      expect([rest, containsCardNumber(`4392 9632 0355 1251${rest}`)]).toEqual([rest, true]);
  });

  // All of these were accepted as free text and stored.
  it.each([
    'pan=4392963203551251',
    'card4392963203551251',
    'card-4392-9632-0355-1251',
    '4392963203551251 737',
    '2026 4392\u00a09632\u00a00355\u00a01251',
    '3782 822463 10005',
    '3056 930902 5904',
    '6304 0000 0000 0000 000',
    '４３９２９６３２０３５５１２５１',
    '4392  9632  0355  1251',
    '4392,9632,0355,1251',
    '4392|9632|0355|1251',
    '4392*9632*0355*1251',
    '4392–9632–0355–1251',
    '4392 - 9632 - 0355 - 1251',
    '4392\u200b9632\u200b0355\u200b1251',
    '4\u00ad3\u2060929632035512\ufeff51',
    '4.3.9.2.9.6.3.2.0.3.5.5.1.2.5.1',
    '43 92 96 32 03 55 12 51',
    '4392 963203 551251',
    '٤٣٩٢٩٦٣٢٠٣٥٥١٢٥١',
    '४३९२ ९६३२ ०३५५ १२५१',
    '④③⑨②⑨⑥③②⓪③⑤⑤①②⑤①',
    '4️⃣3️⃣9️⃣2️⃣9️⃣6️⃣3️⃣2️⃣0️⃣3️⃣5️⃣5️⃣1️⃣2️⃣5️⃣1️⃣',
    '0004392963203551251',
    '00000000004392963203551251',
    '000 4392 9632 0355 1251',
    'card=4392963203551251abcd',
    'abcdef4392963203551251abcdef',
    'https://shop.example/?card=4392%209632%200355%201251',
    'https://shop.example/?card=%34392963203551251',
    '507700000007',
    '560000000003',
    '4392    9632    0355    1251',
    '4392 .... 9632 .... 0355 .... 1251',
    'https://shop.example/?card=4392%25209632%25200355%25201251',
    '%ff%34%33%39%32%39%36%33%32%30%33%35%35%31%32%35%31',
  ])('however it is written: %j', (text) => {
    expect(containsCardNumber(text)).toBe(true);
  });

  // Records of fixed width have no separators: a number inside a longer run of digits was accepted and stored.
  it.each([
    ['and MMYY', '43929632035512511227'],
    ['and YYMM', '43929632035512512712'],
    ['and MMYY, of American Express', '3782822463100051227'],
    ['and MMYY, of UnionPay with 19 digits', '62000000000000000001227'],
    ['and MMYY, after a record number', '0001743929632035512511227000001250'],
    ['and zeros', '4392963203551251000000000000'],
    ['and MMYY in other digits', '٤٣٩٢٩٦٣٢٠٣٥٥١٢٥١١٢٢٧'],
  ])('in a record: number %s', (_what, text) => {
    expect(containsCardNumber(text)).toBe(true);
    expect(maskCardNumbers(text)).not.toContain('963203551251');
  });

  it.each([40, 64])('padded with zeros to the %d digits of a hash', (length) => {
    for (const text of [
      '4392963203551251'.padStart(length, '0'),
      '4392963203551251'.padEnd(length, '0'),
      `${'0'.repeat(20)}4392963203551251`.padEnd(length, '0'),
      '4392963203551251'.padEnd(length, 'f'),
    ])
      expect([text, containsCardNumber(text)]).toEqual([text, true]);
  });

  it('padded with zeros to a UUID', () => {
    expect(containsCardNumber('00000000-0000-0000-4392-963203551251')).toBe(true);
    expect(containsCardNumber('43929632-0355-1251-8000-000000000000')).toBe(true);
  });

  it.each([
    ['with zeros', `${'0'.repeat(16)}4392963203551251`],
    ['with Fs behind it', `4392963203551251${'F'.repeat(16)}`],
    ['with Fs before it', `${'f'.repeat(16)}4392963203551251`],
    ['by the rest of its second track', '4392963203551251D30122010000000F'],
  ])('padded to 32 hexadecimal digits %s', (_how, text) => {
    expect(containsCardNumber(text)).toBe(true);
  });

  it('with up to three of any separator at any place', () => {
    const gap = fc.array(
      fc.constantFrom(...Array.from(' ,.|*-–—_/\\:;\'"()[]+=#~\u200b\u200d\u00a0\u3000\n\t')),
      {
        maxLength: 3,
      },
    );
    fc.assert(
      fc.property(
        fc.constantFrom(...cardNumbers),
        fc.array(gap, { minLength: 19, maxLength: 19 }),
        (digits, gaps) => {
          const text = Array.from(digits)
            .map((digit, at) => digit + (gaps[at]?.join('') ?? ''))
            .join('');
          expect([text, containsCardNumber(text)]).toEqual([text, true]);
        },
      ),
      { numRuns: propertyRuns(500) },
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
      { numRuns: propertyRuns(1_000) },
    );
  });

  it('in fewer than 12 digits', () => {
    fc.assert(
      fc.property(fc.stringMatching(/^\d{0,11}$/), (digits) => {
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

  it('in an id or a hash of 32, 40 or 64 hexadecimal digits', () => {
    const hash = fc.constantFrom(32, 40, 64).chain((length) =>
      fc.string({
        unit: fc.constantFrom(...Array.from('0123456789abcdef')),
        minLength: length,
        maxLength: length,
      }),
    );
    fc.assert(
      fc.property(hash, (text) => {
        fc.pre(new Set(text.match(/[a-f]/g)).size >= 3);
        expect([text, containsCardNumber(text)]).toEqual([text, false]);
      }),
    );
    // Like the dispute ids of the Payment Service.
    expect(containsCardNumber('ab5555555555554444cd0123456789ef')).toBe(false);
  });

  it.each([
    ['an IMEI', '356938035643809'],
    ['a SIM card', '89490200001234567890'],
    ['a phone number', '+49 (0) 170 / 123 45 67'],
    ['an IPv4 address', '192.168.100.254'],
    ['a time', '2026-11-23 03:38:12.123456'],
    ['a mask and an expiry date', '601100****1117 12/27'],
    ['words between digits', '4392 and 9632 and 0355 and 1251'],
  ])('in %s', (_name, text) => {
    expect(containsCardNumber(text)).toBe(false);
  });

  // A tenth of all 16-digit numbers pass Luhn's check, and nearly half of those have an issuer's prefix. A number in a longer
  // run also needs an expiry date.
  it.each([
    [13, 0.05],
    [16, 0.07],
    [19, 0.06],
    [20, 0.02],
    [24, 0.04],
    [32, 0.08],
  ])('in random order numbers of %d digits more often than in %d of them', (length, shareMax) => {
    const digits = fc.stringMatching(new RegExp(`^[1-9]\\d{${length - 1}}$`));
    const texts = fc.sample(digits, { seed: 1, numRuns: 2_000 });
    expect(texts.filter((text) => containsCardNumber(`order ${text}`)).length).toBeLessThan(2_000 * shareMax);
  });
});

describe('a bank account', () => {
  it.each(['4392963203551251', '4392-9632-0355-1251', ' 4392 9632 0355 1251', '004392963203551251'])(
    'is a card number instead: %j',
    (text) => {
      expect(isOnlyCardNumber(text)).toBe(true);
    },
  );

  it.each(['DE89370400440532013000', '4392963203551252', '12345678', 'DE4392963203551251', ''])(
    'is one: %j',
    (text) => {
      expect(isOnlyCardNumber(text)).toBe(false);
    },
  );
});

describe('a mask', () => {
  it.each([
    ['4392963203551251', '439296******1251'],
    ['378282246310005', '378282*****0005'],
    ['30569309025904', '**********5904'],
    ['4222222222222', '*********2222'],
    ['507700000007', '********0007'],
  ])('of %s is %s', (digits, mask) => {
    expect(maskCardNumber(digits)).toBe(mask);
  });

  it('leaves the text around it as it is', () => {
    expect(maskCardNumbers('Do not honor (card 4392 9632 0355 1251), call 0800.')).toBe(
      'Do not honor (card 439296******1251), call 0800.',
    );
    expect(maskCardNumbers('Do not honor')).toBe('Do not honor');
  });

  it('of a truncated text leaves no part of a number that is cut in two', () => {
    for (let length = 1; length < 40; length += 1)
      expect(maskedText('Do not honor 4392963203551251, sorry', length)).not.toMatch(/\d{7}/);
  });

  it('leaves no second number that looks like an id once the first is masked', () => {
    expect(maskCardNumbers('4392963203551251abcdef5555555555554444abcdef')).toBe(
      '439296******1251abcdef555555******4444abcdef',
    );
    const id = '0f5555555555554444cd0123456789ef';
    expect(maskCardNumbers(`${id} 4392963203551251 ${id}`)).toBe(`${id} 439296******1251 ${id}`);
  });

  it('leaves no card number in any surrounding text', () => {
    const piece = fc.oneof(
      fc.string(),
      fc.stringMatching(/^[\d %]{0,20}$/),
      fc.constantFrom(...cardNumbers),
      fc.constant('%34392963203551251'),
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 5 }), (pieces) => {
        expect(containsCardNumber(maskCardNumbers(pieces.join('')))).toBe(false);
      }),
      { numRuns: propertyRuns(2_000) },
    );
  });
});
