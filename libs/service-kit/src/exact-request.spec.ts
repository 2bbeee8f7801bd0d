import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ambiguousHeaderIn, decodeUtf8, isExactQuery, parseForm } from './exact-request.ts';

// A proxy repeated the line `Idempotency-Key`. Node joined both lines, the joined text was another key, and 3,000 were refunded twice.
describe('a header that decides has one value', () => {
  it.each([
    ['twice', ['Idempotency-Key', 'k', 'idempotency-key', 'k'], 'idempotency-key'],
    ['twice and empty', ['Tollgate-Team', '', 'Tollgate-Team', ''], 'Tollgate-Team'],
    ['joined by a proxy', ['IDEMPOTENCY-KEY', 'k, k'], 'IDEMPOTENCY-KEY'],
    ['joined though quoted', ['Idempotency-Key', '"k", "k"'], 'Idempotency-Key'],
    ['two credentials', ['Authorization', 'Bearer a', 'Authorization', 'Bearer b'], 'Authorization'],
    ['two types', ['Content-Type', 'application/json,text/plain'], 'Content-Type'],
    ['two hosts', ['Host', 'a', 'Host', 'b'], 'Host'],
    ['any of our headers', ['X', 'y', 'Tollgate-Min-Position', '1, 2'], 'Tollgate-Min-Position'],
  ])('%s', (_name, rawHeaders, found) => {
    expect(ambiguousHeaderIn(rawHeaders)).toBe(found);
  });

  it.each([
    ['a quoted comma', ['Idempotency-Key', '"a, b"']],
    ['parameters', ['Content-Type', 'application/json; charset=utf-8']],
    ['lists by their nature', ['Accept', 'a, b', 'Accept', 'c', 'X-Forwarded-For', '10.0.0.1, 10.0.0.2']],
    ['a value that is the name of another header', ['X', 'Host', 'Host', 'a']],
  ])('accepted: %s', (_name, rawHeaders) => {
    expect(ambiguousHeaderIn(rawHeaders)).toBeUndefined();
  });
});

it.each([
  ['orderNumber=Gr%C3%BC%C3%9Fe&q=a+b', true],
  ['orderNumber=Gr%FC%DFe', false],
  ['orderNumber=50%', false],
  ['orderNumber=%ED%A0%80', false],
  ['orderNumber=Grüße', false],
])('whether a query is percent-encoded UTF-8: %s', (query, isExact) => {
  expect(isExactQuery(query)).toBe(isExact);
  if (isExact) expect(parseForm(query).get('orderNumber')).toBe('Gr\u00fc\u00dfe');
  else expect(() => parseForm(query)).toThrow('not percent-encoded UTF-8');
});

it('decoded text is encoded as the same bytes, and all other bytes are refused', () => {
  expect(decodeUtf8(Buffer.from('Grüße', 'latin1'))).toBeUndefined();
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 12 }), (bytes) => {
      const text = decodeUtf8(bytes);
      // A byte order mark at the beginning is no text.
      if (text !== undefined)
        expect(Buffer.from(text).equals(bytes) || Buffer.from(`\ufeff${text}`).equals(bytes)).toBe(true);
    }),
  );
});
