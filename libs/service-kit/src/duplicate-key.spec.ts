import { propertyRuns } from '@tollgate/testing';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { duplicateKeyIn } from './duplicate-key.ts';

describe('a JSON text', () => {
  it.each([
    ['{"amount":1,"amount":2}', 'amount'],
    ['{"a":{"b":[1,{"c":1,"c":2}]}}', 'a.b.c'],
    ['{"a":1,"\\u0061":2}', 'a'],
    ['{"":1,"":2}', ''],
    ['{"a":"x","b":{},"a":[]}', 'a'],
    ['[{"a":1},{"a":1,"a":1}]', 'a'],
    ['{"a":{"a":1},"a":1}', 'a'],
    ['{ "__proto__" : 1 ,\n "__proto__" : 2 }', '__proto__'],
  ])('%s has a key twice', (json, path) => {
    expect(duplicateKeyIn(json)).toBe(path);
  });

  it.each([
    '{"a":"a","b":"a"}',
    '{"a":{"a":{"a":1}}}',
    '[{"a":1},{"a":1}]',
    '["a","a"]',
    '{"a":["b","b"],"b":1}',
    '{"a":"{\\"a\\":1,\\"a\\":2}"}',
    '"a"',
    '1',
    '{}',
  ])('%s has none', (json) => {
    expect(duplicateKeyIn(json)).toBeUndefined();
  });

  it("a serializer's output has none, with any white space", () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.constantFrom('', ' ', '\t', '\n'), (value, space) => {
        expect(duplicateKeyIn(JSON.stringify(value, null, space))).toBeUndefined();
      }),
      { numRuns: propertyRuns(1_000) },
    );
  });

  // A parser drops duplicate keys, so the text has more of them.
  it('is found exactly if a parser drops one', () => {
    const key = fc.constantFrom('a', 'b', '\\u0061', '\\u0062', '"'.replace('"', '\\"'), 'c d');
    const value = fc.letrec<{ value: string }>((tie) => ({
      value: fc.oneof(
        { maxDepth: 4 },
        fc.constantFrom('1', 'null', '"a"', '"{\\"a\\":1,"', '[]', '{}'),
        fc.array(tie('value'), { maxLength: 3 }).map((items) => `[${items.join(',')}]`),
        fc
          .array(fc.tuple(key, tie('value')), { maxLength: 4 })
          .map((fields) => `{${fields.map(([name, text]) => `"${name}":${text}`).join(',')}}`),
      ),
    })).value;
    const keysIn = (parsed: unknown): number =>
      typeof parsed !== 'object' || parsed === null
        ? 0
        : Object.values(parsed).reduce<number>(
            (sum, inner) => sum + keysIn(inner),
            Array.isArray(parsed) ? 0 : Object.keys(parsed).length,
          );
    const keysWritten = (json: string): number =>
      [...json.matchAll(/"[^"\\]*(?:\\.[^"\\]*)*"(:?)/g)].filter(([, colon]) => colon === ':').length;
    fc.assert(
      fc.property(value, (json) => {
        expect(duplicateKeyIn(json) !== undefined).toBe(keysIn(JSON.parse(json)) < keysWritten(json));
      }),
      { numRuns: propertyRuns(2_000) },
    );
  });

  it('may be nested as deep as a body is long', () => {
    const deep = `${'{"a":'.repeat(10_000)}1${'}'.repeat(10_000)}`;
    expect(duplicateKeyIn(deep)).toBeUndefined();
    expect(duplicateKeyIn('['.repeat(30_000) + ']'.repeat(30_000))).toBeUndefined();
  });
});
