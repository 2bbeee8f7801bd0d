import { existsSync } from 'node:fs';
import { rename } from 'node:fs/promises';
import { beginning, failedStreamsMax, type EventStore } from '@tollgate/event-store';
import { temporaryFile, temporaryStore } from '@tollgate/event-store/testing';
import { createPaymentIndex } from '@tollgate/view-index';
import {
  checkpointStreamOf,
  liveIn,
  onlyShard,
  paymentKind,
  readViewVersion,
  shardsOf,
  viewSchemaVersions,
  viewVersionStream,
} from '@tollgate/views';
import {
  appendEvents,
  appendPayment,
  plantView,
  storedTexts,
  storedViews,
  writeCheckpoint,
} from '@tollgate/view-index/testing';
import { happening, payoutRequested, requested } from '@tollgate/views/testing';
import { silentLog, systemClock, systemIds } from '@tollgate/service-kit';
import { eventually } from '@tollgate/testing';
import { describe, expect, onTestFinished, test } from 'vitest';
import { checkViews } from './check.ts';
import { readProgress } from './projection.ts';
import { rebuild, type RebuildOptions } from './rebuild.ts';
import { projected, startProjector } from './testing/projected.ts';

const { accepted, approved, declined, held, refunding } = happening;
const tokens = Array.from({ length: 12 }, (_, index) => `p${index}`);
const parts = { clock: systemClock, ids: systemIds, log: silentLog };

const run = (store: EventStore, options: Partial<RebuildOptions> = {}) =>
  rebuild({ ...parts, store, holder: 'spec', signal: new AbortController().signal, ...options });

/** Projected as in a running gateway, by projectors that keep running. */
async function givenProjected() {
  const store = await temporaryStore();
  for (const token of tokens) await appendPayment(store, token, [requested(), accepted]);
  await appendEvents(store, 'payout-o1', [payoutRequested()]);
  const projector = startProjector(store);
  for (const token of tokens.slice(3)) await appendPayment(store, token, [held, approved, refunding]);
  const settle = () => projected(store, projector);
  await settle();
  return { store, settle, projector };
}

async function textsOf(store: EventStore, viewVersion: number): Promise<Record<string, string>> {
  const texts = [...(await storedViews(store, viewVersion))];
  const plain = texts.map(([stream, text]) => [stream.replace(/^view\d*_/, ''), text] as const);
  return Object.fromEntries(plain.sort(([one], [other]) => (one < other ? -1 : 1)));
}

const recordOf = async (store: EventStore) => (await readViewVersion(store)).record;
const liveOf = async (store: EventStore) => liveIn(await recordOf(store));
const live = (number: number) => ({ number, schemas: viewSchemaVersions, state: 'live' });

async function startIndex(store: EventStore, file: string) {
  const index = createPaymentIndex({ file, store, log: silentLog, clock: systemClock });
  await index.start();
  onTestFinished(() => index.stop());
  return index;
}

