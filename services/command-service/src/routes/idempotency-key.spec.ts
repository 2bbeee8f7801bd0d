import { describe, expect, it } from 'vitest';
import { parseIdempotencyKey } from './requests.ts';

describe('parseIdempotencyKey', () => {
  it.each([
    ['bare', 'abc', 'abc'],
    ['quoted', '"abc"', 'abc'],
    ['of one quotation mark', '"', '"'],
    ['quoted, with a comma in it', '"a, b"', 'a, b'],
    ['255 characters long', 'k'.repeat(255), 'k'.repeat(255)],
  ])('accepts a key that is %s', (_name, header, value) => {
    expect(parseIdempotencyKey(header, 'order-1')).toEqual({
      kind: 'parsed',
      value: { source: 'Idempotency-Key', value },
    });
  });

  it('uses the order number by default', () => {
    expect(parseIdempotencyKey(undefined, 'order-1')).toEqual({
      kind: 'parsed',
      value: { source: 'orderNumber', value: 'order-1' },
    });
  });

  it.each([
    ['missing, with no order number', undefined, 'idempotency_key_missing'],
    ['empty', '', 'invalid_param'],
    ['empty in quotes', '""', 'invalid_param'],
    ['too long', 'k'.repeat(256), 'invalid_param'],
    ['not printable', 'a\tb', 'invalid_param'],
    ['a card number', '4392963203551251', 'card_data_not_accepted'],
  ])('refuses a key that is %s', (_name, header, code) => {
    const parsed = parseIdempotencyKey(header, undefined);
    expect(parsed).toMatchObject({ kind: 'refused', errors: [{ code, parameter: 'Idempotency-Key' }] });
  });
});
