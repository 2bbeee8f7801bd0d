import { beginning } from '@tollgate/event-store';
import { temporaryStore } from '@tollgate/event-store/testing';
import { silentLog, systemIds, dayMs } from '@tollgate/service-kit';
import { createFakeClock, eventually } from '@tollgate/testing';
import { expect, it, onTestFinished } from 'vitest';
import { queueAtEndpoint } from './webhook-events.ts';
import { createWebhookJournal } from './webhook-journal.ts';
import { retainWebhooks } from './webhook-retention.ts';
import { openDeliveries } from './deliveries.ts';
import { dueOf } from './testing/subjects.ts';

const endpoint = 'we_000000000001';

type Parts = Pick<Parameters<typeof openDeliveries>[0], 'store' | 'clock'>;

/** A list in memory, until the running test ends. */
function startListing({ store, clock }: Parts, retentionMs = dayMs) {
  const kept = { ids: systemIds, log: silentLog, file: ':memory:', retentionMs };
  const deliveries = openDeliveries({ store, clock, ...kept });
  onTestFinished(() => deliveries.stop());
  return deliveries;
}

const cause = () => ({ correlationId: systemIds.uuid(), causationId: systemIds.uuid() });

/**
 * A team replayed the webhooks of ten payments, five at a time. The second five were requested from another instance, which had
 * begun after old webhooks were deleted and had other positions: it returned neither webhooks nor a cursor.
 */
it('has a cursor that is valid at another process, and after a restart', async () => {
  const store = await temporaryStore();
  const clock = createFakeClock({ now: Date.UTC(2030, 0, 1) });
  const deps = { store, clock, ids: systemIds, log: silentLog };
  const journal = createWebhookJournal(deps);
  const record = async (token: string, outcome: Parameters<typeof journal.recordOutcome>[2]) => {
    const queue = queueAtEndpoint(endpoint, token);
    const due = dueOf(token, { endpoint, at: clock.now() });
    await journal.recordDue(queue, [due], cause());
    await journal.recordOutcome(queue, due.id, outcome);
  };
  const start = () => startListing(deps, 30 * dayMs);
  for (let count = 0; count < 20; count += 1)
    await record(`old_${count}`, { kind: 'answered', statusCode: 200 });
  const longRunning = start();
  await longRunning.read(() => undefined);

  await clock.advance(31 * dayMs);
  const ending = new AbortController();
  const retaining = retainWebhooks({ ...deps, journal, retentionMs: 30 * dayMs }, ending.signal);
  await eventually(async () =>
    expect(await Array.fromAsync(store.read('webhook-we_000000000001.old_19'))).toHaveLength(1),
  );
  ending.abort();
  await retaining;
  for (let count = 0; count < 10; count += 1) await record(`new_${count}`, { kind: 'abandoned' });

  const restarted = start();
  const failed = { status: 'failed', owners: undefined, endpoint } as const;
  const limit = 5;
  expect(await longRunning.read((rows) => rows.count(failed))).toBe(10);
  const tokens = (rows: readonly { queue: string }[]) => rows.map(({ queue }) => queue.split('.')[1]);

  // A replay, 5 at a time, oldest first.
  const first = await longRunning.read((rows) => rows.oldestFirst(failed, beginning, limit));
  const after = first.at(-1)?.place ?? beginning;
  const second = await restarted.read((rows) => rows.oldestFirst(failed, after, limit));
  // The list, latest first.
  const shown = await restarted.read((rows) => rows.page(failed, undefined, limit));
  const next = await longRunning.read((rows) => rows.page(failed, shown.at(-1), limit));
  const replayed = [...tokens(first), ...tokens(second)];
  expect(replayed).toEqual(Array.from({ length: 10 }, (_, count) => `new_${count}`));
  expect([...tokens(shown), ...tokens(next)]).toEqual(replayed.toReversed());
});

it('omits a webhook whose event cannot be read, and lists the others', async () => {
  const store = await temporaryStore();
  const deps = { store, clock: createFakeClock(), ids: systemIds, log: silentLog };
  const add = (stream: string, type: string, data: object) =>
    store.append(stream, [{ id: systemIds.uuid(), type, data, metadata: {} }], 'any');
  await add('webhook-pay_1', 'OfLaterVersion', {});
  await createWebhookJournal(deps).recordDue('pay_2', [dueOf('pay_2')], cause());
  const deliveries = startListing(deps);
  expect(await deliveries.read((rows) => rows.count({ owners: undefined }))).toBe(1);
});

it('shows each owner only their own webhooks', async () => {
  const store = await temporaryStore();
  const deps = { store, clock: createFakeClock(), ids: systemIds, log: silentLog };
  const journal = createWebhookJournal(deps);
  for (const team of ['shop', 'games'])
    await journal.recordDue(`pay_${team}`, [dueOf(`pay_${team}`, { team })], cause());
  const deliveries = startListing(deps);
  const seenBy = (...owners: { team: string; environment: string }[]) =>
    deliveries.read((rows) => rows.page({ owners }, undefined, 10).map(({ queue }) => queue));
  expect(await seenBy({ team: 'shop', environment: 'sandbox' })).toEqual(['pay_shop']);
  expect(await seenBy({ team: 'shop', environment: 'production' })).toEqual([]);
  expect(await seenBy()).toEqual([]);
});

// A delivered webhook that is no longer listed was replayed, and the process ended before it sent it.
it('has the queue of a replayed webhook that it does not list', async () => {
  const store = await temporaryStore();
  const deps = { store, clock: createFakeClock(), ids: systemIds, log: silentLog };
  const data = { id: 'whk_old', at: 0 };
  await store.append(
    'webhook-pay_old',
    [{ id: systemIds.uuid(), type: 'ReplayRequested', data, metadata: {} }],
    'any',
  );
  const deliveries = startListing(deps);
  expect((await deliveries.open()).queues).toEqual(['pay_old']);
});
