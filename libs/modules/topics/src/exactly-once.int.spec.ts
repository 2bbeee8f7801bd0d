/** Each event is on its topic exactly once, in stream order per key, and nothing else is, under any faults. */
import type { EventStore } from '@tollgate/event-store';
import { temporaryStore } from '@tollgate/event-store/testing';
import {
  type AnyEvent,
  anyDisputeHistory,
  anyHistory,
  anyPayoutHistory,
  appendEvents,
} from '@tollgate/views/testing';
import { eventually, propertyRuns } from '@tollgate/testing';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { type MemoryBus, createMemoryBus } from './testing/memory-bus.ts';
import { expectPublishedOnce, storedEvents, untilAllArePublished } from './testing/expect-published.ts';
import { type Holder, createHolder, startPublisher } from './testing/holder.ts';

type Step =
  | { kind: 'append'; stream: number; count: number }
  | { kind: 'fail'; written: number }
  | { kind: 'stop' }
  | { kind: 'kill' }
  | { kind: 'kill-at'; calls: number; isMade: boolean }
  | { kind: 'pause' }
  | { kind: 'settle' };

const anyStep: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constant('append' as const),
      stream: fc.nat(8),
      count: fc.integer({ min: 1, max: 9 }),
    }),
  },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('fail' as const), written: fc.nat(6) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('stop' as const) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('kill' as const) }) },
  {
    weight: 3,
    arbitrary: fc.record({ kind: fc.constant('kill-at' as const), calls: fc.nat(20), isMade: fc.boolean() }),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('pause' as const) }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('settle' as const) }) },
);
const anyHistories = fc.tuple(
  fc.array(anyHistory, { minLength: 3, maxLength: 3 }),
  fc.array(anyPayoutHistory, { minLength: 3, maxLength: 3 }),
  fc.array(anyDisputeHistory, { minLength: 3, maxLength: 3 }),
);

/** Replaces the publisher after each fault, as a lease would. */
function createReplicas(store: EventStore, memory: MemoryBus) {
  let current: { holder: Holder; publisher: ReturnType<typeof startPublisher> } | undefined;
  const paused: Holder[] = [];
  function replace(): void {
    const holder = createHolder({ store, bus: memory.bus });
    current = { holder, publisher: startPublisher(holder) };
  }
  replace();
  return {
    replace,
    current: () => current!,
    pause: () => {
      const { holder } = current!;
      holder.pause();
      paused.push(holder);
      replace();
    },
    /** Suspended ones continue, and find that others have taken over. */
    wakeUp: () => {
      for (const holder of paused.splice(0)) {
        holder.goOn();
        holder.killAt(2, true);
      }
    },
  };
}

async function happen(step: Step, { store, memory, replicas, append }: World): Promise<void> {
  const { holder, publisher } = replicas.current();
  if (step.kind === 'append') await append(step.stream, step.count);
  if (step.kind === 'fail') memory.failAfter(step.written);
  if (step.kind === 'stop') await Promise.race([publisher.stop(), holder.died]);
  if (step.kind === 'kill') holder.kill();
  if (step.kind === 'stop' || step.kind === 'kill') replicas.replace();
  if (step.kind === 'kill-at') holder.killAt(step.calls, step.isMade);
  if (step.kind === 'pause') replicas.pause();
  if (step.kind !== 'settle') return;
  const { length } = await storedEvents(store);
  await eventually(() => expect(holder.isDead() || memory.count() >= length).toBe(true), { intervalMs: 2 });
  if (holder.isDead()) replicas.replace();
}

interface World {
  store: EventStore;
  memory: MemoryBus;
  replicas: ReturnType<typeof createReplicas>;
  append: (stream: number, count: number) => Promise<void>;
}

function createWorld(store: EventStore, histories: readonly (readonly AnyEvent[][])[]): World {
  const memory = createMemoryBus(2);
  const streams = ['payment-pay', 'payout-po', 'dispute-dsp'].flatMap((name, kind) =>
    (histories[kind] ?? []).map((history, number) => ({ stream: `${name}_${number}`, rest: [...history] })),
  );
  const append = async (number: number, count: number) => {
    const { stream, rest } = streams[number]!;
    if (rest.length > 0) await appendEvents(store, stream, rest.splice(0, count));
  };
  return { store, memory, append, replicas: createReplicas(store, memory) };
}

it('through failing sends, restarts, kills at any call, and suspended publishers that wake up after a take-over', async () => {
  let faults = 0;
  await fc.assert(
    fc.asyncProperty(
      anyHistories,
      fc.array(anyStep, { minLength: 8, maxLength: 25 }),
      async (histories, steps) => {
        const world = createWorld(await temporaryStore(), histories);
        for (const step of steps) await happen(step, world);
        faults += steps.filter(({ kind }) => kind !== 'append' && kind !== 'settle').length;
        const { store, memory, replicas } = world;
        replicas.current().holder.kill();
        replicas.replace();
        await untilAllArePublished(store, memory);
        replicas.wakeUp();
        await world.append(0, 9);
        await expectPublishedOnce(store, memory);
        replicas.current().publisher.abort();
      },
    ),
    { numRuns: propertyRuns(20), endOnFailure: true },
  );
  expect(faults).toBeGreaterThan(20);
}, 120_000);
