import { mkdirSync, rmdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { silentLog, systemClock, systemIds, type Log } from '@tollgate/service-kit';
import { eventually } from '@tollgate/testing';
import { expect, it, onTestFinished } from 'vitest';
import { beginning, type EventStore, type RecordedEvent } from '../event-store.ts';
import { givenEvent } from '../testing/given-events.ts';
import { temporaryFile, temporaryStore } from '../testing/temporary-store.ts';
import { createEventCounts, differingCountsStream } from './event-counts.ts';
import { type LocalProjectionOptions, openLocalProjection } from './local-projection.ts';

const prefixes = ['payment-', 'payout-'];

const rowsOf = (database: DatabaseSync) => ({
  add: ({ stream, revision }: RecordedEvent) =>
    database.prepare('INSERT INTO seen VALUES (?, ?)').run(stream, revision),
  all: () =>
    database
      .prepare('SELECT stream, revision FROM seen ORDER BY stream, revision')
      .all()
      .map((row) => `${String(row['stream'])} ${String(row['revision'])}`),
});
type Rows = ReturnType<typeof rowsOf>;

const givenFile = async () => join(await temporaryFile(), '..', 'local.db');

/** Follows until the test ends, or until it is stopped. */
function follow(
  options: Partial<LocalProjectionOptions<Rows>> & Pick<LocalProjectionOptions<Rows>, 'store'>,
) {
  const projection = openLocalProjection({
    name: 'seen',
    file: ':memory:',
    applicationId: 1_234,
    schema: 'CREATE TABLE seen (stream TEXT, revision INTEGER) STRICT;',
    prefixes,
    clock: systemClock,
    ids: systemIds,
    log: silentLog,
    rowsOf,
    apply: (rows, events) => {
      for (const event of events) rows.add(event);
    },
    ...options,
  });
  const ending = new AbortController();
  const running = projection.follow(ending.signal);
  let stopped: Promise<void> | undefined;
  const stop = () =>
    (stopped ??= (async () => {
      ending.abort();
      await running;
      projection.close();
    })());
  onTestFinished(stop);
  return { ...projection, stop, all: () => projection.use((rows) => rows.all()) };
}

async function append(store: EventStore, stream: string, count = 1) {
  const events = Array.from({ length: count }, () => givenEvent());
  const answer = await store.append(stream, events, 'any');
  if (answer.kind === 'conflict') throw new Error('an append with any expectation has met a conflict');
  return answer.position;
}

it('has all recorded events, and continues from there after a restart', async () => {
  const [store, file] = [await temporaryStore(), await givenFile()];
  await append(store, 'payment-1', 2);
  await append(store, 'team-1');
  const first = follow({ store, file });
  expect(await first.waitFor(await append(store, 'payout-1'), 10_000)).toBe(true);
  expect(first.all()).toEqual(['payment-1 0', 'payment-1 1', 'payout-1 0']);
  expect(first.state()).toMatchObject({ isComplete: true, events: 3, differences: 0 });
  await first.stop();
  const last = await append(store, 'payment-2');
  const second = follow({ store, file });
  expect(await second.waitFor(last, 10_000)).toBe(true);
  expect(second.all()).toEqual(['payment-1 0', 'payment-1 1', 'payment-2 0', 'payout-1 0']);
  expect(second.state().events).toBe(1);
});

it.each<[string, Partial<LocalProjectionOptions<Rows>>]>([
  ['with another schema', { schema: 'CREATE TABLE seen (stream TEXT, revision INTEGER, more TEXT) STRICT;' }],
  ['by other rules', { rules: '2' }],
])('is rebuilt %s', async (_, changed) => {
  const [store, file] = [await temporaryStore(), await givenFile()];
  const last = await append(store, 'payment-1');
  const first = follow({ store, file });
  await first.waitFor(last, 10_000);
  await first.stop();
  const second = follow({ store, file, apply: () => undefined, ...changed });
  expect(await second.waitFor(last, 10_000)).toBe(true);
  expect([second.state().events, second.all()]).toEqual([1, []]);
});

it('is rebuilt from garbage, and when a read finds damage', async () => {
  const [store, file] = [await temporaryStore(), await givenFile()];
  writeFileSync(file, 'garbage'.repeat(1_000));
  await append(store, 'payment-1');
  expect(() => follow({ store, file })).not.toThrow();
  const projection = follow({ store, file: await givenFile() });
  await eventually(() => expect(projection.state().isComplete).toBe(true));
  const meetDamage = () =>
    projection.use(() => {
      throw Object.assign(new Error('database disk image is malformed'), { errcode: 11 });
    });
  expect(meetDamage).toThrow(expect.objectContaining({ code: 'index_rebuilding', retryable: true }));
  expect(projection.state()).toMatchObject({ isComplete: false, generation: 2 });
  await eventually(() => expect(projection.all()).toEqual(['payment-1 0']));
});

// It kept reporting completeness, and so readiness, while nothing could be read from it.
it('that cannot be replaced is not complete until it can be', async () => {
  const [store, file] = [await temporaryStore(), await givenFile()];
  await append(store, 'payment-1');
  const projection = follow({ store, file });
  await eventually(() => expect(projection.state().isComplete).toBe(true));
  rmSync(file);
  mkdirSync(file);
  projection.rebuild();
  expect(projection.state().isComplete).toBe(false);
  expect(() => projection.all()).toThrow(
    expect.objectContaining({ code: 'file_not_openable', retryable: true }),
  );
  rmdirSync(file);
  await eventually(() => expect(projection.all()).toEqual(['payment-1 0']));
});

it('is rebuilt for another store, even one with the same position', async () => {
  const file = await givenFile();
  const [store, another] = [await temporaryStore(), await temporaryStore()];
  const first = follow({ store, file });
  await first.waitFor(await append(store, 'payment-1'), 10_000);
  await first.stop();
  await append(another, 'payment-2');
  const second = follow({ store: another, file });
  await eventually(() => expect(second.all()).toEqual(['payment-2 0']));
});

it('leaves the file of another program as it is', async () => {
  const file = await givenFile();
  const foreign = new DatabaseSync(file);
  foreign.exec('PRAGMA application_id = 7; CREATE TABLE theirs (id INTEGER)');
  foreign.close();
  const store = await temporaryStore();
  expect(() => follow({ store, file })).toThrow(expect.objectContaining({ code: 'file_foreign' }));
});

it('applies an append as a whole', async () => {
  const store = await temporaryStore();
  const events = [0, 1, 2].map((number) => ({
    ...givenEvent(),
    metadata: number < 2 ? { continues: true } : {},
  }));
  const sizes: number[] = [];
  const projection = follow({
    store,
    batchEventsMax: 1,
    apply: (rows, batch) => {
      sizes.push(batch.length);
      for (const event of batch) rows.add(event);
    },
  });
  const answer = await store.append('payment-1', events, 'no-stream');
  expect(answer.kind).toBe('appended');
  await eventually(() => expect(projection.all()).toHaveLength(3));
  expect(sizes).toEqual([3]);
});

it('waits for everything recorded before the call, even if nothing of it is followed', async () => {
  const store = await temporaryStore();
  const projection = follow({ store });
  await append(store, 'payment-1');
  await append(store, 'team-1');
  const waits = Array.from({ length: 20 }, () => projection.waitForNow(10_000));
  expect(await Promise.all(waits)).not.toContain(false);
  expect(projection.all()).toEqual(['payment-1 0']);
});

// A query service answered for months without the last two events of a burst: its position had passed them, and nothing
// was logged.
it('detects and rebuilds a file that lost one event, and logs it', async () => {
  const store = await temporaryStore();
  const errors: string[] = [];
  const log: Log = { ...silentLog, error: (_: object, text: string) => void errors.push(text) };
  let dropped = 0;
  const projection = follow({
    log,
    comparedWith: 'checkpoint-other',
    store: {
      ...store,
      async *subscribe(options) {
        for await (const item of store.subscribe(options)) {
          if (item.kind === 'event' && item.stream === 'payment-7' && dropped === 0) dropped += 1;
          else yield item;
        }
      },
    },
  });
  for (let number = 0; number < 10; number += 1) await append(store, `payment-${number}`);
  const position = await store.head();
  await projection.waitFor(position, 10_000);
  expect([dropped, projection.all().length]).toEqual([1, 9]);
  const counts = { 'payment-': 10 };
  await store.append('checkpoint-other', [{ ...givenEvent(), data: { position, counts } }], 'any');
  await eventually(() => expect(projection.all()).toHaveLength(10));
  expect(projection.state().differences).toBe(1);
  expect(errors).toEqual([expect.stringContaining('applied different numbers of events')]);
  // The other follower is right, and is left alone.
  expect(await Array.fromAsync(store.read(differingCountsStream))).toEqual([]);
});

it('reports a difference that a rebuild has not ended to the other follower, and does not rebuild again', async () => {
  const store = await temporaryStore();
  await append(store, 'payment-1', 3);
  const position = await store.head();
  const projection = follow({ store, comparedWith: 'checkpoint-other' });
  const checkpoint = () =>
    store.append(
      'checkpoint-other',
      [{ ...givenEvent(), data: { position, counts: { 'payment-': 2 } } }],
      'any',
    );
  await checkpoint();
  await eventually(async () =>
    expect(await Array.fromAsync(store.read(differingCountsStream))).toMatchObject([
      { data: { follower: 'seen', position, counts: { 'payment-': 3, 'payout-': 0 } } },
    ]),
  );
  const { generation } = projection.state();
  await checkpoint();
  await eventually(() => expect(projection.state().differences).toBeGreaterThan(2));
  expect(projection.state().generation).toBe(generation);
});

it('knows its counts at an earlier position, up to a limit', () => {
  const counts = createEventCounts(prefixes);
  const at = (number: number) => String(number).padStart(6, '0') as RecordedEvent['position'];
  for (let number = 1; number <= 25_000; number += 1)
    counts.add({ stream: number % 5 === 0 ? 'payout-1' : 'payment-1', position: at(number) });
  expect(counts.current()).toEqual({ 'payment-': 20_000, 'payout-': 5_000 });
  expect(counts.at(at(24_999))).toEqual({ 'payment-': 20_000, 'payout-': 4_999 });
  expect(counts.at(at(20_000))).toEqual({ 'payment-': 16_000, 'payout-': 4_000 });
  expect(counts.at(beginning)).toBeUndefined();
});
