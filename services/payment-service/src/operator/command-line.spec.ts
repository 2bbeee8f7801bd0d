import { Secret } from '@tollgate/service-kit';
import { describe, expect, it } from 'vitest';
import { runOperatorCommand } from './command-line.ts';
import type { OperatorOperations } from './operations.ts';

const issued = { keyId: 'key_0123456789ab', key: new Secret('sk_sandbox_shown-once') };

/** Runs a command with operations that record their calls, and succeed by default. */
async function run(command: string, overrides: Partial<OperatorOperations> = {}) {
  const calls: unknown[][] = [];
  const output = { out: '', error: '', closed: 0 };
  const note =
    <Value>(name: string, value: Value) =>
    async (...values: unknown[]) => {
      calls.push([name, ...values]);
      return value;
    };
  const operations: OperatorOperations = {
    register: note('register', issued),
    approve: note('approve', { missing: ['technical' as const] }),
    issueKey: note('issueKey', issued),
    revokeKey: note('revokeKey', { keyId: issued.keyId }),
    setUniqueOrderNumber: note('set', {}),
    list: () => [],
    ...overrides,
  };
  const exitCode = await runOperatorCommand(command === '' ? [] : command.split(' '), {
    open: () => ({ tools: operations, close: () => void (output.closed += 1) }),
    print: (text) => (output.out += text),
    complain: (text) => (output.error += text),
  });
  return { exitCode, calls, ...output };
}

describe('the commands', () => {
  it.each([
    ['register tea-shop', ['register', 'tea-shop']],
    ['approve tea-shop --compliance', ['approve', 'tea-shop', ['compliance']]],
    ['approve tea-shop --technical --commercial', ['approve', 'tea-shop', ['commercial', 'technical']]],
    ['issue-key tea-shop --environment production', ['issueKey', 'tea-shop', 'production']],
    ['revoke-key key_0123', ['revokeKey', 'key_0123']],
    ['set tea-shop --unique-order-number on', ['set', 'tea-shop', true]],
    ['set tea-shop --unique-order-number off', ['set', 'tea-shop', false]],
  ])('%s', async (command, call) => {
    expect(await run(command)).toMatchObject({ exitCode: 0, calls: [call], error: '', closed: 1 });
  });

  it('show a new key once, with its purpose', async () => {
    const { out } = await run('issue-key tea-shop --environment production');
    expect(out.match(/sk_sandbox_shown-once/g)).toHaveLength(1);
    expect(out).toContain('environment  production');
    expect(out).toContain(issued.keyId);
  });

  it('list merchants with only the beginning of their keys', async () => {
    const key = { keyId: 'key_1', shown: 'sk_sandbox_abcdef', createdAt: 0, revokedAt: 86_400_000 };
    const list = () => [
      {
        name: 'tea',
        uniqueOrderNumber: true,
        approvals: ['technical' as const],
        keys: [{ ...key, environment: 'sandbox' as const }],
      },
    ];
    expect((await run('list', { list })).out).toBe(
      'tea (approved: technical; unique order number: on)\n' +
        '  sandbox    key_1 sk_sandbox_abcdef…        issued 1970-01-01, revoked 1970-01-02\n',
    );
    expect((await run('list')).out).toBe('No merchant is registered.\n');
  });

  it.each(['--help', 'help', 'register --help', 'set --help'])(
    '%s explains and opens nothing',
    async (command) => {
      expect(await run(command)).toMatchObject({ exitCode: 0, error: '', closed: 0 });
      expect((await run(command)).out).toContain('Usage: npm run payment-service --');
    },
  );
});

describe('an invalid call', () => {
  it.each([
    ['', '<command>'],
    ['pay', "'pay'"],
    ['register', '<name>'],
    ['register tea shop', "'shop'"],
    ['register tea --force', "'--force'"],
    ['approve tea', '--compliance'],
    ['approve --technical', '<name>'],
    ['approve tea --legal', "'--legal'"],
    ['issue-key tea', '--environment'],
    ['issue-key tea --environment', '--environment'],
    ['issue-key tea --environment test', 'sandbox, production'],
    ['revoke-key', '<key>'],
    ['set tea', '--unique-order-number'],
    ['set tea --unique-order-number yes', 'on, off'],
    ['list all', "'all'"],
    ['--version', '<command>'],
  ])(
    '%j is answered with one sentence that names the argument, and exit code 2',
    async (command, argument) => {
      const { exitCode, error, out, calls, closed } = await run(command);
      expect({ exitCode, out, calls, closed }).toEqual({ exitCode: 2, out: '', calls: [], closed: 0 });
      expect(error).toContain(argument);
      expect(error).toMatch(/^[A-Z<-][^\n]*[^.\n]\.\n$/);
      expect(error).not.toMatch(/\. \S/);
    },
  );

  it.each([
    ['usage', 2],
    ['refused', 1],
  ] as const)('that an operation refuses as %s ends with %i', async (kind, exitCode) => {
    const register = async () => ({ kind, message: 'Why.' });
    expect(await run('register tea', { register })).toMatchObject({
      exitCode,
      out: '',
      error: 'Why.\n',
      closed: 1,
    });
  });
});
