import { propertyRuns } from '@tollgate/testing';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { toCsvLine } from './csv.ts';

test('fields are quoted if they must be, and lines end in CRLF', () => {
  expect(toCsvLine(['a', undefined, 0, 'b c', ''])).toBe('a,,0,b c,\r\n');
  expect(toCsvLine(['a,b', 'say "hi"', 'two\nlines', 'x\ry'])).toBe(
    '"a,b","say ""hi""","two\nlines","x\ry"\r\n',
  );
});

test.each(['=1+1', '+1', '-1', '@SUM(A1)', '＝1', '－1', "'=1", '=HYPERLINK("x")', '\ta', '\ra', '\na'])(
  '%j is no longer a formula',
  (text) => {
    expect(parse(toCsvLine([text]))).toEqual([[`'${text}`]]);
  },
);

test('a number is never mistaken for a formula', () => {
  expect(toCsvLine([-1])).toBe('-1\r\n');
});

// `;=` began a formula in every spreadsheet whose separator is the semicolon, as in most of Europe.
test.each([
  ['a;=1', "a;'=1"],
  ['a; "=1"', `a; "'=1"`],
  ['a\t@x', "a\t'@x"],
  ['a|-1', "a|'-1"],
  ['a\n+1', "a\n'+1"],
  ['a;b=c-d', 'a;b=c-d'],
  ["a;'b", "a;''b"],
])('%j is written as %j', (text, written) => {
  expect(parse(toCsvLine([text]))).toEqual([[written]]);
});

const anyText = fc.string({
  unit: fc.constantFrom(
    '=',
    '+',
    '-',
    '@',
    "'",
    '"',
    ',',
    ';',
    '|',
    ' ',
    '\r',
    '\n',
    '\t',
    'a',
    'x',
    '＠',
    'é',
  ),
});
const anyRows = fc.array(fc.array(anyText, { minLength: 2, maxLength: 4 }), { maxLength: 4 });

test('any fields can be read back', () => {
  const original = (field: string) => field.replace(/(^|[;|\t\r\n])([ "]*)'/g, '$1$2');
  fc.assert(
    fc.property(anyRows, (rows) => {
      const read = parse(rows.map(toCsvLine).join(''));
      expect(read.map((row) => row.map(original))).toEqual(rows);
    }),
  );
});

test.each([',', ';', '\t', '|'])('none begins a formula if cells are separated by %j', (separator) => {
  fc.assert(
    fc.property(anyRows, (rows) => {
      for (const cell of cellsOf(rows.map(toCsvLine).join(''), separator))
        expect(cell).not.toMatch(/^ *[=+\-@＝＋－＠]/);
    }),
    { numRuns: propertyRuns(500) },
  );
});

/** Like spreadsheets: text after a closing quote belongs to the cell, and a quote inside a bare cell is a letter. */
function cellsOf(text: string, separator: string): string[] {
  const cells = [''];
  let isQuoted = false;
  for (let place = 0, isStart = true; place < text.length; place += 1) {
    const letter = text.charAt(place);
    const isDoubled = isQuoted && letter === '"' && text.charAt(place + 1) === '"';
    const ends = !isQuoted && (letter === separator || letter === '\r' || letter === '\n');
    if (isDoubled) place += 1;
    if (ends) cells.push('');
    else if (letter === '"' && !isDoubled && (isQuoted || isStart)) isQuoted = !isQuoted;
    else cells.push((cells.pop() ?? '') + letter);
    isStart = ends;
  }
  return cells;
}

/** An independent reader of RFC 4180. */
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
