import { systemIds } from '@tollgate/service-kit';
import { createFakeClock, type FakeClock } from '@tollgate/testing';
import { describe, expect, it, onTestFinished } from 'vitest';
import { StoreUnavailable } from './errors.ts';
import type { EventStore } from './event-store.ts';
import { runUnderLease, type LeaseOptions } from './lease.ts';
import { readAll } from './testing/given-events.ts';
import { temporaryStore } from './testing/temporary-store.ts';

const durationMs = 9_000;
const waiting = { timeout: 10_000, interval: 2 };

interface Candidate {
  /** Whether its work runs now. */
  isWorking(): boolean;
  timesStarted(): number;
  stop(): Promise<void>;
  finishWork(): void;
  failWork(error: Error): void;
  ended: Promise<void>;
}

/** Runs for the lease, with work that runs until its signal is aborted or the spec ends it. */
function candidate(options: Partial<LeaseOptions> & { store: EventStore; clock: FakeClock }): Candidate {
  const controller = new AbortController();
  let work: PromiseWithResolvers<undefined> | undefined;
  let timesStarted = 0;
  const defaults = {
    ids: systemIds,
    name: 'publisher',
    holder: 'one',
    durationMs,
    signal: controller.signal,
  };
  const ended = runUnderLease({ ...defaults, ...options }, async (signal) => {
    const running = (work = Promise.withResolvers<undefined>());
    timesStarted += 1;
    signal.addEventListener('abort', () => running.resolve(undefined));
    await running.promise.finally(() => (work = undefined));
  });
  ended.catch(() => {});
  const stop = () => {
    controller.abort();
    return ended;
  };
  onTestFinished(() => stop().catch(() => {}));
  return {
    isWorking: () => work !== undefined,
    timesStarted: () => timesStarted,
    stop,
    finishWork: () => work?.resolve(undefined),
    failWork: (error) => work?.reject(error),
    ended,
  };
}

const working = (each: Candidate) => expect.poll(() => each.isWorking(), waiting).toBe(true);
const notWorking = (each: Candidate) => expect.poll(() => each.isWorking(), waiting).toBe(false);

/** Advances time in small steps, each when all are idle, until the condition holds. Returns the elapsed time. */
async function passTime(
  clock: FakeClock,
  sleepers: number,
  until: () => boolean,
  stepsMax = 100,
): Promise<number> {
  const startedAt = clock.monotonic();
  for (let step = 0; step < stepsMax && !until(); step += 1) {
    await expect.poll(() => clock.sleeperCount() >= sleepers || until(), waiting).toBe(true);
    if (!until()) await clock.advance(durationMs / 30);
  }
  expect(until()).toBe(true);
  return clock.monotonic() - startedAt;
}

/** A store whose appends fail while `isDown` returns true. */
function failing(store: EventStore, isDown: () => boolean, afterWriting = false): EventStore {
  return {
    ...store,
    append: async (...append) => {
      if (isDown() && afterWriting) await store.append(...append);
      if (isDown()) throw new StoreUnavailable('store_busy', 'The store is down in this test.');
      return store.append(...append);
    },
  };
}

/** A store, and a clock that stands still while the store works. */
async function given() {
  const kept = await temporaryStore();
  const clock = createFakeClock();
  let underWay = 0;
  const during = async <Result>(work: Promise<Result>) => {
    underWay += 1;
    return work.finally(() => (underWay -= 1));
  };
  const store: EventStore = {
    ...kept,
    append: (...append) => during(kept.append(...append)),
    async *read(...read) {
      yield* await during(Array.fromAsync(kept.read(...read)));
    },
  };
  return { store, clock: { ...clock, sleeperCount: () => (underWay > 0 ? 0 : clock.sleeperCount()) } };
}

const leaseEvents = (store: EventStore) => readAll(store, 'lease-publisher');

