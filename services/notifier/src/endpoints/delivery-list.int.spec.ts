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
  // The follower is told late; whoever asks meanwhile waits for it.
  const told = { at: Promise.resolve() };
  const slow: EventStore = {
    ...store,
    async *subscribe(options) {
      for await (const item of store.subscribe(options)) {
        await told.at;
        yield item;
      }
    },
  };
  const add = (stream: string) =>
    store.append(stream, [{ id: systemIds.uuid(), type: 'Any', data: {}, metadata: {} }], 'any');
  await add('webhook-1');
  const clock = createFakeClock();
  const deps = { store: slow, clock, ids: systemIds, log: silentLog, retentionMs: 1 };
  const list = followRows(deps, { name: 'spec', prefixes: ['webhook-'], openRows: () => rows });
  onTestFinished(() => list.stop());
  await list.rows();
  const tell = Promise.withResolvers<undefined>();
  told.at = tell.promise.then(() => undefined);
  for (const stream of ['webhook-1', 'webhook-2']) await add(stream);
  // What has nothing to do with it moves the end as well.
  await add('payment-1');
  let isAnswered = false;
  const asked = list.rows().then(() => (isAnswered = true));
  const tooLate = list.rows();
  await eventually(() => expect(clock.sleeperCount()).toBeGreaterThanOrEqual(2));
  expect(isAnswered).toBe(false);
  tell.resolve(undefined);
  await Promise.all([asked, tooLate]);
  expect(applied).toEqual(['webhook-1 0', 'webhook-1 1', 'webhook-2 0']);
});

it('is answered as not there yet where its follower is too late', async () => {
  const store = await temporaryStore();
  const clock = createFakeClock();
  const silent: EventStore = {
    ...store,
    async *subscribe({ signal }) {
      await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve()));
    },
  };
  const deps = { store: silent, clock, ids: systemIds, log: silentLog, retentionMs: 1 };
  const rows = { apply: () => undefined, removeBefore: () => undefined, close: () => undefined };
  const list = followRows(deps, { name: 'spec', prefixes: ['webhook-'], openRows: () => rows });
  onTestFinished(() => list.stop());
  await store.append('any', [{ id: systemIds.uuid(), type: 'Any', data: {}, metadata: {} }], 'any');
  const refused = expect(list.rows()).rejects.toMatchObject({ code: 'index_rebuilding' });
  await eventually(() => clock.advance(2_000));
  await refused;
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
