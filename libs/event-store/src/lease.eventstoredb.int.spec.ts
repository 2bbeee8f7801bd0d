import { silentLog, systemIds } from '@tollgate/service-kit';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import type { EventStore } from './event-store.ts';
import { runUnderLease } from './lease.ts';
import { hideNext, hurried, hurriedClock, servedStore } from './testing/eventstoredb-store.ts';

vi.setConfig({ testTimeout: 60_000 });

const waiting = { timeout: 20_000, interval: 2 };
const isOfLease = ({ stream }: { stream: string }) => stream === 'lease-spec';

/** Current holders, and the maximum so far. */
function givenCandidates() {
  const working = new Set<string>();
  let atOnceMax = 0;
  function start(store: EventStore, holder: string) {
    const stopping = new AbortController();
    const lease = { store, clock: hurriedClock, ids: systemIds, log: silentLog, name: 'spec', holder };
    const ended = runUnderLease({ ...lease, signal: stopping.signal }, async (signal) => {
      if (signal.aborted) return;
      working.add(holder);
      atOnceMax = Math.max(atOnceMax, working.size);
      await new Promise((resolve) => signal.addEventListener('abort', resolve));
      working.delete(holder);
    });
    onTestFinished(async () => {
      stopping.abort();
      await ended;
    });
  }
  return { start, working: () => [...working], atOnceMax: () => atOnceMax };
}

describe('a lease whose acquisition is hidden by a leader without a quorum', () => {
  it.each(['shown', 'lost'] as const)('has one holder in the end, and none before: %s', async (fate) => {
    const { store, server, another } = await servedStore(hurried);
    const hidden = hideNext(server, isOfLease);
    const candidates = givenCandidates();
    candidates.start(store, 'one');
    await expect.poll(hidden.isHidden, waiting).toBe(true);
    candidates.start(await another(), 'two');
    // Each tries several times meanwhile.
    await hurriedClock.sleep(30_000);
    expect(candidates.working()).toEqual([]);
    hidden.decide(fate);
    await expect.poll(() => candidates.working().length, waiting).toBe(1);
    if (fate === 'shown') expect(candidates.working()).toEqual(['one']);
    await hurriedClock.sleep(30_000);
    expect(candidates.atOnceMax()).toBe(1);
  });
});

describe('a lease whose renewal is hidden by a leader without a quorum', () => {
  it.each(['shown', 'lost'] as const)('is never worked under by two: %s', async (fate) => {
    const { store, server, another } = await servedStore(hurried);
    const candidates = givenCandidates();
    candidates.start(store, 'one');
    await expect.poll(candidates.working, waiting).toEqual(['one']);
    const hidden = hideNext(server, isOfLease);
    candidates.start(await another(), 'two');
    await expect.poll(hidden.isHidden, waiting).toBe(true);
    await expect.poll(candidates.working, waiting).toEqual([]);
    hidden.decide(fate);
    await expect.poll(() => candidates.working().length, waiting).toBe(1);
    await hurriedClock.sleep(30_000);
    expect(candidates.atOnceMax()).toBe(1);
  });
});
