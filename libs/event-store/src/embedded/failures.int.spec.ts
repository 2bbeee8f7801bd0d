import type { Worker } from 'node:worker_threads';
import { describe, expect, it } from 'vitest';
import { StoreUnavailable } from '../errors.ts';
import { freshStream, givenEvent, givenEvents, readData } from '../testing/given-events.ts';
import { probe } from '../testing/subscription-probe.ts';
import { threadedStore } from '../testing/temporary-store.ts';

const pageCountMax = 60;

/** Appends until the store reports a full disk; returns that error and the number of events. */
async function fillDisk(store: Awaited<ReturnType<typeof threadedStore>>, stream: string) {
  for (let taken = 0; taken < 1_000; taken += 1) {
    try {
      await store.append(stream, [givenEvent('x'.repeat(4_000)), givenEvent('y'.repeat(4_000))], 'any');
    } catch (error) {
      return { error, taken };
    }
  }
  throw new Error('the disk never became full');
}

describe('a full disk', () => {
  it('rejects the append as retryable and leaves nothing of it', async () => {
    const store = await threadedStore({ testing: { pageCountMax } });
    const { error, taken } = await fillDisk(store, 'filler-1');
    expect(error).toBeInstanceOf(StoreUnavailable);
    expect(error).toMatchObject({ code: 'store_full', retryable: true });
    expect(taken).toBeGreaterThan(0);
    expect(await readData(store, 'filler-1')).toHaveLength(2 * taken);
  });

  it('rejects all appends of the commit that did not fit, and each can be repeated when there is space again', async () => {
    const store = await threadedStore({ testing: { pageCountMax } });
    await fillDisk(store, 'filler-1');
    const repeats = Array.from({ length: 5 }, () => ({
      stream: freshStream(),
      events: [givenEvent('z'.repeat(9_000))],
    }));
    const append = () =>
      Promise.allSettled(repeats.map(({ stream, events }) => store.append(stream, events, 'no-stream')));
    expect((await append()).map((outcome) => outcome.status)).toEqual(repeats.map(() => 'rejected'));
    expect(store.isReachable()).toBe(false);
    await store.truncate('filler-1', pageCountMax);
    expect((await append()).map((outcome) => outcome.status)).toEqual(repeats.map(() => 'fulfilled'));
    expect(store.isReachable()).toBe(true);
    for (const { stream } of repeats) expect(await readData(store, stream)).toHaveLength(1);
  });

  it('leaves subscriptions running', async () => {
    const store = await threadedStore({ testing: { pageCountMax } });
    const subscription = probe(store, { prefixes: ['filler-'] });
    const { taken } = await fillDisk(store, 'filler-1');
    await expect.poll(() => subscription.events().length, { timeout: 10_000, interval: 2 }).toBe(2 * taken);
    await subscription.stop();
  });
});

describe('a writer thread that dies', () => {
  it('is reported once, and an intended end is not', async () => {
    let worker: Worker | undefined;
    const reports: string[] = [];
    const onWriterStopped = ({ code }: StoreUnavailable) => reports.push(code);
    const store = await threadedStore({ onWriterStopped, testing: { onWorker: (each) => (worker = each) } });
    await worker?.terminate();
    await expect.poll(() => reports, { timeout: 10_000, interval: 2 }).toEqual(['store_writer_stopped']);
    await store.close();
    await (await threadedStore({ onWriterStopped })).close();
    expect(reports).toHaveLength(1);
  });

  it('rejects the appends under way and all later ones with its own code', async () => {
    let worker: Worker | undefined;
    const store = await threadedStore({ testing: { onWorker: (each) => (worker = each) } });
    await store.append('payment-1', givenEvents(1), 'no-stream');
    // Posted before the thread ends, and never answered: the thread ends between two messages.
    const ended = worker?.terminate();
    const underWay = Array.from({ length: 3 }, () => store.append('payment-1', givenEvents(1), 'any'));
    const outcomes = await Promise.allSettled(underWay);
    await ended;
    const stopped = {
      status: 'rejected',
      reason: expect.objectContaining({ code: 'store_writer_stopped', retryable: false }),
    };
    expect(outcomes).toEqual([stopped, stopped, stopped]);
    await expect(store.append('payment-1', givenEvents(1), 'any')).rejects.toMatchObject({
      code: 'store_writer_stopped',
    });
    expect(await readData(store, 'payment-1')).toEqual([0]);
  });
});
