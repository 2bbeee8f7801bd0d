import { existsSync } from 'node:fs';
import type { EventStore } from '@tollgate/event-store';
import { temporaryFile, temporaryStore } from '@tollgate/event-store/testing';
import { createPaymentIndex } from '@tollgate/view-index';
import {
  viewVersionStream,
  paymentKind,
  readViewVersion,
  shardsOf,
  totalsPrefixOf,
  viewStreamPrefixesOf,
} from '@tollgate/views';
import {
  appendEvents,
  appendPayment,
  plantView,
  storedTexts,
  writeCheckpoint,
} from '@tollgate/view-index/testing';
import { disputeOpened, happening, payoutRequested, requested } from '@tollgate/views/testing';
import { silentLog, systemClock, systemIds } from '@tollgate/service-kit';
import { eventually } from '@tollgate/testing';
import { describe, expect, onTestFinished, test } from 'vitest';
import { checkViews } from './check.ts';
import { failedStreamsMax } from './projection.ts';
import { createProjector, createTotalsProjector } from './projector.ts';
import { rebuild, type RebuildOptions } from './rebuild.ts';
import { projected, startProjector } from './testing/projected.ts';

const { accepted, approved, declined, held, refunding } = happening;
const tokens = Array.from({ length: 12 }, (_, index) => `p${index}`);
const parts = { clock: systemClock, ids: systemIds, log: silentLog };

const run = (store: EventStore, options: Partial<RebuildOptions> = {}) =>
  rebuild({ ...parts, store, holder: 'spec', signal: new AbortController().signal, ...options });

async function startTotals(store: EventStore) {
  const totals = createTotalsProjector({ ...parts, store });
  await totals.start();
  onTestFinished(() => totals.stop());
  return totals;
}

/** Projected as while the gateway runs, by projectors that go on. */
async function givenProjected() {
  const store = await temporaryStore();
  for (const token of tokens) await appendPayment(store, token, [requested(), accepted]);
  await appendEvents(store, 'payout-o1', [payoutRequested()]);
  const projectors = [await startProjector(store), await startTotals(store)];
  for (const token of tokens.slice(3)) await appendPayment(store, token, [held, approved, refunding]);
  const settle = async () => {
    for (const projector of projectors) await projected(store, projector);
  };
  await settle();
  return { store, settle, projectors };
}

async function textsOf(store: EventStore, viewVersion: number): Promise<Record<string, string>> {
  const prefixes = [...viewStreamPrefixesOf(viewVersion), totalsPrefixOf(viewVersion)];
  const texts = [...(await storedTexts(store, prefixes))];
  const plain = texts.map(([stream, text]) => [stream.replace(/^view\d*_/, ''), text] as const);
  return Object.fromEntries(plain.sort(([one], [other]) => (one < other ? -1 : 1)));
}

const liveOf = async (store: EventStore) => (await readViewVersion(store)).record.live;

async function startIndex(store: EventStore, file: string) {
  const index = createPaymentIndex({ file, store, log: silentLog, clock: systemClock });
  await index.start();
  onTestFinished(() => index.stop());
  return index;
}

