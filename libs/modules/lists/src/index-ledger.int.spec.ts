/** The ledger in the index: balances, daily sums, and the journal, read while events arrive. */
import type { EventStore } from '@tollgate/event-store';
import { temporaryFile, temporaryStore } from '@tollgate/event-store/testing';
import { silentLog, systemClock, systemIds, utcDayOf } from '@tollgate/service-kit';
import {
  foldStream,
  paymentKind,
  payoutKind,
  streamOf,
  transferKind,
  type LedgerQuery,
  type ViewKind,
} from '@tollgate/views';
import {
  adopted,
  anyHistory,
  anyPayoutHistory,
  appendEvents,
  happening,
  payoutHappening,
  payoutRequested,
  planted,
  projectEvents,
  requested,
  startedAt,
  type AnyEvent,
} from '@tollgate/views/testing';
import { propertyRuns } from '@tollgate/testing';
import fc from 'fast-check';
import { randomUUID } from 'node:crypto';
import { DatabaseSync } from 'node:sqlite';
import { describe, expect, onTestFinished, test } from 'vitest';
import { entriesOf, ledgerAccounts, type Standing } from '@tollgate/books';
import { parsePostings } from './index-journal.ts';
import { createPaymentIndex, type PaymentIndex } from './payment-index.ts';

const { accepted, approved, declined, refunding, refundApproved, refundedElsewhere } = happening;
const wallet = { environment: 'sandbox', wallet: 'team-shop', currency: 'EUR' } as const;
const shop: LedgerQuery = { ...wallet, commands: [], spent: [] };
const account = `account-${planted}`;
const taken = [requested(), accepted, approved];

async function startIndex(store: EventStore, file = ':memory:'): Promise<PaymentIndex> {
  const index = createPaymentIndex({ file, store, log: silentLog, clock: systemClock, ids: systemIds });
  onTestFinished(() => index.stop());
  await index.start();
  return index;
}

const append = (store: EventStore, kind: ViewKind, token: string, events: readonly AnyEvent[]) =>
  appendEvents(store, streamOf(kind, token), events);

/** The balance of the merchant account, without zeros. */
async function balanceOf(index: PaymentIndex, query: Partial<LedgerQuery> = {}) {
  const { byAccount } = await index.readLedger({ ...shop, ...query });
  const amounts = Object.entries(byAccount.get(account) ?? {});
  return Object.fromEntries(
    amounts.filter(([, sum]) => sum !== 0n).map(([name, sum]) => [name, Number(sum)]),
  );
}

const transferOf = (amount: number): AnyEvent => ({
  type: 'WalletTransferred',
  data: {
    environment: 'sandbox',
    account,
    currency: 'EUR',
    amount,
    from: 'team-shop',
    to: 'team-games',
    reason: 'r',
  },
});

