import { temporaryStore } from '@tollgate/event-store/testing';
import { type Clock, silentLog, systemIds } from '@tollgate/service-kit';
import { createFakeClock, eventually } from '@tollgate/testing';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createClockCheck, storeTime } from './clock-check.ts';

/** A process whose clock is so far ahead of the store's. */
async function startCheck({ aheadMs = 0, appendMs = 0, answerMs = 0, skewMaxMs = 20_000 } = {}) {
  const storeClock = createFakeClock();
  const storeSkew = { aheadMs: 0 };
  const store = await temporaryStore({
    clock: { ...storeClock, now: () => storeClock.now() + storeSkew.aheadMs },
  });
  const skew = { aheadMs };
  /** How long an append is on its way, and its answer. */
  const delay = { appendMs, answerMs };
  const clock: Clock = { ...storeClock, now: () => storeClock.now() + skew.aheadMs };
  const warnings: string[] = [];
  let [isDown, isGone] = [false, false];
  const slow: typeof store = {
    ...store,
    async append(...append) {
      await storeClock.advance(delay.appendMs);
      if (isDown) throw new Error('the store is down');
      const appended = await store.append(...append);
      await storeClock.advance(delay.answerMs);
      return appended;
    },
    async *read(...read) {
      if (!isGone) yield* store.read(...read);
    },
  };
  const log = { ...silentLog, warn: (_: unknown, text?: string) => void warnings.push(text ?? '') };
  const check = createClockCheck({ store: slow, skewMaxMs, clock, ids: systemIds, log });
  const stopping = new AbortController();
  const running = check.run(stopping.signal);
  onTestFinished(async () => {
    stopping.abort();
    await running;
  });
  const compared = () => eventually(() => expect(storeClock.sleeperCount()).toBe(1));
  return {
    ...{ check, skew, storeSkew, delay, store, compared, clock, storeClock, warnings },
    setGone: (gone: boolean) => (isGone = gone),
    setDown: (down: boolean) => (isDown = down),
    async compareAgain() {
      await compared();
      await storeClock.advance(30_000);
      await compared();
    },
  };
}