describe('a rebuild', () => {
  test('gives the documents and totals that are there already, byte for byte, and makes them the live ones', async () => {
    const { store } = await givenProjected();
    const before = await textsOf(store, 1);
    expect(Object.keys(before)).toHaveLength(tokens.length + 2);
    expect(await run(store)).toMatchObject({ kind: 'switched', viewVersion: 2 });
    expect(await textsOf(store, 2)).toEqual(before);
    expect((await readViewVersion(store)).record).toEqual({ schemaVersion: 1, live: 2 });
    expect(await Array.fromAsync(store.read(viewVersionStream))).toHaveLength(1);
  });

  test('is followed by those who project and by the index, which answers all the time', async () => {
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
    // Something is wrong that only a rebuild sets right.
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
    expect((await textsOf(store, 1))['payment-p5']).not.toContain('refund-told');
  });

  const refundReported = {
    type: 'RefundDeclineReported',
    data: { serviceRefundToken: 'refund-told' },
  } as const;

  test('is found by an index that was away, whatever file it left', async () => {
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

  test('that is killed at any point is begun again, and loses nothing', async () => {
    const { store, projectors } = await givenProjected();
    for (const projector of projectors) await projector.stop();
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
      // A dead process releases no lease; the next one sees that it is gone.
      const options = { signal: killing.signal, isGone: () => true, batchEventsMax: 4 };
      await run(killed, options).catch(() => undefined);
      const live = await liveOf(store);
      expect(await textsOf(store, live), `${killedAt}`).toEqual(before);
    }
    const live = await liveOf(store);
    await run(store, { isGone: () => true });
    expect(await liveOf(store)).toBe(live + 1);
    expect(await textsOf(store, live + 1)).toEqual(before);
  });

  test.each([
    ['views', createProjector],
    ['totals', createTotalsProjector],
  ])('goes on from where %s alone have come', async (name, createAhead) => {
    const { store, settle } = await givenProjected();
    await appendEvents(store, 'dispute-d1', [disputeOpened()]);
    const ahead = createAhead({ ...parts, store, viewVersion: 2, batchEventsMax: 5 });
    await ahead.start();
    await projected(store, ahead);
    await ahead.stop();
    for (const token of tokens.slice(0, 3)) await appendPayment(store, token, [held, approved, refunding]);
    await settle();
    const checkpoints: Record<string, string[]> = {};
    const append: EventStore['append'] = (stream, events, expected) => {
      const { position } = events[0]!.data as { position?: string };
      if (stream.startsWith('view2_checkpoint')) (checkpoints[stream] ??= []).push(position!);
      return store.append(stream, events, expected);
    };
    const options = { batchEventsMax: 4, cachedViewsMax: 2 };
    expect(await run({ ...store, append }, options)).toMatchObject({ kind: 'switched', viewVersion: 2 });
    expect(await textsOf(store, 2)).toEqual(await textsOf(store, 1));
    expect(Object.keys(checkpoints)).toHaveLength(2);
    expect(checkpoints[`view2_checkpoint-${name}`]![0]! >= ahead.health().position).toBe(true);
  });

  test('that is begun twice at a time is done once', async () => {
    const { store } = await givenProjected();
    const outcomes = await Promise.all([run(store, { holder: 'one' }), run(store, { holder: 'two' })]);
    expect(outcomes.map(({ kind }) => kind).sort()).toEqual(['already-switched', 'switched']);
    expect(await liveOf(store)).toBe(2);
  });

  test('does not take a document from the readers that can no longer be made', async () => {
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
      failedStreams: [{ stream: 'payment-p1' }, { stream: 'payment-p1' }],
    });
    expect(await liveOf(store)).toBe(1);
    // By code that can read it again: what was begun is left alone, and the next one is whole.
    expect(await run(store)).toMatchObject({ kind: 'switched', viewVersion: 3 });
    expect(await textsOf(store, 3)).toEqual(await textsOf(store, 1));
  });

  // The projector tried for ever, and so did the rebuild, with its lease held and its generation announced.
  test.each([
    ['that nobody knows', 0],
    ['that the projectors of shards have as failed already', 2],
  ])('ends where too many streams fail %s', async (_, count) => {
    const store = await temporaryStore();
    const names = Array.from({ length: failedStreamsMax + 1 }, (_each, index) => `payment-p${index}`);
    const forgotten = [{ type: 'PaymentForgotten', data: {} }];
    await Promise.all(names.map((name) => appendEvents(store, name, forgotten)));
    for (const shard of shardsOf(count)) await projected(store, await startProjector(store, { shard }));
    const outcome = await run(store);
    const failed = outcome.kind === 'refused' ? outcome.failedStreams.map(({ stream }) => stream) : [];
    expect(failed.sort()).toEqual([...names, ...names].sort());
    expect((await readViewVersion(store)).record).toEqual({ schemaVersion: 1, live: 1, abandoned: 2 });
    // Nobody holds the lease any more.
    expect(await run(store, { holder: 'next' })).toMatchObject({ kind: 'refused' });
  });
});

describe('a check', () => {
  const check = (store: EventStore) => checkViews({ store, signal: new AbortController().signal });

  test('finds nothing where the documents are what their events give', async () => {
    const { store } = await givenProjected();
    const expected = { views: tokens.length + 1, totals: 1, differing: [], failed: [] };
    expect(await check(store)).toEqual(expected);
    await run(store);
    await eventually(async () => expect(await check(store)).toEqual(expected));
  });

  test('names what differs, what is missing, and what was forgotten', async () => {
    const { store, projectors } = await givenProjected();
    for (const projector of projectors) await projector.stop();
    const other = await storedTexts(store, ['view_payment-p5']);
    await plantView(store, paymentKind, 'p1', { other: 'thing' });
    await plantView(store, paymentKind, 'p2', JSON.parse([...other.values()][0]!));
    const [totals] = [...(await storedTexts(store, [totalsPrefixOf(1)])).entries()];
    const [stream, text] = totals!;
    const changed = JSON.parse(text.replace('"count":9', '"count":8')) as object;
    const event = { id: systemIds.uuid(), type: 'TotalsViewWritten', data: changed, metadata: {} };
    await store.append(stream, [event], 'any');
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
        stream,
      ].sort(),
    );
  });
});