describe('a balance', () => {
  test('is of one wallet, currency and environment, fixed when money arrived', async () => {
    const store = await temporaryStore();
    await projectEvents(store, paymentKind, 'p1', [...taken, refunding, refundApproved, refundedElsewhere]);
    await projectEvents(store, paymentKind, 'p2', [...taken, refunding]);
    await projectEvents(store, paymentKind, 'p3', [requested({ team: 'games' }), accepted, approved]);
    await projectEvents(store, paymentKind, 'p4', [requested({ currency: 'USD' }), accepted, approved]);
    await projectEvents(store, paymentKind, 'p5', [
      requested({ environment: 'production' }),
      accepted,
      approved,
    ]);
    await projectEvents(store, payoutKind, 'po_1', [payoutRequested()]);
    await append(store, transferKind, 'trf_1', [transferOf(70)]);
    const index = await startIndex(store);
    const elsewhere = refundedElsewhere.data.amount;
    const out = 500 + elsewhere;
    expect(await balanceOf(index)).toEqual({
      customers: -3_000 + out,
      available: 3_000 - out - 500 - 300 - 70,
      reserved: 800,
      transferred: 70,
    });
    const games = { customers: -1_500, available: 1_570, transferred: -70 };
    expect(await balanceOf(index, { wallet: 'team-games' })).toEqual(games);
    expect(await balanceOf(index, { wallet: 'team-nobody' })).toEqual({});
  });

  test('includes recent events, and reports which commands are recorded', async () => {
    const store = await temporaryStore();
    const index = await startIndex(store);
    await append(store, paymentKind, 'p1', [...taken, refunding]);
    await append(store, payoutKind, 'po_1', [payoutRequested()]);
    const commands = ['p1', 'po_1', 'po_2'].map((token) => ({ token, subject: token }));
    const refunds = ['ref_1', 'ref_2'].map((token) => ({ token, subject: 'p1' }));
    const { recorded } = await index.readLedger({ ...shop, commands: [...commands, ...refunds] });
    expect([...recorded]).toEqual(['p1', 'po_1', 'ref_1']);
    expect(await balanceOf(index)).toMatchObject({ available: 700, reserved: 800 });
    await append(store, payoutKind, 'po_1', [payoutHappening.refused, payoutHappening.failed]);
    expect(await balanceOf(index)).toMatchObject({ available: 1_000, reserved: 500 });
  });

  test('keeps adopted money apart', async () => {
    const store = await temporaryStore();
    await append(store, paymentKind, 'p1', [adopted()]);
    expect(await balanceOf(await startIndex(store))).toEqual({ customers: -1_100, adopted: 1_100 });
  });

  test('is not guessed while the index is not complete', async () => {
    const store = await temporaryStore();
    const refused = { code: 'index_rebuilding', retryable: true };
    const other = createPaymentIndex({
      file: ':memory:',
      store,
      log: silentLog,
      clock: systemClock,
      ids: systemIds,
    });
    onTestFinished(() => other.stop());
    await expect(other.readLedger(shop)).rejects.toMatchObject(refused);
  });
});

describe('if a stream is quarantined', () => {
  const poison = { type: 'PaymentForgotten', data: {} } as unknown as AnyEvent;
  const refused = { code: 'balance_unreadable', retryable: true };

  // 500 of the 1,500 were refunded, and the row shows 1,500: a payout of 1,500 would have paid out 500 twice.
  test('the balance of its wallet is refused, even after a restart; that of another one is known', async () => {
    const [store, file] = [await temporaryStore(), await temporaryFile()];
    await projectEvents(store, paymentKind, 'p2', [requested({ team: 'games' }), accepted, approved]);
    await append(store, paymentKind, 'p1', [...taken, poison, refunding, refundApproved]);
    const index = await startIndex(store, file);
    await expect(index.readLedger(shop)).rejects.toMatchObject(refused);
    expect(await balanceOf(index, { wallet: 'team-games' })).toMatchObject({ available: 1_500 });
    await index.stop();
    await expect((await startIndex(store, file)).readLedger(shop)).rejects.toMatchObject(refused);
  });

  test('no balance is returned if the stream may belong to any wallet', async () => {
    const store = await temporaryStore();
    const index = await startIndex(store);
    await store.append(
      'payout-po_1',
      [{ id: randomUUID(), type: 'Any', data: {}, metadata: {} }],
      'no-stream',
    );
    await expect(index.readLedger(shop)).rejects.toMatchObject(refused);
  });
});

test('the daily sum is by key, and without failed commands', async () => {
  const store = await temporaryStore();
  await append(store, paymentKind, 'p1', [...taken, refunding]);
  await append(store, paymentKind, 'p2', [requested(), accepted, declined]);
  await append(store, payoutKind, 'po_1', [payoutRequested()]);
  const index = await startIndex(store);
  const asked = { environment: 'sandbox', team: 'shop', currency: 'EUR' } as const;
  const queries = (['payment', 'refund', 'payout'] as const).map((operation) => ({
    ...asked,
    operation,
    day: utcDayOf(startedAt),
  }));
  const { spentOf } = await index.readLedger({ ...shop, spent: queries });
  expect(queries.map((query) => spentOf(query, 'k1'))).toEqual([1_500n, 500n, 300n]);
  expect(queries.map((query) => spentOf(query, undefined))).toEqual([1_500n, 500n, 300n]);
  expect(spentOf(queries[0]!, 'another')).toBe(0n);
});

const zero = (): Record<string, bigint> => Object.fromEntries(ledgerAccounts.map((name) => [name, 0n]));

