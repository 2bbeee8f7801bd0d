import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { createAuthenticate } from './keys.ts';

const key = `sk_sandbox_${'a'.repeat(32)}`;
const hash = createHash('sha256').update(key).digest('hex');
const merchant = { id: 1, name: 'demo', uniqueOrderNumber: false };

describe('the check of a key', () => {
  it('compares the whole hash, not the part by which it is found', () => {
    const sameBeginning = `${hash.slice(0, 63)}${hash.endsWith('0') ? '1' : '0'}`;
    const authenticate = createAuthenticate({ keysByHashPrefix: () => [{ hash: sameBeginning, merchant }] });
    expect(authenticate(`Bearer ${key}`)).toMatchObject({ refused: { code: 'incorrect_private_key' } });
  });

  it('never hands the key to the storage', () => {
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
