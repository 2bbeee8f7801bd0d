import { temporaryStore } from '@tollgate/event-store/testing';
import { readLast, type EventStore } from '@tollgate/event-store';
import { silentLog, systemIds, dayMs, hourMs } from '@tollgate/service-kit';
import { createFakeClock } from '@tollgate/testing';
import { expect, it, onTestFinished } from 'vitest';
import { webhookStream } from './webhook-events.ts';
import { createWebhookJournal } from './webhook-journal.ts';
import { retainWebhooks } from './webhook-retention.ts';
import { nextTryAt, type Outcome } from './webhook-state.ts';
import { dueOf } from './testing/subjects.ts';

const cause = { correlationId: 'c', causationId: 'c' };
const delivered: Outcome = { kind: 'answered', statusCode: 200 };

/** A store whose events are stamped by the clock. */
async function start() {
  const clock = createFakeClock({ now: Date.UTC(2026, 0, 1) });
  const store = await temporaryStore({ clock });
  const journal = createWebhookJournal({ store, clock, ids: systemIds });
  const due = (token: string, id: string) =>
    journal.recordDue(token, [dueOf(token, { id, at: clock.now() })], cause);
  const attempt = (token: string, id: string, outcome = delivered) =>
    journal.recordOutcome(token, id, outcome);
  const stopping = new AbortController();
  let loaded: () => Promise<void> = () => Promise.resolve();
  const onLoaded = (once: () => Promise<void>) => {
    loaded = () => {
      loaded = () => Promise.resolve();
      return once();
    };
  };
  const load = async (token: string) => {
    const found = await journal.load(token);
    await loaded();
    return found;
  };
  const retaining = {
    store,
    journal: { load },
    clock,
    ids: systemIds,
    log: silentLog,
    retentionMs: 30 * dayMs,
  };
  const running = retainWebhooks(retaining, stopping.signal);
  onTestFinished(async () => {
    stopping.abort();
    await running;
  });
  /** Advances this many days, and lets the passes of the last hours end. */
  const afterDays = async (days: number) => {
    await expect.poll(() => clock.sleeperCount()).toBe(1);
    await clock.advance(days * dayMs);
    await expect.poll(() => clock.sleeperCount()).toBe(1);
    await clock.advance(hourMs);
    await expect.poll(() => clock.sleeperCount()).toBe(1);
  };
  return { clock, store, journal, due, attempt, afterDays, onLoaded };
}

const countIn = async (store: EventStore, token: string) =>
  (await Array.fromAsync(store.read(webhookStream(token)))).length;

it('deletes webhooks some days after the last of them was delivered, and not before', async () => {
  const { store, journal, due, attempt, afterDays } = await start();
  await due('pay_1', 'whk_1');
  await attempt('pay_1', 'whk_1', { kind: 'failed', reason: 'timeout' });
  await attempt('pay_1', 'whk_1');
  await afterDays(20);
  await due('pay_1', 'whk_2');
  await attempt('pay_1', 'whk_2');
  await afterDays(20);
  expect(await countIn(store, 'pay_1')).toBe(5);
  await afterDays(11);
  expect(await countIn(store, 'pay_1')).toBe(1);
  expect((await journal.load('pay_1')).state.webhooks).toEqual([]);
});

it('keeps open ones, however old, until they are delivered', async () => {
  const { store, due, attempt, afterDays } = await start();
  await due('pay_1', 'whk_1');
  await attempt('pay_1', 'whk_1', { kind: 'failed', reason: 'timeout' });
  await afterDays(60);
  expect(await countIn(store, 'pay_1')).toBe(2);
  await attempt('pay_1', 'whk_1');
  await afterDays(31);
  expect(await countIn(store, 'pay_1')).toBe(1);
});

it('a webhook that becomes due later is recorded and delivered after them', async () => {
  const { store, journal, due, attempt, afterDays } = await start();
  await due('pay_1', 'whk_1');
  await attempt('pay_1', 'whk_1');
  await afterDays(31);
  expect(await countIn(store, 'pay_1')).toBe(1);
  await due('pay_1', 'whk_2');
  await attempt('pay_1', 'whk_2');
  const { state } = await journal.load('pay_1');
  expect(state.webhooks.map(({ id, state: each }) => [id, each])).toEqual([['whk_2', 'delivered']]);
  expect((await readLast(store, webhookStream('pay_1')))?.revision).toBe(3);
  expect(await journal.requestReplay('pay_1', 'whk_1', { kind: 'service', name: 'spec' })).toMatchObject({
    kind: 'refused',
  });
  await afterDays(31);
  expect(await countIn(store, 'pay_1')).toBe(1);
});

// On the 31st day a team requested a replay and got 202, while the retention had just read that nothing was open: the webhook
// was
// deleted, and never sent again.
it('keeps a webhook whose replay was acknowledged after it was loaded', async () => {
  const { store, journal, due, attempt, afterDays, onLoaded } = await start();
  await due('pay_1', 'whk_1');
  await attempt('pay_1', 'whk_1');
  const answers: string[] = [];
  onLoaded(async () => {
    const { kind } = await journal.requestReplay('pay_1', 'whk_1', { kind: 'service', name: 'spec' });
    answers.push(kind);
  });
  await afterDays(31);
  expect(answers).toEqual(['requested']);
  expect(nextTryAt((await journal.load('pay_1')).state)).toBe(0);
  await attempt('pay_1', 'whk_1');
  await afterDays(31);
  expect(await countIn(store, 'pay_1')).toBe(1);
});

it('skips unreadable streams, and continues with the others', async () => {
  const { store, due, attempt, afterDays } = await start();
  const unread = { id: systemIds.uuid(), type: 'Unheard', data: {}, metadata: {} };
  await store.append(webhookStream('pay_0'), [unread, { ...unread, id: systemIds.uuid() }], 'no-stream');
  await due('pay_1', 'whk_1');
  await attempt('pay_1', 'whk_1');
  await afterDays(31);
  expect([await countIn(store, 'pay_0'), await countIn(store, 'pay_1')]).toEqual([2, 1]);
});
