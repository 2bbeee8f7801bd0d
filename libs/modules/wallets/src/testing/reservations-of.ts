import { beginning, type EventStore, eventsUntilNow } from '@tollgate/event-store';
import { ledgerPrefixes, type LedgerSource, readLedger } from '@tollgate/views';
import { type Core, type Requester, walletNameOf } from '@tollgate/core';
import type { LedgerAccount } from '@tollgate/books';
import { createWalletReservations, type WalletReservations } from '../wallet-reservations.ts';

/** An index that has nothing yet: every balance is summed up from the events. */
const emptyIndex = (store: EventStore): LedgerSource => ({
  recent: () => Array.fromAsync(eventsUntilNow(store, { from: beginning, prefixes: ledgerPrefixes })),
  quarantined: () => [],
  balances: () => [],
  spent: () => [],
  find: () => undefined,
  atOnce: (read) => read(),
});

export const reservationsOf = (core: Core): WalletReservations =>
  createWalletReservations({
    ...core,
    index: { readLedger: async (query) => readLedger(emptyIndex(core.store), query) },
  });

/** In euros: the rest after all reservations, and the amount on hold. */
export async function balanceOf(core: Core, by: Requester): Promise<{ available: bigint; hold: bigint }> {
  const wallet = { environment: by.environment, wallet: walletNameOf(by), currency: 'EUR' };
  const { ledger, open } = await reservationsOf(core).read(wallet);
  const sum = (name: LedgerAccount) =>
    [...ledger.byAccount.values()].reduce((total, each) => total + (each[name] ?? 0n), 0n);
  const held = open.reduce((total, { amount }) => total + BigInt(amount), 0n);
  return { available: sum('available') - held, hold: sum('reserved') + sum('disputed') + held };
}
