import {
  beginning,
  createMembers,
  readSchemaVersion,
  type EventStore,
  schemaVersion,
} from '@tollgate/event-store';
import { temporaryStore } from '@tollgate/event-store/testing';
import { silentLog, systemClock, systemIds } from '@tollgate/service-kit';
import { appendPayment, happening, requested } from '@tollgate/views/testing';
import { expect, it } from 'vitest';
import { runWith, toolsWith } from './testing/run-with.ts';

const check = (store: EventStore, ...options: string[]) =>
  runWith(toolsWith({ store, clock: systemClock }), ['upgrade', 'check', ...options]);

async function lastPosition(store: EventStore): Promise<string> {
  const { signal } = new AbortController();
  for await (const item of store.subscribe({ from: beginning, prefixes: [''], signal }))
    if (item.kind === 'caught-up') return item.position;
  return '';
}

const eventOf = (type: string, schemaVersion: number, data: object = {}) => ({
  id: systemIds.uuid(),
  type,
  data,
  metadata: {
    schemaVersion,
    correlationId: 'c',
    causationId: 'c',
    recordedAt: 1,
    actor: { kind: 'service', name: 's' },
  },
});

it('reports that everything is readable and which processes run, and changes nothing', async () => {
  const store = await temporaryStore();
  await appendPayment(store, 'p1', [requested(), happening.accepted]);
  await appendPayment(store, 'p2', [requested()]);
  const webhook = { id: 'whk_1', attempt: 1, at: 1, statusCode: 200 };
  await store.append(
    'webhook-p1',
    [eventOf('Delivered', 1, webhook), eventOf('Delivered', 1, webhook)],
    'no-stream',
  );
  await store.truncate('webhook-p1', 1);
  const self = { member: 'host:1:ab', release: '0.0.9', reads: 1 };
  await createMembers({ store, clock: systemClock, ids: systemIds, log: silentLog, self }).beat();
  const before = await lastPosition(store);
  const checked = await check(store);
  expect(checked).toMatchObject({ exitCode: 0, error: '' });
  expect(checked.out).toContain('reads all 4 events (payment: 3, webhook: 1).');
  expect(checked.out).toContain('Running: host:1:ab: release 0.0.9, reads up to 1.');
  expect(await lastPosition(store)).toBe(before);
});

it('names each unreadable stream with the reason, and exits with 1', async () => {
  const store = await temporaryStore();
  await appendPayment(store, 'good', [requested(), happening.accepted]);
  await appendPayment(store, 'newer', [requested()]);
  await store.append('payment-newer', [eventOf('PaymentNoted', schemaVersion + 1)], 0);
  await store.append('team-shop', [eventOf('Unheard', 1)], 'no-stream');
  const checked = await check(store);
  expect(checked.exitCode).toBe(1);
  expect(checked.out).toMatch(/^payment-newer, event 1 \(PaymentNoted\): event_of_newer_version: /m);
  expect(checked.out).toMatch(
    /^team-shop, event 0 \(Unheard\): event_undecodable: unknown event type Unheard$/m,
  );
  expect(checked.error).toMatch(/^2 streams cannot be read by release .*payment-newer team-shop\n$/);
  const json = await check(store, '--json');
  expect(json).toMatchObject({ exitCode: 1, out: '' });
});

const finish = (store: EventStore) =>
  runWith(toolsWith({ store, clock: systemClock, ids: systemIds }), ['upgrade', 'finish']);

it("finish raises the store's schema version to this release's, once", async () => {
  const store = await temporaryStore();
  expect((await finish(store)).exitCode).toBe(0);
  const { version } = await readSchemaVersion(store);
  expect(version).toBe(schemaVersion);
  expect((await finish(store)).out).toContain(`at schema version ${schemaVersion} already`);
});

it.runIf(schemaVersion > 1)(
  'finish names the processes of an older release, and raises nothing',
  async () => {
    const store = await temporaryStore();
    const self = { member: 'host:1:ab', release: '0.0.9', reads: schemaVersion - 1 };
    await createMembers({ store, clock: systemClock, ids: systemIds, log: silentLog, self }).beat();
    const refused = await finish(store);
    expect(refused.exitCode).toBe(1);
    expect(refused.error).toContain('host:1:ab (release 0.0.9)');
    expect((await readSchemaVersion(store)).version).toBe(1);
  },
);
