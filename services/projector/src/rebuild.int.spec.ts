import type { EventStore } from '@tollgate/event-store';
import { temporaryFile, temporaryStore } from '@tollgate/event-store/testing';
import { silentLog, systemClock, systemIds } from '@tollgate/service-kit';
import { createPaymentIndex, openIndexForReading } from '@tollgate/lists';
import {
  appendEvents,
  appendPayment,
  plantView,
  storedTexts,
  storedViews,
  writeCheckpoint,
  happening,
  payoutRequested,
  requested,
} from '@tollgate/views/testing';
import { paymentKind, viewSchemaVersion } from '@tollgate/views';
import { DatabaseSync } from 'node:sqlite';
import { describe, expect, onTestFinished, test } from 'vitest';
import { compareReadModels, type ComparedIndex } from './compare.ts';
import { rebuild, type RebuildOptions } from './rebuild.ts';
import { projected, startProjector } from './testing/projected.ts';

const { accepted, approved, held, refunding } = happening;
const tokens = Array.from({ length: 12 }, (_, index) => `p${index}`);
const parts = { clock: systemClock, ids: systemIds, log: silentLog };

const run = (store: EventStore, options: Partial<RebuildOptions> = {}) =>
  rebuild({ ...parts, store, signal: new AbortController().signal, ...options });

const compare = (store: EventStore, index?: ComparedIndex) =>
  compareReadModels({ store, signal: new AbortController().signal, ...(index && { index }) });

async function givenProjected() {
  const store = await temporaryStore();
  for (const token of tokens) await appendPayment(store, token, [requested(), accepted]);
  await appendEvents(store, 'payout-o1', [payoutRequested()]);
  const projector = startProjector(store);
  for (const token of tokens.slice(3)) await appendPayment(store, token, [held, approved, refunding]);
  await projected(store, projector);
  return { store, projector };
}

const textsOf = async (store: EventStore) => Object.fromEntries(await storedViews(store));
const allAreRight = {
  views: tokens.length + 1,
  ofOtherRelease: 0,
  differing: [],
  differingInIndex: [],
  failed: [],
};

describe('a rebuild', () => {
  test('writes the views that differ, and no others, while the projector continues', async () => {
    const { store, projector } = await givenProjected();
    const before = await textsOf(store);
    await plantView(store, paymentKind, 'p1', { schemaVersion: 3, token: 'p1' });
    const view = JSON.parse(before['view_payment-p5'] ?? '') as { payment: object };
    await plantView(store, paymentKind, 'p5', {
      ...view,
      payment: { ...view.payment, fingerprint: 'other' },
    });
    expect(await run(store)).toEqual({ views: 13, failedStreams: [] });
    expect(await textsOf(store)).toEqual(before);
    await appendPayment(store, 'p0', [held]);
    await projected(store, projector);
    expect(await compare(store)).toEqual(allAreRight);
  });

  test('names a stream that cannot be projected, and leaves its view', async () => {
    const { store } = await givenProjected();
    const before = await textsOf(store);
    const read: EventStore['read'] = async function* (stream, options) {
      for await (const event of store.read(stream, options))
        yield stream === 'payment-p1' ? { ...event, type: 'PaymentForgotten' } : event;
    };
    expect(await run({ ...store, read })).toMatchObject({ failedStreams: ['payment-p1'] });
    expect(await textsOf(store)).toEqual(before);
  });

  test('works on one batch of streams at most after it is stopped', async () => {
    const store = await temporaryStore();
    for (let count = 0; count < 200; count += 1) await appendPayment(store, `p${count}`, [requested()]);
    const stopping = new AbortController();
    const rebuilt = new Set<string>();
    const read: EventStore['read'] = (stream, options) => {
      stopping.abort(new Error('stopped'));
      rebuilt.add(stream);
      return store.read(stream, options);
    };
    await expect(run({ ...store, read }, { signal: stopping.signal })).rejects.toThrow('stopped');
    expect([...rebuilt].filter((stream) => stream.startsWith('payment-'))).toHaveLength(128);
  });
});

describe('a comparison', () => {
  test('finds nothing if views and index match their events', async () => {
    const { store } = await givenProjected();
    const index = await givenIndex(store);
    expect(await compare(store, index)).toEqual(allAreRight);
  });

  test('names views that differ, that are missing, and that lack events', async () => {
    const { store, projector } = await givenProjected();
    await projector.stop();
    const other = await storedTexts(store, ['view_payment-p5']);
    await plantView(store, paymentKind, 'p1', { other: 'thing' });
    // After a downgrade, views of the later release remain until their streams change.
    await plantView(store, paymentKind, 'p3', { schemaVersion: viewSchemaVersion + 1 });
    await plantView(store, paymentKind, 'p4', { schemaVersion: viewSchemaVersion - 1 });
    await plantView(store, paymentKind, 'p2', JSON.parse([...other.values()][0]!));
    await appendPayment(store, 'p99', [requested()]);
    await appendPayment(store, 'p0', [held]);
    const { position } = await appendPayment(store, 'p98', [requested()]);
    await writeCheckpoint(store, position);
    // Views beyond the checkpoint are not missing.
    await appendPayment(store, 'p97', [requested()]);
    const { differing, ofOtherRelease } = await compare(store);
    expect(ofOtherRelease).toBe(2);
    expect(differing.toSorted()).toEqual(
      ['p0', 'p1', 'p2', 'p98', 'p99'].map((token) => `view_payment-${token}`),
    );
  });

  test('names rows of the index that differ, that are missing, and that lack events', async () => {
    const { store } = await givenProjected();
    const index = await givenIndex(store, (database) => {
      const row = database.prepare("SELECT view FROM payments WHERE token = 'p5'").get();
      database.prepare("UPDATE payments SET view = ? WHERE token = 'p6'").run(String(row?.['view']));
      database.exec("DELETE FROM payments WHERE token = 'p7'");
      database.exec("UPDATE payments SET view = json_set(view, '$.revision', 1) WHERE token = 'p8'");
    });
    const { differing, differingInIndex } = await compare(store, index);
    expect(differing).toEqual([]);
    expect(differingInIndex.toSorted()).toEqual(['p6', 'p7', 'p8'].map((token) => `payment-${token}`));
  });
});

async function givenIndex(store: EventStore, change: (database: DatabaseSync) => void = () => {}) {
  const file = await temporaryFile();
  const index = createPaymentIndex({ ...parts, file, store });
  await index.start();
  await index.stop();
  const database = new DatabaseSync(file);
  change(database);
  database.close();
  const opened = (await openIndexForReading(file, { store }))!;
  onTestFinished(() => opened.close());
  return opened;
}
