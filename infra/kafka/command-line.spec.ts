import { describe, expect, it } from 'vitest';
import { portDefault, readCommandLine, readPort } from './command-line.ts';

describe('the command line', () => {
  it('takes a folder for the data, in both spellings', () => {
    for (const argv of [['--data-dir', '/tmp/x'], ['--data-dir=/tmp/x']])
      expect(readCommandLine(argv)).toEqual({ wantsHelp: false, dataDir: '/tmp/x' });
    expect(readCommandLine(['--secured-port', '9094'])).toMatchObject({ securedPort: 9094 });
    expect(readCommandLine([]).dataDir).toMatch(/\.cache\/kafka\/data$/);
    expect(readCommandLine(['--help']).wantsHelp).toBe(true);
  });

  it.each([
    [['--data-dir'], '--data-dir'],
    [['--data-dir='], '--data-dir'],
    [['--port', '9'], '--port'],
    [['--secured-port'], '--secured-port'],
    [['--secured-port', '0'], '--secured-port'],
    [['up'], 'up'],
  ])('refuses %j by the name of the argument', (argv, name) => {
    expect(() => readCommandLine(argv)).toThrow(name);
  });
});

describe('KAFKA_PORT', () => {
  it('is a port, and has a default', () => {
    expect([readPort(undefined), readPort(''), readPort('1'), readPort('65535')]).toEqual([
      portDefault,
      portDefault,
      1,
      65_535,
    ]);
  });

  it.each(['0', '65536', '-1', '9092.5', 'kafka', '1e3'])('is refused as %j', (text) => {
    expect(() => readPort(text)).toThrow('KAFKA_PORT');
  });
});
