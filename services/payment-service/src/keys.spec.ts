import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { createAuthenticate } from './keys.ts';

const key = `sk_sandbox_${'a'.repeat(32)}`;
const hash = createHash('sha256').update(key).digest('hex');
const merchant = { id: 1, name: 'demo' };

describe('the check of a key', () => {
  it('states that a production key is one, even before it is searched', () => {
    const findByKeyHash = () => {
      throw new Error('searched');
    };
    const authenticate = createAuthenticate({ findByKeyHash });
    expect(authenticate(`Bearer sk_production_${'a'.repeat(32)}`)).toMatchObject({
      refused: {
        code: 'incorrect_private_key',
        kind: 'authentication_error',
        message: 'This is a production key, and this is the sandbox environment: use a sandbox key here.',
      },
    });
  });

  it('never passes the key to the storage', () => {
    const asked: string[] = [];
    const authenticate = createAuthenticate({
      findByKeyHash: (given) => {
        asked.push(given);
        return given === hash ? merchant : undefined;
      },
    });
    expect(authenticate(`Bearer ${key}`)).toEqual({ merchant });
    expect(authenticate(`bearer   ${key}  `)).toEqual({ merchant });
    expect(authenticate(`Bearer ${key}b`)).toMatchObject({ refused: { code: 'incorrect_private_key' } });
    expect(asked.join()).not.toContain('sk_');
  });
});
