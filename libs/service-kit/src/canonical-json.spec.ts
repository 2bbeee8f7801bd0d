import { assert, jsonValue, property } from 'fast-check';
import { expect, test } from 'vitest';
import { canonicalJson } from './canonical-json.ts';

test('the order of fields, and fields without a value, make no difference', () => {
  const text = '{"a":[1,{"b":null,"c":"ü"}],"z":true}';
  expect(canonicalJson({ z: true, y: undefined, a: [1, { c: 'ü', b: null }] })).toBe(text);
  expect(canonicalJson({ a: [1, { b: null, c: 'ü' }], z: true })).toBe(text);
});

test('the order of a list, and the kind of a value, do', () => {
  const texts = [[1, 2], [2, 1], ['1', 2], [[1], 2], { 0: 1, 1: 2 }].map(canonicalJson);
  expect(new Set(texts).size).toBe(texts.length);
});

test('it is JSON of the same value, and stays the same after a store has returned it', () => {
  assert(
    property(jsonValue(), (value) => {
      const text = canonicalJson(value);
      const stored: unknown = JSON.parse(JSON.stringify(value));
      expect(JSON.parse(text)).toEqual(stored);
      expect(canonicalJson(stored)).toBe(text);
    }),
  );
});
