/** The journal and its statements: only the owning team reads its money, even if others share its wallet. */
import type { PaymentEvent, PayoutEvent } from '@tollgate/core';
import type { EventStore } from '@tollgate/event-store';
import { appended } from '@tollgate/event-store/testing';
import type { PaymentIndex } from '@tollgate/lists';
import {
  happening,
  payoutHappening,
  payoutRequested,
  planted,
  requested,
  toNewEvents,
  type AnyEvent,
} from '@tollgate/views/testing';
import { randomUUID } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { errorsOf, invalid, payoutsOnly, start } from './testing/harness.ts';

const { accepted, approved, refunding, refundApproved } = happening;
const account = `account-${planted}`;
const [january, february] = [Date.UTC(2026, 0, 31, 23, 59), Date.UTC(2026, 1, 1)];

/** Appends events that were all recorded at one time. */
async function append(store: EventStore, stream: string, events: readonly AnyEvent[], recordedAt: number) {
  const recorded = toNewEvents(events, randomUUID).map(({ metadata, ...event }) => ({
    ...event,
    metadata: { ...(metadata as object), recordedAt },
  }));
  return appended(await store.append(stream, recorded, 'any'));
}

const inWallet = <Event extends PaymentEvent | PayoutEvent>(event: Event, wallet: string): Event => ({
  ...event,
  data: { ...event.data, wallet },
});
const transfer = (amount: number, from: string, to: string) => ({
  type: 'WalletTransferred',
  data: { environment: 'sandbox', account, currency: 'EUR', amount, from, to, reason: 'spec' },
});

/** Shop took 1,500 in January and refunds 500 in February; both teams also use a shared wallet. */
async function givenMoney() {
  let index: PaymentIndex | undefined;
  const services = await start(undefined, { wrapIndex: (made) => (index = made) });
  const { store } = services;
  const paid = [requested(), accepted, approved];
  await append(store, 'payment-pay_1', paid, january);
  await append(store, 'payment-pay_2', [requested({ currency: 'JPY' }), accepted, approved], january);
  await append(store, 'payment-theirs', [requested({ team: 'games' }), accepted, approved], january);
  for (const team of ['shop', 'games']) {
    const shared = [inWallet(requested({ team }), 'wallet-group'), accepted, approved];
    await append(store, `payment-shared_${team}`, shared, january + 1);
  }
  await append(store, 'transfer-trf_1', [transfer(70, 'team-shop', 'wallet-group')], january + 2);
  await append(store, 'payment-pay_1', [refunding, refundApproved], february);
  const out = [payoutRequested(), payoutHappening.accepted, payoutHappening.approved];
  await append(store, 'payout-po_1', out, february + 1);
  const { position } = await append(
    store,
    'payment-live',
    [requested({ environment: 'production' })],
    february,
  );
  const headers = { 'tollgate-min-position': position };
  await services.get('/api/v1/journal', headers);
  return { ...services, headers, index: index! };
}

interface Entry {
  id: string;
  token: string;
  kind: string;
  wallet: string;
  currency: string;
  postings: { ledgerAccount: string; amount: number }[];
}
const entriesIn = (answer: { json: () => unknown }) => (answer.json() as { entries: Entry[] }).entries;

