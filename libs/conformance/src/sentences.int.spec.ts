import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { conformanceTests } from './tests/all.ts';

const sentences = readFileSync(new URL('../sentences.md', import.meta.url), 'utf8');
const mentioned = [...sentences.matchAll(/`(§\d [^`]+)`/g)].map(([, name = '']) => name);
/** "all of `§4 …`" identifies no single test. */
const specific = mentioned.filter((name) => !/^§\d …$/.test(name));

const isMeantBy = (pattern: string) => {
  const [first = '', ...rest] = pattern.split('…');
  return (name: string): boolean => {
    if (rest.length === 0) return name === first;
    const last = rest.at(-1) ?? '';
    return name.startsWith(first) && name.endsWith(last) && name.length >= first.length + last.length;
  };
};

const names = conformanceTests.map(({ name }) => name);

describe('the table of sentences and tests', () => {
  it('mentions every test', () => {
    expect(names.filter((name) => !specific.some((pattern) => isMeantBy(pattern)(name)))).toEqual([]);
  });

  it('mentions no test that does not exist', () => {
    expect(mentioned.filter((pattern) => !names.some(isMeantBy(pattern)))).toEqual([]);
  });
});

describe('the tests', () => {
  it('have unique names, none part of another, so that --grep can select one', () => {
    const parts = names.filter((name) => names.some((other) => other !== name && other.includes(name)));
    expect(parts).toEqual([]);
    expect(new Set(names).size).toBe(names.length);
  });
});
