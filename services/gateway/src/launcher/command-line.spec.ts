import { expect, it } from 'vitest';
import { readLauncherArguments } from './command-line.ts';

it.each([
  [[], 1],
  [['--instances', '2'], 2],
  [['--instances=8'], 8],
])('%j starts %i of each service', (argv, instances) => {
  expect(readLauncherArguments(argv)).toEqual({ instances });
});

it.each([
  [['--instances'], '--instances'],
  [['--instances', '0'], '--instances'],
  [['--instances', '9'], '--instances'],
  [['--instances', '1.5'], '--instances'],
  [['--instances', '2', '3'], '"3"'],
  [['projector'], '"projector"'],
])('%j is refused by name', (argv, named) => {
  expect(() => readLauncherArguments(argv)).toThrow(named);
});

it('prints its usage with --help and any other arguments', () => {
  expect(readLauncherArguments(['--instances', '--help'])).toBe('help');
});