describe('the journal', () => {
  test('has an entry for each event that moves money, newest first, and each sums to zero', async () => {
    const { get, headers } = await givenMoney();
    const entries = entriesIn(await get('/api/v1/journal', headers));
    expect(entries.map(({ token, kind }) => `${kind} ${token}`)).toEqual([
      ...['payout po_1', 'payout po_1', 'refund pay_1', 'refund pay_1', 'transfer trf_1'],
      ...['payment shared_shop', 'payment pay_2', 'payment pay_1'],
    ]);
    for (const { postings } of entries) expect(postings.reduce((sum, { amount }) => sum + amount, 0)).toBe(0);
    expect(entries[2]).toEqual({
      id: expect.stringMatching(/^[0-9a-f-]{36}\.0$/),
      time: new Date(february).toISOString(),
      kind: 'refund',
      eventType: 'RefundApproved',
      token: 'pay_1',
      refundToken: 'ref_1',
      wallet: 'team-shop',
      account,
      currency: 'EUR',
      postings: [
        { ledgerAccount: 'customers', amount: 500 },
        { ledgerAccount: 'reserved', amount: -500 },
      ],
    });
  });

  test.each([
    ['currency=JPY', ['pay_2']],
    ['kind=refund', ['pay_1', 'pay_1']],
    ['kind=transfer&currency=JPY', []],
    ['ledgerAccount=paidOut', ['po_1']],
    ['ledgerAccount=transferred', ['trf_1']],
    ['token=ref_1', ['pay_1', 'pay_1']],
    ['token=pay_1', ['pay_1', 'pay_1', 'pay_1']],
    ['token=pay_1&kind=payment', ['pay_1']],
    ['token=theirs', []],
    ['token=shared_games', []],
    ['account=other', []],
    [`account=${account}&kind=payout`, ['po_1', 'po_1']],
    ['dateFrom=2026-02-01', ['po_1', 'po_1', 'pay_1', 'pay_1']],
    ['dateTo=2026-01-31&order=oldest', ['pay_1', 'pay_2', 'shared_shop', 'trf_1']],
    ['dateFrom=2026-02-02', []],
  ])('is filtered by %s, as is its file', async (query, expected) => {
    const { get, headers } = await givenMoney();
    const entries = entriesIn(await get(`/api/v1/journal?${query}`, headers));
    expect(entries.map(({ token }) => token)).toEqual(expected);
    const lines = (await get(`/api/v1/journal.csv?${query}`, headers)).body.split('\r\n').slice(1, -1);
    const ids = entries.flatMap(({ id, postings }) => postings.map(() => id));
    expect(lines.map((line) => line.split(',')[1])).toEqual(ids);
  });

  test('of a team that shares a wallet has nothing of the others, through no cursor', async () => {
    const { get, getAs, headers } = await givenMoney();
    const theirs = entriesIn(await getAs(payoutsOnly)('/api/v1/journal', headers));
    expect(theirs).toEqual([]);
    const shared = entriesIn(await get('/api/v1/journal', headers)).filter(
      ({ wallet }) => wallet === 'wallet-group',
    );
    expect(shared.map(({ token }) => token)).toEqual(['shared_shop']);
    let next = '';
    const tokens: string[] = [];
    do {
      const page = await get(`/api/v1/journal?perPage=2&order=oldest${next}`, headers);
      tokens.push(...entriesIn(page).map(({ token }) => token));
      const { nextCursor } = page.json<{ nextCursor?: string }>();
      next = nextCursor === undefined ? '' : `&cursor=${nextCursor}`;
      for (const other of [`/api/v1/journal?kind=payment${next}`, `/api/v1/refunds?perPage=2${next}`])
        if (next !== '') expect(errorsOf(await get(other, headers))).toEqual(invalid('cursor'));
    } while (next !== '');
    expect(tokens).toHaveLength(8);
    expect(tokens).not.toContain('shared_games');
  });

  test('refuses an invalid filter', async () => {
    const { get } = await start();
    for (const query of ['kind=refunds', 'ledgerAccount=hold', 'wallet=team-games', 'order=x', 'dateFrom=1'])
      expect(errorsOf(await get(`/api/v1/journal?${query}`)), query).toEqual(
        invalid(query.split('=')[0] ?? ''),
      );
  });

  test('opens in a spreadsheet: a line for each posting, with its amount as a number in minor and in major units', async () => {
    const { get, headers } = await givenMoney();
    const { body } = await get('/api/v1/journal.csv?token=ref_1&order=oldest', headers);
    const [id] = entriesIn(await get('/api/v1/journal?token=ref_1&order=oldest', headers)).map(
      (each) => each.id,
    );
    const [head, first] = body.split('\r\n');
    expect(head).toBe(
      '\uFEFFtime,entry,kind,eventType,token,refundToken,disputeToken,wallet,account,ledgerAccount,currency,amountMinor,amount',
    );
    const time = new Date(february).toISOString();
    expect(first).toBe(
      `${time},${id},refund,RefundSubmitted,pay_1,ref_1,,team-shop,${account},available,EUR,-500,-5.00`,
    );
    const yen = (await get('/api/v1/journal.csv?currency=JPY', headers)).body;
    expect(yen).toContain(`,customers,JPY,-1500,-1500\r\n`);
  });
});

