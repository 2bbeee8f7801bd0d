import { createFakeClock } from '@tollgate/testing';
import { describe, expect, it } from 'vitest';
import { times } from '../testing/harness.ts';
import { windowAt } from './call-times.ts';
import { createWindowClock } from './window-clock.ts';

const yearMs = 365 * 24 * 3_600_000;

function createWorld() {
  const clock = createFakeClock();
  return {
    clock,
    windows: createWindowClock({ clock, times }),
    ahead: windowAt(clock.now() + yearMs, times),
  };
}

describe('the present of a window', () => {
  it('is the present where the window began in the past', () => {
    const { clock, windows } = createWorld();
    for (const agoMs of [0, 1, yearMs]) {
      const window = windowAt(clock.now() - agoMs, times);
      expect(windows.nowFor('pay_1', window)).toBe(clock.now());
    }
  });

  it('is its beginning where that is in our future, and goes on from when it was first seen', async () => {
    const { clock, windows, ahead } = createWorld();
    const lengthMs = ahead.quietUntil - (clock.now() + yearMs);
    await clock.advance(5_000);
    expect(windows.nowFor('pay_1', ahead)).toBe(ahead.quietUntil - lengthMs);
    await clock.advance(lengthMs - 1);
    expect(windows.nowFor('pay_1', ahead)).toBe(ahead.quietUntil - 1);
    await clock.advance(1);
    expect(windows.nowFor('pay_1', ahead)).toBe(ahead.quietUntil);
  });

  // A machine woke up after the clocks of all had been set back by an hour, and gave up a call 8 s after its announcement.
  it('is not after the window while the time is not known', () => {
    const { clock } = createWorld();
    let isTimeKnown = false;
    const windows = createWindowClock({ clock, times, isTimeKnown: () => isTimeKnown });
    const past = windowAt(clock.now() - yearMs, times);
    expect(windows.nowFor('pay_1', past)).toBe(past.sendBy);
    expect(windows.nowFor('pay_1', windowAt(clock.now(), times))).toBe(clock.now());
    expect(windows.nowFor('pay_1', undefined)).toBe(clock.now());
    expect(windows.takenFor('pay_1', undefined, 7)).toEqual({ inquiredAt: clock.now(), changedAt: 7 });
    // Older than the window.
    expect(windows.takenFor('pay_1', past, clock.now() - 7).changedAt).toBe(clock.now() - 7);
    isTimeKnown = true;
    expect(windows.nowFor('pay_1', past)).toBe(clock.now());
  });

  // Moved by as much as a window is past, our own payment looked as if it had been made before its announcement: as somebody else's.
  it('is no reason to move the times that a provider shows', async () => {
    const { clock, ahead } = createWorld();
    const windows = createWindowClock({ clock, times, isTimeKnown: () => false });
    expect(windows.aheadMsOf('pay_1', windowAt(clock.now() - yearMs, times))).toBe(0);
    expect(windows.aheadMsOf('pay_1', windowAt(clock.now(), times))).toBe(0);
    expect(windows.aheadMsOf('pay_1', ahead)).toBe(yearMs);
    await clock.advance(60_000);
    expect(windows.aheadMsOf('pay_1', ahead)).toBe(yearMs);
  });

  it('is of that window of that payment only', async () => {
    const { clock, windows, ahead } = createWorld();
    windows.nowFor('pay_1', ahead);
    await clock.advance(60_000);
    const beginning = ahead.sendBy - times.sendWithinMs;
    expect(windows.nowFor('pay_2', ahead)).toBe(beginning);
    expect(windows.nowFor('pay_1', { sendBy: ahead.sendBy + 1 })).toBe(beginning + 1);
    expect(windows.nowFor('pay_1', windowAt(clock.now(), times))).toBe(clock.now());
  });

  it('is remembered for 100,000 windows, those that are asked for last', async () => {
    const { clock, windows, ahead } = createWorld();
    const first = windows.nowFor('pay_0', ahead);
    windows.nowFor('pay_1', ahead);
    await clock.advance(1_000);
    windows.nowFor('pay_0', ahead);
    for (let other = 2; other <= 100_000; other += 1) windows.nowFor(`pay_${other}`, ahead);
    expect(windows.nowFor('pay_0', ahead)).toBe(first + 1_000);
    expect(windows.nowFor('pay_1', ahead)).toBe(first);
  });
});

// What a clock had recorded a year ahead was a moment ago for a year: a payout that its bank took up again stayed declined.
describe('what has changed', () => {
  it('has changed when it was recorded, by the clock of the window', () => {
    const { clock, windows, ahead } = createWorld();
    for (const window of [undefined, windowAt(clock.now(), times), ahead]) {
      const { inquiredAt, changedAt } = windows.takenFor('pay_1', window, clock.now() - 7);
      expect(inquiredAt).toBe(windows.nowFor('pay_1', window));
      expect(inquiredAt - changedAt).toBe(7);
    }
  });

  it('has changed when it was first seen, where it was recorded in our future', async () => {
    const { clock, windows, ahead } = createWorld();
    const agoMs = (window: typeof ahead | undefined, recordedAt: number) => {
      const { inquiredAt, changedAt } = windows.takenFor('pay_1', window, recordedAt);
      return inquiredAt - changedAt;
    };
    const recordedAt = clock.now() + yearMs;
    for (const window of [undefined, ahead]) expect(agoMs(window, recordedAt)).toBe(0);
    await clock.advance(60_000);
    for (const window of [undefined, ahead]) expect(agoMs(window, recordedAt)).toBe(60_000);
    expect(agoMs(ahead, recordedAt + 1)).toBe(0);
  });
});