describe('a rebuild', () => {
  test('gives the same views as before, byte for byte, and makes them live', async () => {
    const { store } = await givenProjected();
    const before = await textsOf(store, 1);
    expect(Object.keys(before)).toHaveLength(tokens.length + 1);
    expect(await run(store)).toMatchObject({ kind: 'switched', viewVersion: 2 });
    expect(await textsOf(store, 2)).toEqual(before);
    expect(await recordOf(store)).toEqual({ schemaVersion: 1, versions: [live(2)], lastNumber: 2 });
    expect(await Array.fromAsync(store.read(viewVersionStream))).toHaveLength(1);
  });

  test('is followed by projectors and by the index, which answers all the time', async () => {
    const { store, settle } = await givenProjected();
    const file = await temporaryFile();
    const index = await startIndex(store, file);
    let asked = 0;
    let isDone = false;
    const asking = (async () => {
      for (; !isDone; asked += 1) {
        expect(index.find('p5')).toMatchObject({ payment: { phase: 'approved' } });
        expect(index.list({ environment: 'sandbox', team: 'shop', perPage: 50 })).toMatchObject({
          views: { length: tokens.length },
        });
        await systemClock.sleep(1);
      }
    })();
    // An error that only a rebuild repairs.
    const { position } = await appendPayment(store, 'p0', [held]);
    await settle();
    await plantView(store, paymentKind, 'p1', { schemaVersion: 3, token: 'p1' });
    await run(store, { batchEventsMax: 3 });
    await eventually(async () => {
      const later = await appendPayment(store, 'p5', [refundReported]);
      expect(await index.waitFor(later.position, 1_000, 'shop')).toBe(true);
      expect((await textsOf(store, 2))['payment-p5']).toContain(later.position);
    });
    await eventually(() => expect(existsSync(`${file}.next`)).toBe(false));
    isDone = true;
    await asking;
    expect(asked).toBeGreaterThan(0);
    expect(await index.waitFor(position, 1_000, 'shop')).toBe(true);
    expect(index.find('p0')).toMatchObject({ payment: { phase: 'authorized' } });
    expect((await textsOf(store, 1))['payment-p5']).not.toContain('refund-planted');
  });

  const refundReported = {
    type: 'RefundDeclineReported',
    data: { serviceRefundToken: 'refund-planted' },
  } as const;

  test('is found by an index that was stopped, whatever file it left', async () => {
    const { store } = await givenProjected();
    const file = await temporaryFile();
    const first = await startIndex(store, file);
    await first.stop();
    await run(store);
    await plantView(store, paymentKind, 'p1', {});
    const { position } = await appendPayment(store, 'p1', [declined]);
    const second = await startIndex(store, file);
    expect(await second.waitFor(position, 5_000, 'shop')).toBe(true);
    expect(second.find('p1')).toMatchObject({ payment: { phase: 'declined' } });
  });

  test('during whose switch the index crashed is taken from the second file', async () => {
    const { store } = await givenProjected();
    await run(store);
    const file = await temporaryFile();
    await (await startIndex(store, file)).stop();
    // As it is between the removal of the first file and the renaming of the second.
    await rename(file, `${file}.next`);
    const froms: string[] = [];
    const subscribe: EventStore['subscribe'] = (options) => {
      froms.push(options.from);
      return store.subscribe(options);
    };
    const index = await startIndex({ ...store, subscribe }, file);
    expect(froms[0]).not.toBe(beginning);
    expect(index.find('p5')).toMatchObject({ payment: { phase: 'approved' } });
    expect(existsSync(`${file}.next`)).toBe(false);
  });

  test('that is killed at any point can be repeated, and loses nothing', async () => {
    const { store, projector } = await givenProjected();
    await projector.stop();
    const before = await textsOf(store, 1);
    for (let killedAt = 0; killedAt < 40; killedAt += 3) {
      const killing = new AbortController();
      let appends = -1;
      const killed: EventStore = {
        ...store,
        append: async (...args) => {
          appends += 1;
          if (appends < killedAt) return store.append(...args);
          // Every second time it dies after the append.
          if (killedAt % 2 === 1) await store.append(...args);
          killing.abort();
          throw new Error('killed');
        },
      };
      // A dead process releases no lease; it expires.
      const options = { signal: killing.signal, isGone: () => true, batchEventsMax: 4 };
      await run(killed, options).catch(() => undefined);
      expect(await textsOf(store, (await liveOf(store))!), `${killedAt}`).toEqual(before);
    }
    const last = (await liveOf(store))!;
    await run(store, { isGone: () => true });
    expect(await liveOf(store)).toBe(last + 1);
    expect(await textsOf(store, last + 1)).toEqual(before);
  });

  test('resumes where a stopped one ended', async () => {
    const { store } = await givenProjected();
    const stopping = new AbortController();
    const stopped: EventStore = {
      ...store,
      append: async (stream, ...rest) => {
        const answer = await store.append(stream, ...rest);
        if (stream === checkpointStreamOf(2, onlyShard)) stopping.abort();
        return answer;
      },
    };
    const options = { batchEventsMax: 4, cachedViewsMax: 2 };
    expect(await run(stopped, { ...options, signal: stopping.signal })).toEqual({ kind: 'stopped' });
    const { position } = await readProgress(store, 2);
    const froms: string[] = [];
    const subscribe: EventStore['subscribe'] = (subscription) => {
      froms.push(subscription.from);
      return store.subscribe(subscription);
    };
    expect(await run({ ...store, subscribe }, options)).toMatchObject({ kind: 'switched', viewVersion: 2 });
    expect(froms).toEqual([position]);
    expect(await textsOf(store, 2)).toEqual(await textsOf(store, 1));
  });

  test('that is started twice at once is done once', async () => {
    const { store } = await givenProjected();
    const outcomes = await Promise.all([run(store, { holder: 'one' }), run(store, { holder: 'two' })]);
    expect(outcomes.map(({ kind }) => kind).sort()).toEqual(['already-switched', 'switched']);
    expect(await liveOf(store)).toBe(2);
  });

  test('does not remove a view that can no longer be folded', async () => {
    const { store } = await givenProjected();
    const read: EventStore['read'] = async function* (stream, options) {
      for await (const event of store.read(stream, options)) yield forgotten(event);
    };
    const subscribe: EventStore['subscribe'] = async function* (options) {
      for await (const item of store.subscribe(options)) yield item.kind === 'event' ? forgotten(item) : item;
    };
    const forgotten = <Event extends { stream: string; type: string }>(event: Event): Event =>
      event.stream === 'payment-p1' ? { ...event, type: 'PaymentForgotten' } : event;
    expect(await run({ ...store, read, subscribe })).toMatchObject({
      kind: 'refused',
      failedStreams: [{ stream: 'payment-p1' }],
    });
    expect(await liveOf(store)).toBe(1);
    // By code that can read it again: the incomplete version is left alone, and the next one is complete.
    expect(await run(store)).toMatchObject({ kind: 'switched', viewVersion: 3 });
    expect(await textsOf(store, 3)).toEqual(await textsOf(store, 1));
  });

  // The projector retried forever, and so did the rebuild, which kept its lease and its announced view version.
  test.each([
    ['that nobody knows', 0],
    ['that the projectors of shards have as failed already', 2],
  ])('ends where too many streams fail %s', async (_, count) => {
    const store = await temporaryStore();
    const names = Array.from({ length: failedStreamsMax + 1 }, (_each, index) => `payment-p${index}`);
    const forgotten = [{ type: 'PaymentForgotten', data: {} }];
    await Promise.all(names.map((name) => appendEvents(store, name, forgotten)));
    for (const shard of shardsOf(count)) await projected(store, startProjector(store, { shard }));
    const outcome = await run(store);
    const failed = outcome.kind === 'refused' ? outcome.failedStreams.map(({ stream }) => stream) : [];
    expect(failed.sort()).toEqual([...names].sort());
    expect(await recordOf(store)).toEqual({ schemaVersion: 1, versions: [live(1)], lastNumber: 2 });
    // The lease is free.
    expect(await run(store, { holder: 'next' })).toMatchObject({ kind: 'refused' });
  });
});

