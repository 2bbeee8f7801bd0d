import type { EventStore } from '@tollgate/event-store';
import { temporaryFile, temporaryStore } from '@tollgate/event-store/testing';
import { silentLog, systemClock, systemIds } from '@tollgate/service-kit';
import {
  foldStream,
  paymentKind,
  payoutKind,
  streamOf,
  type ViewKind,
  readCurrentPositions,
} from '@tollgate/views';
import {
  anyHistory,
  anyPayoutHistory,
  happening,
  payoutHappening,
  payoutRequested,
  planted,
  requested,
  type AnyEvent,
  appendEvents,
  projectEvents,
} from '@tollgate/views/testing';
import fc from 'fast-check';
import { randomUUID } from 'node:crypto';
import { eventually, propertyRuns } from '@tollgate/testing';
import { describe, expect, onTestFinished, test } from 'vitest';
import { createPaymentIndex, type PaymentIndex } from './payment-index.ts';

const { accepted, approved, refunding, refundApproved, refundedElsewhere } = happening;
const shop = { environment: 'sandbox', teams: ['shop'], currency: 'EUR', payouts: [] } as const;
const account = `account-${planted}`;
/** The provider shows 100 of it, and a person accepts that. */
const shown = {
  status: 'approved',
  amount: 100,
  currency: 'EUR',
  refundedAmount: null,
  authorizedAmount: null,
  orderNumber: null,
};
const isOf100: AnyEvent[] = [
  {
    type: 'ReviewOpened',
    data: {
      code: 'discrepancy',
      evidence: { observedAmount: 100 },
      discrepancy: {
        kind: 'terms_disagree',
        operation: 'payout',
        serviceToken: payoutHappening.accepted.data.serviceToken,
        ours: { ...shown, amount: 300 },
        theirs: shown,
      },
    },
  },
  {
    type: 'ReviewResolved',
    data: { code: 'discrepancy', number: 1, resolution: 'accept_theirs', reason: 'their list' },
  },
];
const taken = [requested(), accepted, approved];

async function startIndex(store: EventStore, file = ':memory:'): Promise<PaymentIndex> {
  const index = createPaymentIndex({ file, store, log: silentLog, clock: systemClock, ids: systemIds });
  onTestFinished(() => index.stop());
  await index.start();
  return index;
}

const append = (store: EventStore, kind: ViewKind, token: string, events: readonly AnyEvent[]) =>
  appendEvents(store, streamOf(kind, token), events);

const positionsOf = async (
  index: PaymentIndex,
  query: Parameters<PaymentIndex['currentPositions']>[0] = shop,
) => Object.fromEntries((await index.currentPositions(query)).byAccount);

describe('a position', () => {
  test('is what was taken, less what went back and was paid out, of one team, currency and environment', async () => {
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
    const index = await startIndex(store);
    const main = (await positionsOf(index))[account]!;
    const elsewhere = BigInt((refundedElsewhere.data as { amount: number }).amount);
    expect(main).toEqual({ available: 1_500n - 500n - elsewhere + 1_500n - 500n - 300n, hold: 800n });
    const both = await positionsOf(index, { ...shop, teams: ['shop', 'games'] });
    expect(both[account]).toEqual({ ...main, available: main.available + 1_500n });
    expect(await positionsOf(index, { ...shop, teams: ['nobody'] })).toEqual({});
  });

  test('has what the read model has not: no view of it need be there', async () => {
    const store = await temporaryStore();
    await projectEvents(store, paymentKind, 'p1', taken);
    const index = await startIndex(store);
    await append(store, paymentKind, 'p1', [refunding]);
    await append(store, paymentKind, 'p2', taken);
    await append(store, paymentKind, 'p3', [requested({ team: 'games' }), accepted, approved]);
    await append(store, payoutKind, 'po_1', [payoutRequested()]);
    expect(await positionsOf(index)).toEqual({
      [account]: { available: 1_500n - 500n + 1_500n - 300n, hold: 800n },
    });
    await append(store, payoutKind, 'po_1', [payoutHappening.refused, payoutHappening.failed]);
    expect(await positionsOf(index)).toEqual({ [account]: { available: 2_500n, hold: 500n } });
  });

  test('has what a payout is of by the word of a person', async () => {
    const store = await temporaryStore();
    const sent = [payoutRequested(), payoutHappening.accepted];
    await projectEvents(store, paymentKind, 'p1', taken);
    await projectEvents(store, payoutKind, 'po_1', sent);
    await projectEvents(store, payoutKind, 'po_2', [...sent, ...isOf100]);
    const index = await startIndex(store);
    expect(await positionsOf(index)).toEqual({
      [account]: { available: 1_500n - 300n - 100n, hold: 400n },
    });
    await append(store, payoutKind, 'po_1', isOf100);
    expect(await positionsOf(index)).toEqual({
      [account]: { available: 1_500n - 100n - 100n, hold: 200n },
    });
  });

  test('tells whether a payout is recorded', async () => {
    const store = await temporaryStore();
    await projectEvents(store, payoutKind, 'po_1', [payoutRequested()]);
    const index = await startIndex(store);
    await append(store, payoutKind, 'po_2', [payoutRequested()]);
    const { recorded } = await index.currentPositions({ ...shop, payouts: ['po_1', 'po_2', 'po_3'] });
    expect([...recorded]).toEqual(['po_1', 'po_2']);
  });

  // It was asked when the decision was taken: a payout that the index had taken in between counted nowhere, neither as
  // reserved nor in the sums.
  test('tells of the payouts that are in the sums, and not of what comes later', async () => {
    const store = await temporaryStore();
    const index = await startIndex(store);
    const { byAccount, recorded } = await index.currentPositions({ ...shop, payouts: ['po_1'] });
    await projectEvents(store, payoutKind, 'po_1', [payoutRequested()]);
    await eventually(() => expect(index.findPayout('po_1')).toBeDefined());
    expect([byAccount.size, recorded.size]).toEqual([0, 0]);
  });

  test('is not guessed while the index is not complete, nor where it is far behind', async () => {
    const store = await temporaryStore();
    await projectEvents(store, paymentKind, 'p1', taken);
    const index = await startIndex(store);
    const behind = {
      ...index,
      waitForNow: async () => false,
      sums: () => [],
      atOnce: <Answer>(read: () => Answer) => read(),
    };
    const refused = { code: 'index_rebuilding', retryable: true };
    await expect(readCurrentPositions({ ...behind, find: () => undefined }, shop)).rejects.toMatchObject(
      refused,
    );
    const other = createPaymentIndex({
      file: ':memory:',
      store,
      log: silentLog,
      clock: systemClock,
      ids: systemIds,
    });
    onTestFinished(() => other.stop());
    await expect(other.currentPositions(shop)).rejects.toMatchObject(refused);
  });

  test('of a team is not guessed where a stream that may be its own cannot be read', async () => {
    const store = await temporaryStore();
    await projectEvents(store, paymentKind, 'p1', taken);
    const index = await startIndex(store);
    await store.append(
      'payout-po_1',
      [{ id: randomUUID(), type: 'Any', data: {}, metadata: {} }],
      'no-stream',
    );
    await expect(index.currentPositions(shop)).rejects.toMatchObject({
      code: 'position_unreadable',
      retryable: true,
    });
  });
});