interface Statement {
  wallet: string;
  account: string;
  currency: string;
  opening: Record<string, number>;
  entries: { kind: string; amounts: Record<string, number> }[];
  closing: Record<string, number>;
}

describe('a statement', () => {
  const statementsIn = (answer: { json: () => unknown }) =>
    (answer.json() as { statements: Statement[] }).statements;
  const withoutZeros = (amounts: Record<string, number>) =>
    Object.fromEntries(Object.entries(amounts).filter(([, amount]) => amount !== 0));

  test('has the opening, the entries by kind and the closing of a month', async () => {
    const { get, headers } = await givenMoney();
    const statements = statementsIn(await get('/api/v1/statements?month=2026-02&currency=EUR', headers));
    expect(statements.map(({ wallet }) => wallet)).toEqual(['team-shop', 'wallet-group']);
    const [own] = statements as [Statement];
    expect(withoutZeros(own.opening)).toEqual({ customers: -1_500, available: 1_430, transferred: 70 });
    expect(own.entries.map(({ kind, amounts }) => [kind, withoutZeros(amounts)])).toEqual([
      ['payout', { available: -300, paidOut: 300 }],
      ['refund', { customers: 500, available: -500 }],
    ]);
    expect(withoutZeros(own.closing)).toEqual({
      customers: -1_000,
      available: 630,
      paidOut: 300,
      transferred: 70,
    });
    // Nothing happened in the shared wallet, and of it the team sees its own part.
    expect(statements[1]).toMatchObject({ entries: [], closing: { available: 1_500 } });
  });

  test('of each month begins at the end of the previous one, adds up, and ends at the balances', async () => {
    const { get, headers, index } = await givenMoney();
    let before: Statement[] = [];
    for (const month of ['2025-12', '2026-01', '2026-02', '2026-03']) {
      const statements = statementsIn(await get(`/api/v1/statements?month=${month}`, headers));
      for (const { wallet, currency, opening, entries, closing } of statements) {
        const last = before.find((each) => each.wallet === wallet && each.currency === currency);
        expect(withoutZeros(opening)).toEqual(withoutZeros(last?.closing ?? {}));
        for (const [name, amount] of Object.entries(closing))
          expect(entries.reduce((sum, { amounts }) => sum + amounts[name]!, opening[name]!)).toBe(amount);
      }
      before = statements;
    }
    const balances = index.listBalances().filter(({ wallet }) => wallet === 'team-shop');
    for (const { currency, amounts } of balances) {
      const { closing } = before.find((each) => each.wallet === 'team-shop' && each.currency === currency)!;
      const kept = Object.entries(amounts).map(([name, amount]) => [name, Number(amount)]);
      expect(withoutZeros(closing)).toEqual(withoutZeros(Object.fromEntries(kept)));
    }
    expect(balances).toHaveLength(2);
  });

  test('is available as a file', async () => {
    const { get, headers } = await givenMoney();
    const { body } = await get('/api/v1/statements.csv?month=2026-02&currency=JPY', headers);
    expect(body.split('\r\n')).toEqual([
      '\uFEFFmonth,environment,wallet,account,ledgerAccount,line,currency,amountMinor,amount',
      `2026-02,sandbox,team-shop,${account},customers,opening,JPY,-1500,-1500`,
      `2026-02,sandbox,team-shop,${account},customers,closing,JPY,-1500,-1500`,
      `2026-02,sandbox,team-shop,${account},available,opening,JPY,1500,1500`,
      `2026-02,sandbox,team-shop,${account},available,closing,JPY,1500,1500`,
      '',
    ]);
  });

  // A statement of a month to come showed the balances of today.
  test('is of a month that has begun', async () => {
    const { get } = await start();
    for (const query of ['', 'month=2026', 'month=2026-13', 'month=2026-1', 'month=9999-01'])
      expect(errorsOf(await get(`/api/v1/statements?${query}`)), query).toEqual(invalid('month'));
    expect(errorsOf(await get('/api/v1/statements.csv?month=9999-01'))).toEqual(invalid('month'));
  });
});
