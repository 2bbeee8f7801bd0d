import type { EventStore } from '@tollgate/event-store';
import { type Clock, type Log, silentLog, systemClock, systemIds } from '@tollgate/service-kit';
import { onTestFinished } from 'vitest';
import { type EventPublisherDependencies, createEventPublisher } from '../event-publisher.ts';

/** Pauses after failures spare a store that is down, and would only slow a test. */
export const hastyClock: Clock = {
  ...systemClock,
  sleep: (durationMs, signal) => systemClock.sleep(durationMs / 50, signal),
};

export type Publishing = Pick<EventPublisherDependencies, 'store' | 'bus'> & { clock?: Clock; log?: Log };

/** A background publisher that is stopped when the test ends. */
export function startPublisher({ store, bus, clock = hastyClock, log = silentLog }: Publishing) {
  const publisher = createEventPublisher({ store, bus, clock, ids: systemIds, log });
  const stopping = new AbortController();
  const ended = publisher.run(stopping.signal);
  const stop = async () => {
    stopping.abort();
    await ended;
  };
  // Not waited for: one that was killed never ends.
  onTestFinished(() => stopping.abort());
  return { stop, abort: () => stopping.abort(), health: publisher.health };
}

export interface Holder {
  store: EventStore;
  bus: EventPublisherDependencies['bus'];
  /** From its next call on, none is made and none is answered, as after a kill. */
  kill(): void;
  isDead(): boolean;
  /** Resolves when it is killed. */
  died: Promise<unknown>;
  /** As `kill`, at its call number `calls` from now, made or not made. */
  killAt(calls: number, isMade: boolean): void;
  /** Calls of the store wait until it continues, as after a suspension. */
  pause(): void;
  goOn(): void;
}

const never = new Promise<never>(() => undefined);

/** The store and the bus of one process, which may be killed or suspended at any call. */
export function createHolder({ store, bus }: Pick<Publishing, 'store' | 'bus'>): Holder {
  let isDead = false;
  const death = Promise.withResolvers<undefined>();
  const die = () => {
    isDead = true;
    death.resolve(undefined);
  };
  let doom: { calls: number; isMade: boolean } | undefined;
  let gate = Promise.withResolvers<undefined>();
  gate.resolve(undefined);

  async function asAlive<Answer>(call: () => Promise<Answer>): Promise<Answer> {
    if (isDead) return never;
    const isLast = doom !== undefined && doom.calls-- <= 0;
    if (isLast) die();
    if (isLast && doom?.isMade === false) return never;
    const answer = await call();
    return isDead ? never : answer;
  }
  const ofStore = async <Answer>(call: () => Promise<Answer>): Promise<Answer> => {
    await gate.promise;
    return asAlive(call);
  };
  async function* guarded<Item>(items: AsyncIterable<Item>): AsyncIterable<Item> {
    await ofStore(async () => undefined);
    for await (const item of items) {
      await gate.promise;
      if (isDead) await never;
      yield item;
    }
  }

  return {
    store: {
      append: (...given) => ofStore(() => store.append(...given)),
      truncate: (...given) => ofStore(() => store.truncate(...given)),
      head: () => ofStore(() => store.head()),
      read: (...given) => guarded(store.read(...given)),
      subscribe: (...given) => guarded(store.subscribe(...given)),
      close: () => store.close(),
    },
    bus: {
      publish: (...given) => asAlive(() => bus.publish(...given)),
      lastPerPartition: (...given) => asAlive(() => bus.lastPerPartition(...given)),
      partitionOf: (...given) => asAlive(() => bus.partitionOf(...given)),
      address: () => asAlive(() => bus.address()),
    },
    kill: die,
    died: death.promise,
    isDead: () => isDead,
    killAt: (calls, isMade) => void (doom = { calls, isMade }),
    pause: () => void (gate = Promise.withResolvers<undefined>()),
    goOn: () => gate.resolve(undefined),
  };
}
