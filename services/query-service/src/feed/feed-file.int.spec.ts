/** The file of the feed where something has happened to its disk, to its machine, or to the store. */
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { type EventStore, beginning, copyEmbeddedStore } from '@tollgate/event-store';
import { temporaryFile, temporaryStore } from '@tollgate/event-store/testing';
import { silentLog, systemClock, systemIds } from '@tollgate/service-kit';
import { eventually } from '@tollgate/testing';
import { appendEvents } from '@tollgate/view-index/testing';
import { happening, requested } from '@tollgate/views/testing';
import { describe, expect, it, onTestFinished } from 'vitest';
import { start } from '../testing/harness.ts';
import { zeroPageWith } from '../testing/lost-pages.ts';
import { type EventFeed, createEventFeed } from './event-feed.ts';

const { accepted, approved } = happening;
const shop = { environment: 'sandbox', team: 'shop' };
const games = { environment: 'sandbox', team: 'games' };
const prefixes = ['payment-', 'payout-', 'dispute-'];

function open(store: EventStore, file: string): EventFeed {
  const feed = createEventFeed({
    ...{ store, file, prefixes, clock: systemClock, ids: systemIds, log: silentLog },
  });
  let stopping: Promise<void> | undefined;
  const stop = () => (stopping ??= feed.stop());
  onTestFinished(stop);
  return { ...feed, stop };
}

const caughtUp = (feed: EventFeed, store: EventStore) =>
  eventually(async () => {
    feed.after(shop, beginning, 1);
    expect(feed.isComplete()).toBe(true);
    expect(feed.position()).toBe(await store.head());
  });
const streamsOf = (feed: EventFeed, owner = shop) =>
  feed.after(owner, beginning, 5_000).map(({ stream }) => stream);

/** The trigger stands for the full disk: what is written is rolled back. */
function fillDisk(file: string): () => void {
  const other = new DatabaseSync(file);
  other.exec(
    `CREATE TRIGGER full_disk BEFORE INSERT ON progress BEGIN SELECT RAISE(ROLLBACK, 'database or disk is full'); END`,
  );
  return () => {
    other.exec('DROP TRIGGER full_disk');
    other.close();
  };
}

const givenFile = async () => join(await temporaryFile(), '..', 'feed.db');

describe('after its disk was full', () => {
  // The disk was full just when the first payment of a new team was written. The number of that team was rolled back and
  // remembered, and the next new team was given the same one: it read the payments of the other, which never got them.
  it('a team is given its own events and no others', async () => {
    const [file, store] = [await givenFile(), await temporaryStore()];
    const feed = open(store, file);
    await caughtUp(feed, store);
    const makeRoom = fillDisk(file);
    await appendEvents(store, 'payment-of_shop', [requested({ team: 'shop' })]);
    await systemClock.sleep(100);
    makeRoom();
    await caughtUp(feed, store);
    await appendEvents(store, 'payment-of_games', [requested({ team: 'games' }), accepted]);
    await caughtUp(feed, store);
    expect([streamsOf(feed), streamsOf(feed, games)]).toEqual([
      ['payment-of_shop'],
      ['payment-of_games', 'payment-of_games'],
    ]);
  });

  // The same over HTTP: the key of the shop read a payment of the games.
  it('a team is answered over HTTP with nothing of another one', async () => {
    const file = await givenFile();
    let made: EventFeed | undefined;
    let ofStore: EventStore | undefined;
    const feed = (): EventFeed => (made ??= open(ofStore!, file));
    const lazily: EventFeed = {
      after: (...given) => feed().after(...given),
      position: () => feed().position(),
      isComplete: () => feed().isComplete(),
      changed: (...given) => feed().changed(...given),
      stop: async () => made?.stop(),
    };
    const { store, get } = await start((inner) => (ofStore = inner), { options: { feed: lazily } });
    await caughtUp(lazily, store);
    const makeRoom = fillDisk(file);
    await appendEvents(store, 'payment-of_games', [requested({ team: 'games' })]);
    await systemClock.sleep(100);
    makeRoom();
    await caughtUp(lazily, store);
    await appendEvents(store, 'payment-of_shop', [requested({ team: 'shop' })]);
    await caughtUp(lazily, store);
    const idIn = async (stream: string) => (await Array.fromAsync(store.read(stream)))[0]?.id;
    const { events } = (await get('/api/v1/events')).json<{
      events: { record: { event: { id: string } } }[];
    }>();
    expect(events.map(({ record }) => record.event.id)).toEqual([await idIn('payment-of_shop')]);
  });

  // A nightly job read to the end while nothing could be written. The feed answered that there was no more, and the job booked
  // a day without the payments of its last hours.
  it('does not report its end while it cannot be written, and has all events afterwards', async () => {
    const [file, store] = [await givenFile(), await temporaryStore()];
    const feed = open(store, file);
    await caughtUp(feed, store);
    const makeRoom = fillDisk(file);
    await appendEvents(store, 'payment-of_shop', [requested({ team: 'shop' })]);
    await eventually(() => expect(feed.isComplete()).toBe(false));
    await systemClock.sleep(500);
    expect([streamsOf(feed), feed.isComplete()]).toEqual([[], false]);
    makeRoom();
    await caughtUp(feed, store);
    expect(streamsOf(feed)).toEqual(['payment-of_shop']);
  });
});

