import { describe, expect, it } from 'vitest';
import { parseArguments, type Arguments } from './arguments.ts';

const service = ['--base-url', 'https://127.0.0.1:4443', '--key', 'sk_sandbox_k'];

function run(...more: string[]): Arguments {
  const parsed = parseArguments([...service, ...more], {});
  if (parsed.kind !== 'run') throw new Error(`the arguments gave ${JSON.stringify(parsed)}`);
  return parsed.arguments;
}

const problemOf = (argv: readonly string[]): string => {
  const parsed = parseArguments(argv, {});
  if (parsed.kind !== 'problem') throw new Error('there is no problem');
  return parsed.problem;
};

describe('arguments that are in order', () => {
  it('have careful defaults: no sandbox, no clock', () => {
    expect(run()).toEqual({
      baseUrl: 'https://127.0.0.1:4443',
      key: 'sk_sandbox_k',
      sandbox: undefined,
      callbackHost: '127.0.0.1',
      currency: 'EUR',
      sendsIdempotencyKeys: false,
      patienceMs: 10_000,
      totalTimeoutMs: 600_000,
      // As they were given.
      callbacks: true,
      patience: 10,
      timeout: 600,
    });
  });

  it('have the sandbox at the base URL, or at another address with a key of its own', () => {
    expect(run('--sandbox', '--move-clock').sandbox).toEqual({
      url: 'https://127.0.0.1:4443',
      key: 'sk_sandbox_k',
      isElsewhere: false,
      mayMoveClock: true,
    });
    expect(run('--sandbox-url', 'https://localhost:1/', '--sandbox-key', 'k').sandbox).toEqual({
      url: 'https://localhost:1',
      key: 'k',
      isElsewhere: true,
      mayMoveClock: false,
    });
  });

  it('take keys from the environment, so that they need not be on the command line', () => {
    const environment = { CONFORMANCE_KEY: 'k1', CONFORMANCE_SANDBOX_KEY: 'k2' };
    const argv = ['--base-url', 'https://x', '--sandbox-url', 'https://y'];
    expect(parseArguments(argv, environment)).toMatchObject({
      kind: 'run',
      arguments: { key: 'k1', sandbox: { key: 'k2' } },
    });
  });

  it('check a base URL of plain HTTP against the rule that plain HTTP is rejected', () => {
    expect(run('--base-url', 'http://127.0.0.1:3000').httpUrl).toBe('http://127.0.0.1:3000');
  });

  it('drop a trailing slash', () => {
    expect(run('--base-url', 'https://host:1/base/').baseUrl).toBe('https://host:1/base');
  });

  it('select tests', () => {
    const more = ['--only', 'specification', '--grep', '§4', '--grep', '§5', '--skip', 'refunds'];
    expect(run(...more)).toMatchObject({ only: 'specification', grep: ['§4', '§5'], skip: ['refunds'] });
  });

  it('need no service to list the tests or to help', () => {
    expect(parseArguments(['--list', '--json'], {})).toMatchObject({
      kind: 'list',
      selection: { json: true },
    });
    expect(parseArguments(['--help'], {})).toMatchObject({ kind: 'help' });
    expect(parseArguments(['-h', '--list'], {})).toMatchObject({ kind: 'help' });
  });
});

describe('an argument at fault is named in one sentence', () => {
  it.each([
    { argv: [], names: '--base-url' },
    { argv: ['--base-url', 'https://x'], names: '--key' },
    { argv: ['--base-url'], names: '--base-url' },
    { argv: ['--base-url', '127.0.0.1:4443', '--key', 'k'], names: '--base-url' },
    { argv: ['--base-url', 'ftp://x', '--key', 'k'], names: '--base-url' },
    { argv: ['--base-url', 'https://user@x', '--key', 'k'], names: '--base-url' },
    { argv: ['--base-url', 'https://x?a=b', '--key', 'k'], names: '--base-url' },
    { argv: [...service, '--key', ''], names: '--key' },
    { argv: [...service, '--key', 'two words'], names: '--key' },
    { argv: [...service, '--http-url', 'https://x'], names: '--http-url' },
    { argv: [...service, '--sandbox-url', 'https://y'], names: '--sandbox-key' },
    { argv: [...service, '--sandbox-key', 'k'], names: '--sandbox-url' },
    { argv: [...service, '--move-clock'], names: '--sandbox' },
    { argv: [...service, '--callback-host', 'http://me'], names: '--callback-host' },
    { argv: [...service, '--callback-host', 'me', '--no-callbacks'], names: '--no-callbacks' },
    { argv: [...service, '--only', 'some'], names: '--only' },
    { argv: [...service, '--currency', 'euro'], names: '--currency' },
    { argv: [...service, '--patience', 'long'], names: '--patience' },
    { argv: [...service, '--patience', '0'], names: '--patience' },
    { argv: [...service, '--timeout', '-1'], names: '--timeout' },
    { argv: [...service, '--colour'], names: '--colour' },
    { argv: [...service, '--sandbox=yes'], names: '--sandbox' },
    { argv: [...service, 'more'], names: 'more' },
  ])('$argv', ({ argv, names }) => {
    const problem = problemOf(argv);
    expect(problem).toContain(names);
    expect(problem).toMatch(/^[^\n]+\.$/);
  });

  it('and a key never is', () => {
    for (const argv of [['--key', 'secret key'], ['--kye=secret'], ['--kye', 'secret']])
      expect(problemOf(['--base-url', 'https://x', ...argv])).not.toContain('secret');
  });
});

describe('the help', () => {
  it('explains every option and has examples', () => {
    const { help } = parseArguments(['--help'], {}) as { help: string };
    for (const option of [
      '--base-url',
      '--ca',
      '--sandbox-url',
      '--move-clock',
      '--grep',
      '--list',
      '--json',
    ])
      expect(help).toMatch(new RegExp(`^ {2}${option} `, 'm'));
    expect(help).toContain('Examples');
  });
});