describe('a check', () => {
  const check = (store: EventStore) => checkViews({ store, signal: new AbortController().signal });

  test('finds nothing if the views match their events', async () => {
    const { store } = await givenProjected();
    const expected = { views: tokens.length + 1, differing: [], failed: [], toRemove: [] };
    expect(await check(store)).toEqual(expected);
    await run(store);
    await eventually(async () => expect(await check(store)).toEqual({ ...expected, toRemove: [1] }));
  });

  test('names views that differ, that are missing, and that lack events', async () => {
    const { store, projector } = await givenProjected();
    await projector.stop();
    const other = await storedTexts(store, ['view_payment-p5']);
    await plantView(store, paymentKind, 'p1', { other: 'thing' });
    await plantView(store, paymentKind, 'p2', JSON.parse([...other.values()][0]!));
    await appendPayment(store, 'p99', [requested()]);
    await appendPayment(store, 'p0', [held]);
    const { position } = await appendPayment(store, 'p98', [requested()]);
    await writeCheckpoint(store, position);
    const { differing } = await check(store);
    expect(differing.sort()).toEqual(
      [
        'view_payment-p0',
        'view_payment-p1',
        'view_payment-p2',
        'view_payment-p98',
        'view_payment-p99',
      ].sort(),
    );
  });
});
