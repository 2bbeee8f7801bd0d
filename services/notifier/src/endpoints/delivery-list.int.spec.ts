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
  let subscriptions = 0;
  const deaf: EventStore = {
    ...store,
    async *subscribe(options) {
      const isFollower = (subscriptions += 1) === 1;
      for await (const item of store.subscribe(options)) {
        yield item;
        if (isFollower && item.kind === 'caught-up') await once(options.signal);
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

const once = (signal: AbortSignal | undefined): Promise<void> =>
  new Promise((resolve) => signal?.addEventListener('abort', () => resolve()));

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