test('the journal, the balances and the events folded from zero agree, in any batches', async () => {
  const histories = fc.tuple(anyHistory, anyHistory, anyPayoutHistory);
  await fc.assert(
    fc.asyncProperty(histories, fc.tuple(fc.nat(30), fc.nat(30), fc.nat(30)), async (given, shown) => {
      const [store, file] = [await temporaryStore(), await temporaryFile()];
      const kinds: ViewKind[] = [paymentKind, paymentKind, payoutKind];
      const index = await startIndex(store, file);
      await append(store, paymentKind, 'p0', taken);
      for (const [number, events] of given.entries()) {
        const count = shown[number]! % (events.length + 1);
        if (count > 0) await append(store, kinds[number]!, `t${number}`, events.slice(0, count));
      }
      for (const [number, events] of given.entries()) {
        const rest = events.slice(shown[number]! % (events.length + 1));
        if (rest.length > 0) await append(store, kinds[number]!, `t${number}`, rest);
      }
      const folded = zero();
      for (const [number, kind] of [...kinds, paymentKind].entries()) {
        const view = await foldStream(store, kind, number === 3 ? 'p0' : `t${number}`);
        const standings: readonly Standing[] = (view && kind.standingsOf?.(view)) ?? [];
        for (const { postings } of entriesOf(
          [],
          standings.filter(
            (each) =>
              each.wallet === 'team-shop' && each.currency === 'EUR' && each.environment === 'sandbox',
          ),
        ))
          for (const { ledgerAccount, amount } of postings)
            folded[ledgerAccount] = (folded[ledgerAccount] ?? 0n) + amount;
      }
      const isZeroed = (sums: Record<string, bigint>) => ({ ...zero(), ...sums });
      const expectFolded = async () => {
        const { byAccount } = await index.readLedger(shop);
        const kept = zero();
        for (const amounts of byAccount.values())
          for (const [name, sum] of Object.entries(amounts)) kept[name] = (kept[name] ?? 0n) + sum;
        expect(isZeroed(kept)).toEqual(folded);
      };
      // Of what the index has, and of events that it lacks.
      await expectFolded();
      expect(await index.waitFor(await store.head(), 10_000)).toBe(true);
      await expectFolded();
      await index.stop();
      using database = new DatabaseSync(file, { readOnly: true });
      const rows = database
        .prepare(
          "SELECT postings FROM journal WHERE wallet = 'team-shop' AND currency = 'EUR' AND environment = 'sandbox'",
        )
        .all();
      const summed = zero();
      for (const row of rows) {
        const postings = parsePostings(String(row['postings']));
        expect(postings.reduce((sum, [, amount]) => sum + amount, 0n)).toBe(0n);
        for (const [name, amount] of postings) summed[name] = (summed[name] ?? 0n) + amount;
      }
      expect(summed).toEqual(folded);
    }),
    { numRuns: propertyRuns(15) },
  );
});

// M6: two commits changed how money is booked, and every index kept its old sums.
test('an index built under another booking rule is rebuilt, and its journal is that of the events', async () => {
  const store = await temporaryStore();
  const file = await temporaryFile();
  await append(store, paymentKind, 'pay_1', [...taken, refunding, refundApproved]);
  await append(store, transferKind, 'trf_1', [transferOf(70)]);
  const journalOf = (index: PaymentIndex) =>
    index.listJournal({ owners: [{ environment: 'sandbox', team: 'shop' }], perPage: 100 });
  const before = await startIndex(store, file);
  const expected = { journal: journalOf(before), balances: before.listBalances() };
  await before.stop();
  const other = new DatabaseSync(file);
  const { user_version: version } = other.prepare('PRAGMA user_version').get() as { user_version: number };
  other.exec(`PRAGMA user_version = ${version ^ 1};
    UPDATE balances SET amount = '1200' WHERE ledger_account = 'available';
    DELETE FROM journal WHERE entry_kind = 'refund'`);
  other.close();
  const after = await startIndex(store, file);
  await append(store, paymentKind, 'pay_2', [requested()]);
  expect({ journal: journalOf(after), balances: after.listBalances() }).toEqual(expected);
});