// Two processes whose clocks were 45 s apart gave each other's lost answers up too early: second attempts, false reviews.
describe('the clock of this process', () => {
  it.each([0, 20_000, -20_000])('is trusted where it is %d ms ahead of the store', async (aheadMs) => {
    const { check, compared } = await startCheck({ aheadMs });
    await compared();
    expect([check.skewMs(), check.isTrusted()]).toEqual([aheadMs, true]);
  });

  it.each([20_001, -20_001, 3_600_000])(
    'is not trusted where it is %d ms ahead of the store',
    async (aheadMs) => {
      const { check, compared } = await startCheck({ aheadMs });
      await compared();
      expect([check.skewMs(), check.isTrusted()]).toEqual([aheadMs, false]);
    },
  );

  it('is not trusted before it was compared', async () => {
    const { check, setDown, compared, compareAgain } = await startCheck();
    expect([check.skewMs(), check.isTrusted()]).toEqual([undefined, false]);
    setDown(true);
    await compared();
    expect(check.isTrusted()).toBe(false);
    setDown(false);
    await compareAgain();
    expect(check.isTrusted()).toBe(true);
  });

  it('that jumps is not trusted at once, and trusted again when it is right', async () => {
    const { check, skew, compared, compareAgain } = await startCheck();
    await compared();
    skew.aheadMs = -60_000;
    expect([check.skewMs(), check.isTrusted()]).toEqual([-60_000, false]);
    await compareAgain();
    expect(check.isTrusted()).toBe(false);
    skew.aheadMs = 0;
    expect(check.isTrusted()).toBe(true);
  });

  // A process whose clock had fallen behind announced calls whose windows were over for everybody else: another one gave
  // them up half a second later, while they were under way (found by the simulation, seeds 6 and 147).
  it('that jumps does not move the time by which calls are announced and given up', async () => {
    const { check, skew, clock, storeClock, compared } = await startCheck({ aheadMs: 8_000 });
    await compared();
    const time = storeTime(clock, check);
    for (const aheadMs of [8_000, -56_000.4, 4 * 3_600_000]) {
      skew.aheadMs = aheadMs;
      expect(time.now()).toBe(storeClock.now());
    }
  });

  // The monotonic clock of a machine that was suspended has not counted that time, and ours of the store goes on with it.
  it('is compared at once when it has gone on without the monotonic one', async () => {
    const { check, skew, store, compared } = await startCheck();
    await compared();
    skew.aheadMs = 60_000;
    check.skewMs();
    await eventually(async () => expect(await Array.fromAsync(store.read('clock-check'))).toHaveLength(2));
  });

  it('is not known from a sleep of its machine until it is compared again, also where the store is down', async () => {
    const { check, skew, compared, setDown, storeClock } = await startCheck();
    expect(check.isKnown()).toBe(false);
    await compared();
    expect(check.isKnown()).toBe(true);
    setDown(true);
    skew.aheadMs = 60_000;
    expect(check.isKnown()).toBe(false);
    await compared();
    expect(check.isKnown()).toBe(false);
    setDown(false);
    await eventually(async () => {
      await storeClock.advance(1_000);
      expect(check.isKnown()).toBe(true);
    });
  });

  it('is compared by what is known last while the store is down', async () => {
    const { check, setDown, skew, compared, compareAgain } = await startCheck();
    await compared();
    setDown(true);
    await compareAgain();
    expect([check.skewMs(), check.isTrusted()]).toEqual([0, true]);
    skew.aheadMs = 60_000;
    expect(check.isTrusted()).toBe(false);
  });

  it('is not blamed for a store that answers slowly', async () => {
    const { check, compared } = await startCheck({ appendMs: 5_000 });
    await compared();
    expect([check.skewMs(), check.isTrusted()]).toEqual([0, true]);
  });

  // Where a few milliseconds of skew are tolerated, no answer of a store across a network would have told the time.
  it('is compared by whatever skew is tolerated', async () => {
    const { check, compared } = await startCheck({ appendMs: 50, skewMaxMs: 5 });
    await compared();
    expect([check.isKnown(), check.isTrusted()]).toEqual([true, true]);
  });

  // Two that were stopped for 20 s while they compared, each on another way, were 40 s apart and trusted: what the one announced was over
  // for the other before it was sent (found by attack).
  it('is known so well that two that were stopped while they compared are 10 s apart at most', async () => {
    const slow = [
      await startCheck({ aheadMs: -20_000, answerMs: 5_000 }),
      await startCheck({ aheadMs: 20_000, appendMs: 5_000 }),
    ];
    const wrong = [];
    for (const { check, compared, clock, storeClock } of slow) {
      await compared();
      expect(check.isKnown()).toBe(true);
      wrong.push(storeTime(clock, check).now() - storeClock.now());
    }
    expect(wrong).toEqual([-5_000, 5_000]);
  });

  // The time that it had known to a millisecond went astray by one slow comparison, and came back with the next (found by attack).
  it.each(['appendMs', 'answerMs'] as const)(
    'is known no worse after a slow comparison (%s), unless it has jumped',
    async (what) => {
      const { check, skew, delay, clock, storeClock, compared, compareAgain } = await startCheck({
        aheadMs: what === 'appendMs' ? 19_000 : -3_600_000,
      });
      await compared();
      const time = storeTime(clock, check);
      delay[what] = 5_000;
      await compareAgain();
      expect([check.isKnown(), time.now() - storeClock.now()]).toEqual([true, 0]);
      skew.aheadMs *= 2;
      expect(check.isKnown()).toBe(false);
      await compared();
      expect([check.isKnown(), Math.abs(time.now() - storeClock.now())]).toEqual([true, 5_000]);
      delay[what] = 0;
      await compareAgain();
      expect(time.now() - storeClock.now()).toBe(0);
      delay[what] = 5_000;
      await storeClock.advance(30_000);
      skew.aheadMs += 1;
      await compared();
      expect(time.now() - storeClock.now()).toBe(0);
    },
  );

  it.each([-60_000, 60_000])(
    'follows the clock of the store that was set by %d ms, also by a slow comparison',
    async (aheadMs) => {
      const { check, storeSkew, delay, clock, storeClock, compared, compareAgain } = await startCheck();
      await compared();
      storeSkew.aheadMs = aheadMs;
      delay.answerMs = 5_000;
      await compareAgain();
      const wrongMs = storeTime(clock, check).now() - (storeClock.now() + aheadMs);
      expect(Math.abs(wrongMs)).toBeLessThanOrEqual(5_000);
    },
  );

  // Nothing was announced, and nobody was told but by one line of the log; it kept its share of the inquiries, which it could not call over
  // (found by attack).
  it('that has not been known for ten seconds is wrong, leaves what is due to others, and is logged again', async () => {
    const { check, skew, delay, storeClock, compared, warnings } = await startCheck();
    await compared();
    delay.appendMs = 5_001;
    skew.aheadMs = 5_000;
    expect([check.isKnown(), check.isTrusted(), check.isWrong()]).toEqual([false, true, false]);
    await compared();
    for (let round = 0; round < 2; round += 1) {
      await storeClock.advance(1_000);
      await compared();
    }
    expect([check.isKnown(), check.isTrusted(), check.isWrong()]).toEqual([false, false, true]);
    expect(warnings).toEqual(['the clocks could not be compared']);
    for (let round = 0; round < 51; round += 1) {
      await storeClock.advance(1_000);
      await compared();
    }
    expect(warnings).toHaveLength(2);
    delay.appendMs = 0;
    await storeClock.advance(1_000);
    await eventually(() =>
      expect([check.isKnown(), check.isTrusted(), check.isWrong()]).toEqual([true, true, false]),
    );
  });

  // The store's clock was set back by a minute, and the path of one process to it was slow: it went on by the time of before for as long
  // as that lasted, and gave up what others announced before it was sent (found by attack).
  it('is known for about a minute after a comparison, whatever its own clocks say', async () => {
    const { check, delay, storeClock, compared } = await startCheck();
    await compared();
    delay.appendMs = 5_001;
    await storeClock.advance(30_000);
    for (let ms = 35_000; ms < 65_000; ms += 6_001) {
      await compared();
      expect([check.isKnown(), check.isTrusted()]).toEqual([true, true]);
      await storeClock.advance(1_000);
    }
    await compared();
    expect(check.isKnown()).toBe(false);
    for (let round = 0; round < 3; round += 1) {
      await storeClock.advance(1_000);
      await compared();
    }
    expect([check.isTrusted(), check.isWrong()]).toEqual([false, true]);
    delay.appendMs = 0;
    await storeClock.advance(1_000);
    await eventually(() => expect([check.isKnown(), check.isTrusted()]).toEqual([true, true]));
  });

  // Both clocks count whole milliseconds: of one machine, four of five readings were not 0 (found by attack).
  it.each([
    [0.9, 0],
    [-1, 0],
    [1.5, 1.5],
  ])('is apart by no more than can be measured where it is %d ms ahead', async (aheadMs, shownMs) => {
    const { check, compared } = await startCheck({ aheadMs });
    await compared();
    expect(check.skewMs()).toBe(shownMs);
  });

  it('that could not be compared since its start is wrong after ten seconds', async () => {
    const { check, storeClock, compared } = await startCheck({ appendMs: 5_001 });
    expect(check.isWrong()).toBe(false);
    await compared();
    await storeClock.advance(1_000);
    await compared();
    expect([check.skewMs(), check.isWrong()]).toEqual([undefined, true]);
  });

  // Each of them pushed out the events of others, which then compared without a pause, too (found by attack).
  it('is compared with a pause also where what it wrote is gone', async () => {
    const { check, skew, store, compared, setGone } = await startCheck();
    await compared();
    setGone(true);
    skew.aheadMs = 5_000;
    expect(check.isKnown()).toBe(false);
    await compared();
    expect(await Array.fromAsync(store.read('clock-check'))).toHaveLength(2);
    expect(check.isKnown()).toBe(false);
  });

  // Its clock had been set back by an hour, and it was stopped for 36 s while it compared: its time of the store was 36 s behind,
  // and another process gave up a refund 15 s after its call was sent (found by the simulation, seed 145629).
  it.each(['appendMs', 'answerMs'] as const)(
    'is not known by a comparison that took longer than 5 s (%s)',
    async (what) => {
      const { check, skew, delay, clock, storeClock, compared } = await startCheck();
      await compared();
      const time = storeTime(clock, check);
      delay[what] = 5_001;
      skew.aheadMs = what === 'appendMs' ? 3_600_000 : -3_600_000;
      expect(check.isKnown()).toBe(false);
      await compared();
      expect([check.isKnown(), check.isTrusted()]).toEqual([false, false]);
      delay[what] = 0;
      await storeClock.advance(1_000);
      await eventually(() => expect(check.isKnown()).toBe(true));
      expect([check.skewMs(), time.now()]).toEqual([skew.aheadMs, storeClock.now()]);
    },
  );

  it('is compared by a bounded number of events', async () => {
    const { store, compareAgain } = await startCheck();
    for (let round = 0; round < 105; round += 1) await compareAgain();
    const kept = await Array.fromAsync(store.read('clock-check'));
    expect(kept).toHaveLength(100);
  });
});
