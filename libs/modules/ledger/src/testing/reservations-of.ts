import { beginning, type EventStore } from '@tollgate/event-store';
import {
  kindOfStream,
  type LedgerSource,
  paymentKind,
  payoutKind,
  readLedger,
  transferKind,
  type ViewEnvelope,
} from '@tollgate/views';
import {
  type Core,
  createLedgerChanges,
  type LedgerAccount,
  type Requester,
  type Spending,
  walletNameOf,
} from '@tollgate/core';
import { utcDayOf } from '@tollgate/service-kit';
import { createWalletReservations, type WalletReservations } from '../wallet-reservations.ts';

const prefixes = [paymentKind, payoutKind, transferKind].map(({ streamPrefix }) => streamPrefix);

/** A read model without lag: every balance is summed up from the events. */
async function wholeStore(store: EventStore): Promise<LedgerSource> {
  const views = new Map<string, ViewEnvelope>();
  const { signal } = new AbortController();
  for await (const item of store.subscribe({ from: beginning, prefixes, signal })) {
    if (item.kind === 'caught-up') break;
    const view = kindOfStream(item.stream)?.fold(views.get(item.stream), item);
    if (view !== undefined) views.set(item.stream, view);
  }
  const sums = createLedgerChanges();
  const spending: Spending[] = [];
  for (const [stream, view] of views) {
    const kind = kindOfStream(stream);
    sums.replace([], kind?.standingsOf?.(view) ?? []);
    spending.push(...(kind?.spendingOf?.(view) ?? []));
  }
  const has = (each: object, wanted: object) =>
    Object.entries(wanted).every(([name, value]) => each[name as keyof typeof each] === value);
  return {
    waitForNow: async () => true,
    quarantined: () => [],
    balances: ({ environment, wallet, currency }) =>
      sums.list().filter((each) => has(each, { environment, wallet, currency })),
    spent: ({ day, ...query }) => spending.filter((each) => has(each, query) && utcDayOf(each.at) === day),
    find: (kind, token) => views.get(`${kind.streamPrefix}${token}`) as never,
    atOnce: (read) => read(),
  };
}

export const reservationsOf = (core: Core): WalletReservations =>
  createWalletReservations({
    ...core,
    index: { readLedger: async (query) => readLedger(await wholeStore(core.store), query) },
  });

/** In euros: what is left after all reservations, and what is held. */
export async function balanceOf(core: Core, by: Requester): Promise<{ available: bigint; hold: bigint }> {
  const wallet = { environment: by.environment, wallet: walletNameOf(by), currency: 'EUR' };
  const { ledger, open } = await reservationsOf(core).read(wallet);
  const sum = (name: LedgerAccount) =>
    [...ledger.byAccount.values()].reduce((total, each) => total + (each[name] ?? 0n), 0n);
  const held = open.reduce((total, { amount }) => total + BigInt(amount), 0n);
  return { available: sum('available') - held, hold: sum('reserved') + sum('disputed') + held };
}
