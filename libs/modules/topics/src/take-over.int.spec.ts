import type { EventStore } from '@tollgate/event-store';
import { temporaryStore } from '@tollgate/event-store/testing';
import { type Clock, type Log, silentLog } from '@tollgate/service-kit';
import { eventually } from '@tollgate/testing';
import { beforeEach, expect, it } from 'vitest';
import { checkpointStream } from './checkpoint.ts';
import { expectPublishedOnce, untilAllArePublished, recordPayment } from './testing/expect-published.ts';
import { createHolder, hastyClock, startPublisher } from './testing/holder.ts';
import { type MemoryBus, createMemoryBus } from './testing/memory-bus.ts';

let store: EventStore;
let memory: MemoryBus;

beforeEach(async () => {
  store = await temporaryStore();
  memory = createMemoryBus();
});

const record = (token: string) => recordPayment(store, token);

/** Collects the logged codes, and sleeps until it is stopped: one failure is enough. */
function watched() {
  const codes: (string | undefined)[] = [];
  const log: Log = { ...silentLog, error: ({ code }) => void codes.push(code) };
  const clock: Clock = {
    ...hastyClock,
    sleep: (_durationMs, signal) =>
      new Promise((_resolve, reject) => signal?.addEventListener('abort', () => reject(signal.reason))),
  };
  return { codes, log, clock };
}

it('one that was suspended and continues after a take-over publishes nothing', async () => {
  const { codes, log, clock } = watched();
  const holder = createHolder({ store, bus: memory.bus });
  const old = startPublisher({ ...holder, log, clock });
  await record('pay_1');
  await untilAllArePublished(store, memory);
  holder.pause();
  await record('pay_2');
  startPublisher({ store, bus: memory.bus });
  await record('pay_3');
  await untilAllArePublished(store, memory);
  holder.goOn();
  await eventually(() => expect(codes).toEqual(['publisher_superseded']));
  await expectPublishedOnce(store, memory);
  expect(old.health().isAdvancing).toBe(false);
});

it('one that has lost its lease begins no further send', async () => {
  const holder = createHolder({ store, bus: memory.bus });
  let sends = 0;
  const publish: typeof memory.bus.publish = async (...given) => {
    sends += 1;
    await memory.bus.publish(...given);
  };
  const old = startPublisher({ store: holder.store, bus: { ...holder.bus, publish } });
  await eventually(() => expect(old.health().isAdvancing).toBe(true));
  const { read } = holder.store;
  let proofs = 0;
  // The lease is lost during the proof that no other process has taken over.
  holder.store.read = async function* (stream, options) {
    if (stream !== checkpointStream) return yield* read(stream, options);
    old.abort();
    proofs += 1;
    yield* read(stream, options);
  };
  await record('pay_1');
  await eventually(() => expect(proofs).toBe(1));
  await old.stop();
  expect(sends).toBe(0);
  startPublisher({ store, bus: memory.bus });
  await expectPublishedOnce(store, memory);
});

it('a slow proof, as after a suspension, is repeated', async () => {
  const { codes, log, clock } = watched();
  let now = 0;
  let slowReads = 2;
  const slowStore: EventStore = {
    ...store,
    async *read(stream, options) {
      if (stream === checkpointStream && slowReads-- > 0) now += 2_000;
      yield* store.read(stream, options);
    },
  };
  startPublisher({ store: slowStore, bus: memory.bus, log, clock: { ...clock, monotonic: () => now } });
  await record('pay_1');
  await untilAllArePublished(store, memory);
  expect(codes).toEqual([]);
});

it('without a timely proof, nothing is published', async () => {
  const { codes, log, clock } = watched();
  let now = 0;
  const slowStore: EventStore = {
    ...store,
    async *read(stream, options) {
      if (stream === checkpointStream) now += 2_000;
      yield* store.read(stream, options);
    },
  };
  startPublisher({ store: slowStore, bus: memory.bus, log, clock: { ...clock, monotonic: () => now } });
  await record('pay_1');
  await eventually(() => expect(codes).toEqual(['store_too_slow']));
  expect(memory.count()).toBe(0);
});

it('two publishers that both believe to be alone lose nothing, and first occurrences are in order', async () => {
  const publishers = [1, 2].map(() => startPublisher({ store, bus: memory.bus }));
  await Promise.all(Array.from({ length: 12 }, (_, number) => record(`pay_${number}`)));
  await untilAllArePublished(store, memory);
  await Promise.all(publishers.map(({ stop }) => stop()));
  startPublisher({ store, bus: memory.bus });
  await record('pay_last');
  await eventually(() =>
    expect(memory.recordsOf('gateway.payments.v1').filter(({ key }) => key === 'pay_last')).toHaveLength(4),
  );
  const sequences = new Map<string, Set<number>>();
  for (const { key, headers } of memory.recordsOf('gateway.payments.v1'))
    sequences.set(key, (sequences.get(key) ?? new Set()).add(Number(headers['ce_sequence'])));
  expect([...sequences.values()].map((each) => [...each])).toEqual(
    Array.from({ length: 13 }, () => [0, 1, 2, 3]),
  );
});
