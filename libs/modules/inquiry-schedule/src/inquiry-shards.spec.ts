import { inquiryShards } from '@tollgate/core';
import { silentLog } from '@tollgate/service-kit';
import { createFakeClock } from '@tollgate/testing';
import { expect, it } from 'vitest';
import { type Place, runShards } from './inquiry-shards.ts';

const allShards = [...Array(inquiryShards).keys()];

/** Leases in memory: one holder per name; the next waiter gets it when it is free. */
function createLeases() {
  const holders = new Map<string, Promise<void>>();
  return async (name: string, signal: AbortSignal, work: (signal: AbortSignal) => Promise<void>) => {
    while (holders.has(name) && !signal.aborted) {
      const aborted = new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve()));
      await Promise.race([holders.get(name), aborted]);
    }
    if (signal.aborted) return;
    const working = work(signal).finally(() => holders.delete(name));
    holders.set(name, working);
    await working;
  };
}

function start({ runAlone = createLeases(), clock = createFakeClock(), place = { rank: 0, count: 1 } } = {}) {
  const working = new Set<number>();
  const current: { place: Place | undefined } = { place };
  const stopping = new AbortController();
  const schedule = {
    async runShard(shard: number, signal: AbortSignal) {
      working.add(shard);
      await new Promise((resolve) => signal.addEventListener('abort', resolve));
      working.delete(shard);
    },
  };
  const running = runShards(
    { schedule, place: () => current.place, runAlone, clock, log: silentLog },
    stopping.signal,
  );
  const stop = () => {
    stopping.abort();
    return running;
  };
  return { working: () => [...working].sort((a, b) => a - b), current, stop, clock, runAlone };
}

it('works on all shards if it is alone, and on none once it has stopped', async () => {
  const only = start();
  await only.clock.advance(0);
  expect(only.working()).toEqual(allShards);
  await only.stop();
  expect(only.working()).toEqual([]);
});

it('shares the shards with newcomers, and takes them back when they leave', async () => {
  const first = start();
  await first.clock.advance(0);
  const { clock, runAlone } = first;
  const second = start({ clock, runAlone, place: { rank: 1, count: 2 } });
  await clock.advance(2_000);
  // Until the first process has seen the second, it keeps its shards: no shard has two holders.
  expect([first.working(), second.working()]).toEqual([allShards, []]);
  first.current.place = { rank: 0, count: 2 };
  await clock.advance(2_000);
  expect(first.working()).toEqual(allShards.filter((shard) => shard % 2 === 0));
  expect(second.working()).toEqual(allShards.filter((shard) => shard % 2 === 1));
  await second.stop();
  first.current.place = { rank: 0, count: 1 };
  await clock.advance(2_000);
  expect(first.working()).toEqual(allShards);
  await first.stop();
});

// A process with an untrusted clock inquired nothing, and kept its shards from the others.
it('releases its shards while it is suspended from the work', async () => {
  const only = start();
  await only.clock.advance(0);
  only.current.place = undefined;
  await only.clock.advance(2_000);
  expect(only.working()).toEqual([]);
  only.current.place = { rank: 0, count: 1 };
  await only.clock.advance(2_000);
  expect(only.working()).toEqual(allShards);
  await only.stop();
});

it('takes a shard again whose lease has failed', async () => {
  const leases = createLeases();
  let failures = 3;
  const only = start({
    runAlone: (name, signal, work) =>
      failures-- > 0 ? Promise.reject(new Error('the store is down')) : leases(name, signal, work),
  });
  await only.clock.advance(0);
  expect(only.working()).toHaveLength(inquiryShards - 3);
  await only.clock.advance(2_000);
  expect(only.working()).toEqual(allShards);
  await only.stop();
});
