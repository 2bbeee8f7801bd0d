import type { EventStore, RecordedEvent } from '@tollgate/event-store';
import { temporaryStore } from '@tollgate/event-store/testing';
import { silentLog, systemClock, systemIds } from '@tollgate/service-kit';
import { createFakeClock, eventually } from '@tollgate/testing';
import { expect, it, onTestFinished } from 'vitest';
import { followRows } from './delivery-list.ts';

const full = Object.assign(new Error('database or disk is full'), { code: 'ERR_SQLITE_ERROR' });

// A team that replayed all that was given up, just as it was given up, missed what the follower had not been told of.
it('has what was recorded before it was asked, whatever its follower has been told of', async () => {
  const store = await temporaryStore();
  const applied: string[] = [];
  const rows = {
    apply: ({ stream, revision }: RecordedEvent) => void applied.push(`${stream} ${revision}`),
    ...{ removeBefore: () => undefined, close: () => undefined },
  };
  const deaf: EventStore = {
    ...store,
    async *subscribe(options) {
      for await (const item of store.subscribe(options)) {
        yield item;
        // Whoever goes on behind it, as the follower does, hears nothing any more.
        if (item.kind === 'caught-up') await ended(options.signal);
      }
    },
  };
  const add = (stream: string) =>
    store.append(stream, [{ id: systemIds.uuid(), type: 'Any', data: {}, metadata: {} }], 'any');
  await add('webhook-1');
  const deps = { store: deaf, clock: systemClock, ids: systemIds, log: silentLog, retentionMs: 1 };
  const list = followRows(deps, { name: 'spec', prefixes: ['webhook-'], openRows: () => rows });
  onTestFinished(() => list.stop());
  await list.rows();
  for (const stream of ['webhook-1', 'webhook-2']) await add(stream);
  await list.rows();
  await list.rows();
  expect(applied).toEqual(['webhook-1 0', 'webhook-1 1', 'webhook-2 0']);
});

const ended = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve());
  });

it('asks the store for nothing more where nothing is new', async () => {
  const store = await temporaryStore();
  let begun = 0;
  const counted: EventStore = {
    ...store,
    subscribe: (options) => {
      begun += 1;
      return store.subscribe(options);
    },
  };
  const rows = { apply: () => undefined, removeBefore: () => undefined, close: () => undefined };
  const deps = { store: counted, clock: systemClock, ids: systemIds, log: silentLog, retentionMs: 1 };
  const list = followRows(deps, { name: 'spec', prefixes: ['webhook-'], openRows: () => rows });
  onTestFinished(() => list.stop());
  await store.append('webhook-1', [{ id: systemIds.uuid(), type: 'Any', data: {}, metadata: {} }], 'any');
  for (let count = 0; count < 5; count += 1) await list.rows();
  // The reading of what there was, and the follower behind it.
  expect(begun).toBe(2);
});

it('is not taken for whole where it was stopped while it was read', async () => {
  const store = await temporaryStore();
  const silent: EventStore = {
    ...store,
    async *subscribe({ signal }) {
      await ended(signal);
    },
  };
  const rows = { apply: () => undefined, removeBefore: () => undefined, close: () => undefined };
  const deps = { store: silent, clock: createFakeClock(), ids: systemIds, log: silentLog, retentionMs: 1 };
  const list = followRows(deps, { name: 'spec', prefixes: ['webhook-'], openRows: () => rows });
  await store.append('webhook-1', [{ id: systemIds.uuid(), type: 'Any', data: {}, metadata: {} }], 'any');
  const asked = expect(list.rows()).rejects.toMatchObject({ code: 'index_rebuilding' });
  await eventually(() => expect(deps.clock.sleeperCount()).toBeGreaterThan(0));
  await list.stop();
  await asked;
});

it('is not there yet where that takes too long, and goes on for who asks again', async () => {
  const store = await temporaryStore();
  const clock = createFakeClock();
  const waiting = Promise.withResolvers<undefined>();
  let begun = 0;
  const slow: EventStore = {
    ...store,
    async *subscribe(options) {
      begun += 1;
      await waiting.promise;
      yield* store.subscribe(options);
    },
  };
  const rows = { apply: () => undefined, removeBefore: () => undefined, close: () => undefined };
  const deps = { store: slow, clock, ids: systemIds, log: silentLog, retentionMs: 1 };
  const list = followRows(deps, { name: 'spec', prefixes: ['webhook-'], openRows: () => rows });
  onTestFinished(() => list.stop());
  await store.append('other', [{ id: systemIds.uuid(), type: 'Any', data: {}, metadata: {} }], 'any');
  const asked = Promise.allSettled([list.rows(), list.rows(), list.rows()]);
  await eventually(() => expect(clock.sleeperCount()).toBeGreaterThanOrEqual(3));
  await clock.advance(2_000);
  for (const answer of await asked)
    expect(answer).toMatchObject({ status: 'rejected', reason: { code: 'index_rebuilding' } });
  // One for all who have asked: the follower begins behind it.
  expect(begun).toBe(1);
  waiting.resolve(undefined);
  await list.rows();
});

// While the disk of temporary files was full, failed webhooks were passed over for good: nobody found them to replay them.
it('applies again what the file did not take, and passes over only what cannot be read', async () => {
  const store = await temporaryStore();
  const failures: Record<string, Error[]> = {
    'webhook-2': [full, full],
    'webhook-3': [new RangeError('unknown event type')],
  };
  const applied: string[] = [];
  const rows = {
    apply: ({ stream }: RecordedEvent) => {
      const failure = failures[stream]?.shift();
      if (failure !== undefined) throw failure;
      applied.push(stream);
    },
    removeBefore: () => undefined,
    close: () => undefined,
  };
  for (const number of [1, 2, 3, 4])
    await store.append(
      `webhook-${number}`,
      [{ id: systemIds.uuid(), type: 'Any', data: {}, metadata: {} }],
      'no-stream',
    );
  const deps = { store, clock: systemClock, ids: systemIds, log: silentLog, retentionMs: 1 };
  const list = followRows(deps, { name: 'spec', prefixes: ['webhook-'], openRows: () => rows });
  onTestFinished(() => list.stop());
  await list.rows().catch(() => undefined);
  await eventually(() => expect(applied).toEqual(['webhook-1', 'webhook-2', 'webhook-4']));
});
