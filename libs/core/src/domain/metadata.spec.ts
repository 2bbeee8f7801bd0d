import fc from 'fast-check';
import { expect, it } from 'vitest';
import { metadataBytes } from './metadata.ts';

const quotesAndBraces = '{"":""}'.length;

it.each([
  ['nothing', '', 0],
  ['one byte', '\u007f', 1],
  ['two bytes', '\u0080', 2],
  ['two bytes', '\u07ff', 2],
  ['three bytes', '\u0800', 3],
  ['three bytes', '\uffff', 3],
  ['four bytes', '\u{10000}', 4],
])('%s of %j in UTF-8', (_case, value, bytes) => {
  expect(metadataBytes({ '': value })).toBe(quotesAndBraces + bytes);
});

it('counts bytes on the wire, for any text', () => {
  expect(metadataBytes(undefined)).toBe(0);
  const metadata = fc.dictionary(fc.string({ unit: 'grapheme' }), fc.string({ unit: 'grapheme' }));
  fc.assert(
    fc.property(metadata, (each) => {
      expect(metadataBytes(each)).toBe(new TextEncoder().encode(JSON.stringify(each)).length);
    }),
  );
});
