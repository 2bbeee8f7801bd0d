import { type Requester } from '@tollgate/core';
import { caller, cause, useHarness } from '@tollgate/core/testing';
import type { EventStore } from '@tollgate/event-store';
import { describe, expect, it } from 'vitest';
import type { Transfer } from '@tollgate/books';
import { differencesOf, recomputeLedger } from './recompute.ts';
import { balanceOf, reservationsOf } from './testing/reservations-of.ts';
import { transferMoney } from './transfers.ts';

const harness = useHarness();
const shop: Requester = { ...caller, wallet: { kind: 'own' } };
const group: Requester = { ...caller, wallet: { kind: 'shared', name: 'group' } };

async function transfer(key: string, amount: number, more: Partial<Transfer> = {}, store?: EventStore) {
  const core = { ...harness().inside, ...(store && { store }) };
  const terms = { environment: 'sandbox', account: 'main', currency: 'EUR', amount } as const;
  const wanted = { ...terms, from: 'team-demo', to: 'wallet-group', reason: 'joined', ...more };
  const deps = { ...core, reservations: reservationsOf(core) };
  return transferMoney(deps, { key, transfer: wanted, cause });
}
const exceeds = (availableAmount: number) => ({
  kind: 'refused',
  refusal: { code: 'transfer_exceeds_balance', availableAmount, currency: 'EUR' },
});
const balances = async () => [await balanceOf(harness(), shop), await balanceOf(harness(), group)];
const left = (available: bigint, hold = 0n) => ({ available, hold });

describe('a transfer', () => {
  it('moves at most the money that the wallet has in the account', async () => {
    await harness().approved('order-1', 500, shop);
    expect(await transfer('a', 501)).toMatchObject(exceeds(500));
    expect(await transfer('a', 100, { account: 'other' })).toMatchObject(exceeds(0));
    expect(await transfer('a', 300)).toMatchObject({ kind: 'transferred', replayed: false });
    expect(await balances()).toEqual([left(200n), left(300n)]);
    expect(await transfer('b', 300, { from: 'wallet-group', to: 'team-demo' })).toMatchObject({
      kind: 'transferred',
    });
    expect(await balances()).toEqual([left(500n), left(0n)]);
  });

  it('is made once under a key, and refused under it with other terms', async () => {
    await harness().approved('order-1', 500, shop);
    await transfer('a', 300);
    expect(await transfer('a', 300)).toMatchObject({ kind: 'transferred', replayed: true });
    expect(await transfer('a', 301)).toMatchObject({ refusal: { code: 'idempotency_key_reused' } });
    expect(await balances()).toEqual([left(200n), left(300n)]);
  });

  it('of twenty concurrent ones moves exactly the available money', async () => {
    await harness().approved('order-1', 500, shop);
    const keys = Array.from({ length: 20 }, (_, index) => `key-${index % 10}`);
    const results = await Promise.all(keys.map((key) => transfer(key, 120)));
    expect(results.some(({ kind }) => kind === 'refused')).toBe(true);
    expect(await balances()).toEqual([left(20n), left(480n)]);
  });

  it('whose process died stays reserved until it is repeated', async () => {
    await harness().approved('order-1', 500, shop);
    const { store } = harness().inside;
    const append: EventStore['append'] = (stream, ...rest) =>
      stream.startsWith('transfer-') ? Promise.reject(new Error('dead')) : store.append(stream, ...rest);
    await expect(transfer('a', 300, {}, { ...store, append })).rejects.toThrow('dead');
    await harness().clock.advance(86_400_000);
    expect(await balances()).toEqual([left(200n, 300n), left(0n)]);
    expect(await transfer('a', 300)).toMatchObject({ kind: 'transferred' });
    expect(await balances()).toEqual([left(200n), left(300n)]);
  });
});

describe('the ledger, recomputed', () => {
  const recomputed = () =>
    recomputeLedger({ store: harness().inside.store, signal: new AbortController().signal });

  it('sums to zero in every entry, and lists the balances that differ', async () => {
    await harness().approved('order-1', 500, shop);
    await transfer('a', 300);
    const { standings, unbalanced, events } = await recomputed();
    expect([unbalanced, events > 2]).toEqual([[], true]);
    expect(differencesOf(standings, standings)).toEqual([]);
    const wrong = standings.map(({ amounts, ...owner }) => ({
      ...owner,
      amounts: { ...amounts, available: (amounts.available ?? 0n) + 1n },
    }));
    expect(differencesOf(standings, wrong)).toEqual([
      { name: 'sandbox team-demo main EUR available', recomputed: 200n, found: 201n },
      { name: 'sandbox wallet-group main EUR available', recomputed: 300n, found: 301n },
    ]);
  });
});
