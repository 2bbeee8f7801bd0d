import { type EventStore } from '@tollgate/event-store';
import { openStoreInThread, temporaryFile, temporaryStore } from '@tollgate/event-store/testing';
import { checkpointStream, viewStreamOf, createProjector } from '@tollgate/views';
import {
  anyDisputeHistory,
  anyHistory,
  anyPayoutHistory,
  disputeHappening,
  disputeOpened,
  happening,
  payoutHappening,
  payoutRequested,
  requested,
  type AnyEvent,
  appendEvents,
} from '@tollgate/views/testing';
import { silentLog, systemClock, systemIds } from '@tollgate/service-kit';
import { propertyRuns } from '@tollgate/testing';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  checkpointIn,
  expectRebuiltIsStored,
  failing,
  projected,
  startProjector,
} from './testing/projected.ts';

const { accepted } = happening;

describe('payouts and disputes are projected as payments are', () => {
  const { accepted: paid, secondFound, unresolved: lost } = payoutHappening;

  test('under one checkpoint, one view of each kept', async () => {
    const store = await temporaryStore();
    const projector = startProjector(store);
    const streams = ['payment-x1', 'payout-x1', 'dispute-x1'];
    await appendEvents(store, 'payment-x1', [requested(), accepted]);
    await appendEvents(store, 'payout-x1', [payoutRequested(), lost]);
    await appendEvents(store, 'dispute-x1', [disputeOpened()]);
    await projected(store, projector);
    await appendEvents(store, 'payout-x1', [secondFound, paid, secondFound]);
    const { position } = await appendEvents(store, 'dispute-x1', [disputeHappening.matched]);
    await projected(store, projector);
    await expectRebuiltIsStored(store, streams);
    expect((await checkpointIn(store))!.position >= position).toBe(true);
    for (const stream of streams)
      expect(await Array.fromAsync(store.read(viewStreamOf(stream)))).toHaveLength(1);
    expect(await Array.fromAsync(store.read(checkpointStream))).toHaveLength(1);
    expect(projector.health()).toMatchObject({ failedStreams: [], isAdvancing: true });
  });

  interface Step {
    stream: string;
    count: number;
    /** The fate of the n-th append of the projector after this step. */
    crash: { at: number; when: 'before' | 'after' } | undefined;
  }

  const streams = ['payment-x1', 'payment-x2', 'payout-x1', 'payout-x2', 'dispute-x1'];
  const anyStep: fc.Arbitrary<Step> = fc.record({
    stream: fc.constantFrom(...streams),
    count: fc.integer({ min: 1, max: 4 }),
    crash: fc.option(
      fc.record({ at: fc.nat(4), when: fc.constantFrom('before' as const, 'after' as const) }),
      { nil: undefined },
    ),
  });
  const anyHistories = fc.tuple(
    anyHistory,
    anyHistory,
    anyPayoutHistory,
    anyPayoutHistory,
    anyDisputeHistory,
  );

  test('incrementally, through crashes and restarts, as rebuilt from zero, byte for byte', async () => {
    await fc.assert(
      fc.asyncProperty(
        anyHistories,
        fc.array(anyStep, { minLength: 1, maxLength: 6 }),
        async (histories, steps) => {
          const store = await openStoreInThread({ file: await temporaryFile() });
          const left = new Map<string, AnyEvent[]>(
            streams.map((stream, index) => [stream, [...histories[index]!]]),
          );
          for (const { stream, count, crash } of steps) {
            const events = left.get(stream)!.splice(0, count);
            if (events.length > 0) await appendEvents(store, stream, events);
            let appends = -1;
            const crashing = failing(store, () => ((appends += 1) === crash?.at ? crash.when : undefined));
            await runUntilCrashOrEnd(store, crashing);
          }
          await runUntilCrashOrEnd(store, store);
          const begun = streams.filter(
            (stream, index) => left.get(stream)!.length < histories[index]!.length,
          );
          await expectRebuiltIsStored(store, begun);
          await store.close();
        },
      ),
      { numRuns: propertyRuns(8) },
    );
  });

  /** One life of a process: it ends when all is projected, or at the first failure. */
  async function runUntilCrashOrEnd(store: EventStore, used: EventStore): Promise<void> {
    const ending = new AbortController();
    const log = { ...silentLog, error: () => ending.abort() };
    const projector = createProjector({
      store: used,
      clock: systemClock,
      ids: systemIds,
      log,
      batchEventsMax: 3,
    });
    const running = projector.run(ending.signal);
    await Promise.race([running, projected(store, projector)]);
    ending.abort();
    await running;
  }
});
