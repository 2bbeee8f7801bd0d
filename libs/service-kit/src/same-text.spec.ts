import { expect, it } from 'vitest';
import { isSameText } from './same-text.ts';

// Forms, cookies and addresses of the console with a letter beyond ASCII in the place of a MAC's were answered 500.
it.each([
  ['abc', 'abc', true],
  ['abd', 'abc', false],
  ['ab', 'abc', false],
  ['', 'abc', false],
  ['ab\u00e9', 'abc', false],
  ['a\u00e9', 'abc', false],
])('%j and %j: %s', (given, expected, isSame) => {
  expect(isSameText(given, expected)).toBe(isSame);
});