describe('a lease', () => {
  it('lets one of several candidates work', async () => {
    const { store, clock } = await given();
    const candidates = ['a', 'b', 'c'].map((holder) => candidate({ store, clock, holder }));
    await expect.poll(() => candidates.filter((each) => each.isWorking()).length, waiting).toBe(1);
    const startedBefore = () => candidates.reduce((sum, each) => sum + each.timesStarted(), 0);
    let steps = 0;
    await passTime(clock, 3, () => (steps += 1) > 60);
    expect(startedBefore()).toBe(1);
    expect(await leaseEvents(store)).toHaveLength(1);
  });

  it('passes to a standby soon after its release', async () => {
    const { store, clock } = await given();
    const first = candidate({ store, clock });
    await working(first);
    const second = candidate({ store, clock });
    await first.stop();
    expect(await passTime(clock, 1, second.isWorking)).toBeLessThan(durationMs / 5);
  });

  it('passes to a standby if the holder does not renew it in time', async () => {
    const { store, clock } = await given();
    await working(candidate({ store, clock: createFakeClock() }));
    const second = candidate({ store, clock });
    const passedMs = await passTime(clock, 1, second.isWorking);
    expect(passedMs).toBeGreaterThanOrEqual(durationMs);
    expect(passedMs).toBeLessThan(1.3 * durationMs);
  });

  it('is taken at once from a holder that has ended', async () => {
    const { store, clock } = await given();
    await working(candidate({ store, clock: createFakeClock(), holder: 'pid 4711' }));
    const second = candidate({ store, clock, holder: 'pid 4712', isGone: (holder) => holder === 'pid 4711' });
    await working(second);
    expect(clock.monotonic()).toBe(0);
  });

  it('is not taken over without need from a holder of the same name', async () => {
    const { store, clock } = await given();
    const [first, second] = [candidate({ store, clock }), candidate({ store, clock })];
    await expect.poll(() => first.isWorking() || second.isWorking(), waiting).toBe(true);
    let steps = 0;
    await passTime(clock, 2, () => (steps += 1) > 40);
    expect(first.timesStarted() + second.timesStarted()).toBe(1);
  });

  it('ends the work of a holder that was considered dead, which then stands by', async () => {
    const { store, clock } = await given();
    const first = candidate({ store, clock });
    await working(first);
    const second = candidate({ store, clock, isGone: () => true, holder: 'two' });
    await working(second);
    await passTime(clock, 2, () => !first.isWorking());
    await second.stop();
    await passTime(clock, 1, first.isWorking);
    expect(first.timesStarted()).toBe(2);
  });

  // A renewal without an answer once outlasted the lease, and so did the work.
  it.each([
    ['cannot be written', () => Promise.reject(new StoreUnavailable('store_busy', 'down'))],
    ['does not answer', () => new Promise<never>(() => {})],
  ])('ends the work before it expires when the store %s, and takes it up again', async (_, fail) => {
    const { store, clock } = await given();
    let isDown = false;
    const append: EventStore['append'] = (...given) => (isDown ? fail() : store.append(...given));
    const holder = candidate({ store: { ...store, append }, clock });
    await working(holder);
    isDown = true;
    expect(await passTime(clock, 1, () => !holder.isWorking())).toBeLessThan(durationMs);
    isDown = false;
    await passTime(clock, 1, holder.isWorking);
  });

  it("lasts from its request, not from the store's answer", async () => {
    const { store, clock } = await given();
    let isDown = false;
    const append: EventStore['append'] = async (...given) => {
      const answer = await failing(store, () => isDown).append(...given);
      isDown = true;
      await clock.sleep((2 / 3) * durationMs);
      return answer;
    };
    const holder = candidate({ store: { ...store, append }, clock });
    await passTime(clock, 1, holder.isWorking);
    await passTime(clock, 1, () => !holder.isWorking());
    expect(clock.monotonic()).toBeLessThan(durationMs);
  });

  it('is kept by a holder whose renewal was written although its answer was lost', async () => {
    const { store, clock } = await given();
    let isDown = false;
    const holder = candidate({ store: failing(store, () => isDown, true), clock });
    await working(holder);
    isDown = true;
    await expect.poll(() => clock.sleeperCount(), waiting).toBe(1);
    await clock.advance(durationMs / 3);
    await expect.poll(() => clock.sleeperCount(), waiting).toBe(1);
    isDown = false;
    let steps = 0;
    await passTime(clock, 1, () => (steps += 1) > 60);
    expect(holder.timesStarted()).toBe(1);
    expect(holder.isWorking()).toBe(true);
  });

  // It lasted from the repeat, which the store recognized, while others counted from the first write.
  it('lasts from when its renewal was sent first, however often it is repeated', async () => {
    const { store, clock } = await given();
    let isDown = false;
    let isLostOnce = false;
    const append: EventStore['append'] = async (...given) => {
      const isRenewal = given[1][0]?.type === 'LeaseRenewed';
      const isLost = isRenewal && !isLostOnce;
      if (isRenewal && isLostOnce && isDown) throw new StoreUnavailable('store_busy', 'The store is down.');
      const answer = await store.append(...given);
      if (isRenewal) isDown = isLostOnce;
      isLostOnce ||= isRenewal;
      if (isLost) throw new StoreUnavailable('store_busy', 'The answer is lost in this test.');
      return answer;
    };
    const holder = candidate({ store: { ...store, append }, clock });
    await working(holder);
    const writtenFirst = durationMs / 3;
    await passTime(clock, 1, () => !holder.isWorking());
    expect(isDown).toBe(true);
    expect(clock.monotonic()).toBeLessThan(writtenFirst + durationMs);
  });

  it('is held by a process whose acquisition was written although its answer was lost', async () => {
    const { store, clock } = await given();
    let isDown = true;
    const holder = candidate({ store: failing(store, () => isDown, true), clock });
    await expect.poll(() => clock.sleeperCount(), waiting).toBe(1);
    isDown = false;
    expect(await passTime(clock, 1, holder.isWorking)).toBeLessThan(durationMs / 5);
  });

  it('of a dead holder ends in time even if the clock of the others was set back', async () => {
    const { store, clock } = await given();
    await working(candidate({ store, clock: createFakeClock() }));
    const setBack = { ...clock, now: () => clock.now() - 3_600_000 };
    const second = candidate({ store, clock: setBack });
    expect(await passTime(clock, 1, second.isWorking)).toBeLessThan(1.3 * durationMs);
  });
});