// A page by which the file had grown was zeros: the feed of the team answered 500, after every restart, too.
it('is recreated where a page was never written', async () => {
  const [file, store] = [await givenFile(), await temporaryStore()];
  for (let count = 0; count < 300; count += 1)
    await appendEvents(store, `payment-pay_${count}`, [requested()]);
  const first = open(store, file);
  await caughtUp(first, store);
  await first.stop();
  zeroPageWith(file, 'payment-pay_150', 'witness');
  const feed = open(store, file);
  await caughtUp(feed, store);
  expect(streamsOf(feed)).toHaveLength(300);
});

// A disk failed under the running service: every page of the team was 500, and what was there said that it was the end.
it('is recreated where a read shows that it is damaged, and is not at its end until all is there again', async () => {
  const [file, store] = [await givenFile(), await temporaryStore()];
  for (let count = 0; count < 300; count += 1)
    await appendEvents(store, `payment-pay_${count}`, [requested()]);
  const first = open(store, file);
  await caughtUp(first, store);
  const other = new DatabaseSync(file);
  other.exec('PRAGMA wal_checkpoint(TRUNCATE); VACUUM; PRAGMA wal_checkpoint(TRUNCATE)');
  other.close();
  zeroPageWith(file, 'payment-pay_150', 'witness');
  // Nothing is recorded meanwhile that would wake the feed up.
  expect(() => streamsOf(first)).toThrow(expect.objectContaining({ code: 'index_rebuilding' }));
  expect(first.isComplete()).toBe(false);
  await caughtUp(first, store);
  expect(streamsOf(first)).toHaveLength(300);
});

describe('over a restored store', () => {
  const beat = () => ({ id: systemIds.uuid(), type: 'MemberBeat', data: {}, metadata: {} });

  // A quiet night: a backup, then heartbeats and no payment, then the disk of the store died and the backup took its place.
  // The feed on another disk lay beyond the restored store, and skipped every payment until the store had passed that place.
  it('tells what was recorded after a backup that was taken behind the last event of a payment', async () => {
    const [file, feedFile] = [await temporaryFile(), await givenFile()];
    const backup = join(file, '..', 'restored.db');
    const store = await temporaryStore({ file });
    await appendEvents(store, 'payment-pay_1', [requested(), accepted, approved]);
    await store.append('member-x', [beat()], 'any');
    await copyEmbeddedStore({ file, to: backup, signal: new AbortController().signal });
    for (let count = 0; count < 20; count += 1) await store.append('member-x', [beat()], 'any');
    const before = open(store, feedFile);
    await caughtUp(before, store);
    await before.stop();

    const restored = await temporaryStore({ file: backup });
    const feed = open(restored, feedFile);
    await caughtUp(feed, restored);
    await appendEvents(restored, 'payment-pay_2', [requested(), accepted, approved]);
    for (let count = 0; count < 40; count += 1) await restored.append('member-x', [beat()], 'any');
    await appendEvents(restored, 'payment-pay_3', [requested()]);
    await caughtUp(feed, restored);
    expect(feed.after(shop, beginning, 10).map(({ stream, revision }) => `${stream}@${revision}`)).toEqual([
      ...['payment-pay_1@0', 'payment-pay_1@1', 'payment-pay_1@2'],
      ...['payment-pay_2@0', 'payment-pay_2@1', 'payment-pay_2@2', 'payment-pay_3@0'],
    ]);
  });
});
