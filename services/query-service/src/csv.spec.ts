import fc from 'fast-check';
import { expect, test } from 'vitest';
import { toCsvLine } from './csv.ts';

test('fields are quoted where they must be, and lines end in CRLF', () => {
  expect(toCsvLine(['a', undefined, 0, 'b c', ''])).toBe('a,,0,b c,\r\n');
  expect(toCsvLine(['a,b', 'say "hi"', 'two\nlines', 'x\ry'])).toBe(
    '"a,b","say ""hi""","two\nlines","x\ry"\r\n',
  );
});

test.each(['=1+1', '+1', '-1', '@SUM(A1)', '\t=1', '\r=1', '\n=1', '＝1', '－1', "'=1", '=HYPERLINK("x")'])(
  '%j is no formula any more',
  (text) => {
    expect(parse(toCsvLine([text]))).toEqual([[`'${text}`]]);
  },
);

test('a number is never taken for a formula', () => {
  expect(toCsvLine([-1])).toBe('-1\r\n');
});

test('whatever the fields are, they come back, and none begins a formula', () => {
  const anyText = fc.string({
    unit: fc.constantFrom('=', '+', '-', '@', "'", '"', ',', '\r', '\n', '\t', 'a', 'x', '＠', 'é'),
  });
  fc.assert(
    fc.property(fc.array(fc.array(anyText, { minLength: 2, maxLength: 4 }), { maxLength: 4 }), (rows) => {
      const read = parse(rows.map(toCsvLine).join(''));
      for (const field of read.flat()) expect(field).not.toMatch(/^[=+\-@\t\r\n＝＋－＠]/);
      expect(read.map((row) => row.map((field) => field.replace(/^'/, '')))).toEqual(rows);
    }),
  );
});

/** A reader of RFC 4180 that knows nothing of how the text was written. */
function parse(text: string): string[][] {
  const rows: string[][] = [];
  let row: string[] = [];
  const field = /(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r\n)/gy;
  for (const [, quoted, bare = '', end] of text.matchAll(field)) {
    row.push(quoted === undefined ? bare : quoted.replaceAll('""', '"'));
    if (end === ',') continue;
    rows.push(row);
    row = [];
  }
  return rows;
}