describe('the end of runUnderLease', () => {
  it('comes when the work has ended by itself, and releases the lease', async () => {
    const { store, clock } = await given();
    const holder = candidate({ store, clock });
    await working(holder);
    holder.finishWork();
    await holder.ended;
    expect(await leaseEvents(store)).toEqual([expect.objectContaining({ type: 'LeaseReleased' })]);
  });

  it('comes with the error of the work, and releases the lease', async () => {
    const { store, clock } = await given();
    const holder = candidate({ store, clock });
    await working(holder);
    holder.failWork(new Error('the work failed'));
    await expect(holder.ended).rejects.toThrow('the work failed');
    expect(await leaseEvents(store)).toEqual([expect.objectContaining({ type: 'LeaseReleased' })]);
  });

  it('comes without an error when it is stopped, working or standing by', async () => {
    const { store, clock } = await given();
    const first = candidate({ store, clock });
    await working(first);
    const second = candidate({ store, clock });
    await expect(second.stop()).resolves.toBeUndefined();
    await expect(first.stop()).resolves.toBeUndefined();
    await notWorking(first);
    expect(second.timesStarted()).toBe(0);
  });

  it('waits for work that is slow to end, and keeps the lease until then', async () => {
    const { store, clock } = await given();
    const [controller, work] = [new AbortController(), Promise.withResolvers<undefined>()];
    let isStarted = false;
    const options = { store, clock, ids: systemIds, name: 'publisher', durationMs };
    const ended = runUnderLease({ ...options, holder: 'slow', signal: controller.signal }, () => {
      isStarted = true;
      return work.promise;
    });
    await expect.poll(() => isStarted, waiting).toBe(true);
    const second = candidate({ store, clock, holder: 'two' });
    controller.abort();
    let steps = 0;
    await passTime(clock, 2, () => (steps += 1) > 60);
    expect(second.timesStarted()).toBe(0);
    work.resolve(undefined);
    await ended;
    await passTime(clock, 1, second.isWorking);
  });
});