describe('where a stream is quarantined', () => {
  const poison = { type: 'PaymentForgotten', data: {} } as unknown as AnyEvent;
  const games = { ...shop, teams: ['games'] };
  const refused = { code: 'position_unreadable', retryable: true };

  // 500 of the 1,500 went back, and the row shows 1,500: a payout of 1,500 would have paid out 500 twice.
  test('the position of its team is not guessed, also after a restart; that of another team is known', async () => {
    const [store, file] = [await temporaryStore(), await temporaryFile()];
    await projectEvents(store, paymentKind, 'p2', [requested({ team: 'games' }), accepted, approved]);
    await append(store, paymentKind, 'p1', [...taken, poison, refunding, refundApproved]);
    const index = await startIndex(store, file);
    await expect(index.currentPositions(shop)).rejects.toMatchObject(refused);
    expect(await positionsOf(index, games)).toEqual({ [account]: { available: 1_500n, hold: 0n } });
    await index.stop();
    await expect((await startIndex(store, file)).currentPositions(shop)).rejects.toMatchObject(refused);
  });

  test('no position is guessed where the stream may be of any team', async () => {
    const store = await temporaryStore();
    await projectEvents(store, paymentKind, 'p2', [requested({ team: 'games' }), accepted, approved]);
    await append(store, paymentKind, 'of-nobody', [poison]);
    const index = await startIndex(store);
    await expect(index.currentPositions(games)).rejects.toMatchObject(refused);
  });
});

test('whatever of a history the read model has, the position is that of the whole', async () => {
  const histories = fc.tuple(anyHistory, anyHistory, anyPayoutHistory);
  await fc.assert(
    fc.asyncProperty(histories, fc.tuple(fc.nat(30), fc.nat(30), fc.nat(30)), async (given, shown) => {
      const store = await temporaryStore();
      const kinds: ViewKind[] = [paymentKind, paymentKind, payoutKind];
      await projectEvents(store, paymentKind, 'p0', taken);
      for (const [index, events] of given.entries()) {
        const count = shown[index]! % (events.length + 1);
        if (count > 0) await projectEvents(store, kinds[index]!, `t${index}`, events.slice(0, count));
      }
      const index = await startIndex(store);
      for (const [number, events] of given.entries()) {
        const rest = events.slice(shown[number]! % (events.length + 1));
        if (rest.length > 0) await append(store, kinds[number]!, `t${number}`, rest);
      }
      let expected = 1_500n;
      for (const [number, kind] of kinds.entries()) {
        const view = await foldStream(store, kind, `t${number}`);
        expected += (view && kind.positionOf?.(view)?.available) ?? 0n;
      }
      await eventually(async () =>
        expect((await positionsOf(index))[account]?.available ?? 0n).toBe(expected),
      );
      await index.stop();
    }),
    { numRuns: propertyRuns(15) },
  );
});
