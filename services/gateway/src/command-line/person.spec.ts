import { InvalidArgumentError } from 'commander';
import { expect, test } from 'vitest';
import { parsePerson } from './person.ts';

test.each(['anna', 'anna@shop.example', 'Anna Müller (on call)'])('%j is a name', (text) =>
  expect(parsePerson(text)).toBe(text),
);

test.each([
  ...['', ' ', ' anna', 'os:root@host', 'a\nb', 'a\u001b[2J', 'a\u202eb', 'a\u2028b', 'a'.repeat(129)],
])('%j is none', (text) => expect(() => parsePerson(text)).toThrow(InvalidArgumentError));
