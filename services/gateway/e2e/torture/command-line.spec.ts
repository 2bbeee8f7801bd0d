import { expect, it } from 'vitest';
import { arrangementNames, usual } from './arrangements.ts';
import { BadUsage, readCommandLine, usage } from './command-line.ts';

const read = (...args: string[]) => readCommandLine(args, 'now');
const namesOf = (options: ReturnType<typeof read>) =>
  options === 'help' ? [] : options.arrangements.map(({ name }) => name);

it('without arguments, every usual arrangement has its share of twenty minutes', () => {
  expect(read()).toEqual({ minutes: 20, connections: 8, seed: 'now', arrangements: usual });
});

it('takes what is named, once, in the order in which it is named', () => {
  const named = ['services-kafka', 'one-process', 'services-kafka'].flatMap((name) => [
    '--arrangement',
    name,
  ]);
  const options = read(...named, '--minutes', '0.5', '--seed', '7', '--connections', '2');
  expect(options).toMatchObject({ minutes: 0.5, seed: '7', connections: 2 });
  expect(namesOf(options)).toEqual(['services-kafka', 'one-process']);
});

it.each([
  [['--minutes', '0'], '--minutes'],
  [['--minutes', 'ten'], '--minutes'],
  [['--minutes', '10001'], '--minutes'],
  [['--connections', '1.5'], '--connections'],
  [['--connections', '65'], '--connections'],
  [['--arrangement', 'embedded'], '--arrangement must be one of one-process,'],
  [['--minute', '1'], "Unknown option '--minute'"],
  [['one-process'], "Unexpected argument 'one-process'"],
])('refuses %j, and says why', (args, why) => {
  expect(() => read(...args)).toThrow(BadUsage);
  expect(() => read(...args)).toThrow(why);
});

it('explains itself, and names every arrangement', () => {
  expect(read('--help')).toBe('help');
  expect(usage).not.toContain('undefined');
  for (const name of arrangementNames) expect(usage).toContain(name);
});
