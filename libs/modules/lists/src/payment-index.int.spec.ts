import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { MessageChannel } from 'node:worker_threads';
import { StoreUnavailable, type EventStore, type Position } from '@tollgate/event-store';
import { temporaryFile, temporaryStore } from '@tollgate/event-store/testing';
import { inquiryDelays, inquiryShardOf, type PaymentEvent } from '@tollgate/core';
import { silentLog, systemClock, systemIds, type Log } from '@tollgate/service-kit';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { disputeKind, payoutKind } from '@tollgate/views';
import { createPaymentIndex, type PaymentIndex, type PaymentIndexOptions } from './payment-index.ts';
import { fillIndex } from './filled-index.ts';
import {
  appendPayment,
  projectEvents,
  projectPayment,
  disputeOpened,
  payoutHappening,
  payoutRequested,
  happening,
  requested,
} from '@tollgate/views/testing';

const { accepted, approved } = happening;
const soon = { timeout: 5_000, interval: 5 };

/** As in a gateway of one process: one thread fills the file, another one reads it. */
function createFilled(options: PaymentIndexOptions): PaymentIndex {
  const folder = mkdtempSync(join(tmpdir(), 'filled-index-'));
  const file = options.file === ':memory:' ? join(folder, 'index.db') : options.file;
  const { port1: filler, port2: reader } = new MessageChannel();
  const index = createPaymentIndex({ ...options, file, filler });
  let filling: ReturnType<typeof fillIndex> | undefined;
  return {
    ...index,
    start: async () => {
      filling = fillIndex({ delays: inquiryDelays, ...options, file, reader, batchEventsMax: 20 });
      await index.start();
    },
    stop: async () => {
      await index.stop();
      await filling?.stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

describe.each([
  ['that fills itself', createPaymentIndex],
  ['that another thread fills', createFilled],
])('an index %s', (_name, create) => {
  async function startIndex(store: EventStore, file: string, log: Log = silentLog): Promise<PaymentIndex> {
    const index = create({ file, store, log, clock: systemClock, ids: systemIds });
    onTestFinished(() => index.stop());
    await index.start();
    return index;
  }

  function warnings(): { log: Log; messages: string[] } {
    const messages: string[] = [];
    return { messages, log: { ...silentLog, warn: (_fields, message) => messages.push(message) } };
  }

  const tokensIn = (index: PaymentIndex, team = 'shop') => {
    const list = index.listPayments({ owners: [{ environment: 'sandbox', team }], perPage: 500 });
    return list.kind === 'page' ? list.views.map(({ token }) => token).sort() : [];
  };

  test('a started index has every earlier event, and follows later ones', async () => {
    const store = await temporaryStore();
    const before = await projectPayment(store, 'p1', [requested(), accepted]);
    const index = await startIndex(store, ':memory:');
    expect(index.find('p1')).toEqual(before);

    const after = await projectPayment(store, 'p1', [approved]);
    await vi.waitFor(() => expect(index.find('p1')).toEqual(after), soon);
  });

  test('once a position is reached, all events up to it are applied', async () => {
    const store = await temporaryStore();
    const index = await startIndex(store, ':memory:');
    for (let number = 0; number < 30; number += 1) {
      const token = `p${number}`;
      const { position } = await projectPayment(store, token, [requested(), accepted]);
      expect(await index.waitFor(position, 5_000)).toBe(true);
      expect(index.find(token)?.revision).toBe(1);
    }
  });

  test('due times are moved', async () => {
    const store = await temporaryStore();
    await projectPayment(store, 'p1', [requested()]);
    const index = await startIndex(store, ':memory:');
    const shards = [inquiryShardOf('p1')];
    const [queue] = index.dueQueues(shards);
    const [item] = index.dueItems(queue!, { limit: 1 });
    await index.postpone([{ item: item!, dueAt: 8_000_000_000_000_000 }]);
    expect(index.dueQueues(shards)).toEqual([]);
  });

  test('changes of due times during the stop are refused', async () => {
    const store = await temporaryStore();
    const index = await startIndex(store, ':memory:');
    await index.stop();
    const item = { kind: 'payment', token: 'p1', revision: 0 } as const;
    await expect(index.postpone([{ item, dueAt: 1 }])).rejects.toMatchObject({ retryable: true });
  });

  test('a waiting call ends when the index stops', async () => {
    const index = await startIndex(await temporaryStore(), ':memory:');
    const waiting = index.waitFor('9'.repeat(16) as Position, 60_000);
    await index.stop();
    expect(await waiting).toBe(false);
  });

  test('a new index reports its progress, and answers no list before it is complete', async () => {
    const store = await temporaryStore();
    const tokens = Array.from({ length: 120 }, (_, number) => `p${number + 1_000}`);
    for (const token of tokens) await appendPayment(store, token, [requested()]);
    const head = await store.head();
    const hold = Promise.withResolvers<undefined>();
    onTestFinished(() => hold.resolve(undefined));
    let events = 0;
    const slow: EventStore = {
      ...store,
      async *subscribe(options) {
        for await (const item of store.subscribe(options)) {
          if (events === 110) await hold.promise;
          events += 1;
          yield item;
        }
      },
    };
    const index = create({
      file: ':memory:',
      store: slow,
      log: silentLog,
      clock: systemClock,
      ids: systemIds,
    });
    onTestFinished(() => index.stop());
    expect(index.building()).toMatchObject({ events: 0 });
    const starting = index.start();
    await vi.waitFor(() => expect(index.building()).toMatchObject({ head, events: 100 }), soon);
    expect(index.building()!.followed < head).toBe(true);
    expect(() => tokensIn(index)).toThrow('The read model is being rebuilt.');
    expect(() => index.dueQueues([0])).toThrow('The read model is being rebuilt.');
    expect(index.find('p1000')).toBeDefined();
    hold.resolve(undefined);
    await starting;
    expect(index.building()).toBeUndefined();
    expect(tokensIn(index)).toEqual(tokens);
  });

  // An event that no release can read must not keep the events of all teams out of the index.
  test('a stream with an event that cannot be applied is quarantined, and applied by code that can', async () => {
    const store = await temporaryStore();
    const file = await temporaryFile();
    const poison = { type: 'PaymentForgotten', data: {} } as unknown as PaymentEvent;
    await appendPayment(store, 'p1', [requested(), accepted, poison, approved]);
    await appendPayment(store, 'p2', [requested()]);
    const error = vi.fn<Log['error']>();
    const index = await startIndex(store, file, { ...silentLog, error });
    expect(index.find('p1')?.revision).toBe(1);
    expect(index.quarantined()).toEqual(['payment-p1']);
    expect(error.mock.calls).toMatchObject([[{ stream: 'payment-p1', revision: 2 }, expect.any(String)]]);
    const { position } = await appendPayment(store, 'p2', [accepted]);
    expect(await index.waitFor(position, 5_000)).toBe(true);
    expect(index.find('p2')?.revision).toBe(1);
    await index.stop();
    const read: EventStore['read'] = async function* (stream, options) {
      for await (const event of store.read(stream, options))
        yield event.type === 'PaymentForgotten' ? { ...event, type: 'PaymentPending' } : event;
    };
    const later = await startIndex({ ...store, read }, file);
    expect([later.find('p1')?.revision, later.quarantined()]).toEqual([3, []]);
  });

  test('an index ahead of its store, which was restored from a backup, is rebuilt', async () => {
    const file = await temporaryFile();
    const [events, backup] = [await temporaryFile(), await temporaryFile()];
    const store = await temporaryStore({ file: events });
    await projectPayment(store, 'p1', [requested()]);
    const database = new DatabaseSync(events);
    database.exec(`VACUUM INTO '${backup}'`);
    database.close();
    const index = await startIndex(store, file);
    await projectPayment(store, 'p3', [requested()]);
    await vi.waitFor(() => expect(tokensIn(index)).toEqual(['p1', 'p3']), soon);
    await index.stop();
    const restored = await temporaryStore({ file: backup });
    await projectPayment(restored, 'p2', [requested()]);
    const { log, messages } = warnings();
    expect(tokensIn(await startIndex(restored, file, log))).toEqual(['p1', 'p2']);
    expect(messages).toEqual([expect.stringContaining('belongs to another event store')]);
  });

  test.each<[string, (index: PaymentIndex) => unknown]>([
    ['one', (index) => index.find('p1')],
    [
      'a list',
      (index) => index.listPayments({ owners: [{ environment: 'sandbox', team: 'shop' }], perPage: 20 }),
    ],
  ])('a row that cannot be read is found by a read of %s, and the file is rebuilt', async (_, read) => {
    const store = await temporaryStore();
    const file = await temporaryFile();
    const view = await projectPayment(store, 'p1', [requested(), accepted]);
    const index = await startIndex(store, file);
    const database = new DatabaseSync(file);
    onTestFinished(() => database.close());
    database.exec("UPDATE payments SET view = 'no JSON'");
    expect(() => read(index)).toThrow(
      expect.objectContaining({ code: 'index_rebuilding', retryable: true }) as Error,
    );
    // Lists wait until everything is there again, which is known a moment later.
    await vi.waitFor(() => expect(tokensIn(index)).toEqual(['p1']), soon);
    expect(index.find('p1')).toEqual(view);
    const after = await projectPayment(store, 'p1', [approved]);
    await vi.waitFor(() => expect(index.find('p1')).toEqual(after), soon);
  });

  test('while the store is unavailable, the index answers with its current content', async () => {
    const store = await temporaryStore();
    await projectPayment(store, 'p1', [requested()]);
    const lost = new AbortController();
    const subscriptions = vi.fn();
    let isDown = false;
    const breaking: EventStore = {
      ...store,
      async *subscribe(options) {
        subscriptions();
        if (isDown) throw new StoreUnavailable('store_down', 'The store is down.');
        yield* store.subscribe({ ...options, signal: AbortSignal.any([options.signal, lost.signal]) });
      },
    };
    const index = await startIndex(breaking, ':memory:');
    isDown = true;
    lost.abort();
    await vi.waitFor(() => expect(subscriptions.mock.calls.length).toBeGreaterThan(1), soon);
    expect(tokensIn(index)).toEqual(['p1']);
  });

  test('payouts and disputes are followed like payments', async () => {
    const store = await temporaryStore();
    const before = await projectEvents(store, payoutKind, 'po_1', [payoutRequested()]);
    const index = await startIndex(store, ':memory:');
    expect(index.findPayout('po_1')).toEqual(before);
    expect(index.workload().open).toContainEqual({ kind: 'payout', inquiryNeed: 'unresolved', count: 1 });

    await projectEvents(store, payoutKind, 'po_1', [payoutHappening.reviews]);
    const dispute = await projectEvents(store, disputeKind, 'dsp_1', [disputeOpened({ team: 'shop' })]);
    expect(await index.waitFor(dispute.position, 5_000)).toBe(true);
    const shop = { owners: [{ environment: 'sandbox', team: 'shop' }], perPage: 20 } as const;
    expect(index.listDisputes(shop)).toMatchObject({ views: [dispute] });
    expect(index.listPayouts({ ...shop, needsReview: true })).toMatchObject({ views: [{ token: 'po_1' }] });
    expect(index.listOperations(shop)).toMatchObject({ views: [{ token: 'po_1' }] });
    expect(index.listReviews({ ...shop, kinds: ['payout'] })).toMatchObject({
      views: [{ kind: 'payout', place: 0 }],
    });
  });
});
