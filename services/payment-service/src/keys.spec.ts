import { createHash } from 'node:crypto';
import type { ApiError } from '@tollgate/core/money';
import { describe, expect, it } from 'vitest';
import { createAuthenticate } from './keys.ts';

const key = `sk_sandbox_${'a'.repeat(32)}`;
const hash = createHash('sha256').update(key).digest('hex');
const merchant = { id: 1, name: 'demo', uniqueOrderNumber: false };

describe('the check of a key', () => {
  it('compares the whole hash, not only the indexed part', () => {
    const sameBeginning = `${hash.slice(0, 63)}${hash.endsWith('0') ? '1' : '0'}`;
    const authenticate = createAuthenticate({
      keysByHashPrefix: () => [{ hash: sameBeginning, merchant }],
    });
    expect(authenticate(`Bearer ${key}`)).toMatchObject({ refused: { code: 'incorrect_private_key' } });
  });

  it('states that a production key is one, even before it is searched', () => {
    const lookUp = () => {
      throw new Error('searched');
    };
    const authenticate = createAuthenticate({ keysByHashPrefix: lookUp });
    const { refused } = authenticate(`Bearer sk_production_${'a'.repeat(32)}`) as { refused: ApiError };
    expect(refused).toMatchObject({ code: 'incorrect_private_key', kind: 'authentication_error' });
    expect(refused.message).toBe(
      'This is a production key, and this is the sandbox environment: use a sandbox key here.',
    );
  });

  it('never passes the key to the storage', () => {
    const asked: string[] = [];
    const authenticate = createAuthenticate({
      keysByHashPrefix: (prefix) => {
        asked.push(prefix);
        return [{ hash, merchant }];
      },
    });
    expect(authenticate(`Bearer ${key}`)).toEqual({ merchant });
    expect(authenticate(`bearer   ${key}  `)).toEqual({ merchant });
    expect(asked).toEqual([hash.slice(0, 8), hash.slice(0, 8)]);
  });
});
