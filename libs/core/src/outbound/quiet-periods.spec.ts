import { createFakeClock } from '@tollgate/testing';
import { describe, expect, it } from 'vitest';
import { times } from '../testing/harness.ts';
import { type CallWindow, windowAt } from '../domain/outbound-call/outbound-call.ts';
import { createQuietPeriods, type QuietPeriods } from './quiet-periods.ts';

const hour = 3_600_000;
const answerMs = times.sendWithinMs + times.callDeadlineMs;
const wholeMs = answerMs + times.quietMs;

function createWorld() {
  const real = createFakeClock();
  const wall = { aheadMs: 0 };
  const clock = { ...real, now: () => real.now() + wall.aheadMs };
  return { clock, wall, periods: createQuietPeriods({ clock, times }) };
}

const isOver = ({ inquiryTime }: QuietPeriods, token: string, call: CallWindow): boolean =>
  inquiryTime(token, call) >= call.quietUntil;

describe('a quiet period', () => {
  it.each([0, -hour, hour])('is over once observed, if announced by a clock %d ms ahead', async (aheadMs) => {
    const { clock, periods } = createWorld();
    const call = windowAt(clock.now() + aheadMs, times);
    expect(isOver(periods, 'pay_1', call)).toBe(false);
    await clock.advance(wholeMs - 1);
    expect(isOver(periods, 'pay_1', call)).toBe(false);
    expect(periods.inquiryTime('pay_1', call)).toBeLessThan(call.quietUntil);
    await clock.advance(1);
    expect(isOver(periods, 'pay_1', call)).toBe(true);
    expect(periods.inquiryTime('pay_1', call)).toBeGreaterThanOrEqual(call.quietUntil);
  });

  it.each([-hour, hour])('neither ends nor restarts when the wall clock steps by %d ms', async (stepMs) => {
    const { clock, wall, periods } = createWorld();
    const call = windowAt(clock.now(), times);
    isOver(periods, 'pay_1', call);
    wall.aheadMs = stepMs;
    expect(periods.inquiryTime('pay_1', call)).toBeLessThan(call.quietUntil);
    await clock.advance(wholeMs);
    expect(periods.inquiryTime('pay_1', call)).toBeGreaterThanOrEqual(call.quietUntil);
  });

  it('restarts in another process, for another call and for another token', async () => {
    const { clock, periods } = createWorld();
    const call = windowAt(clock.now(), times);
    isOver(periods, 'pay_1', call);
    await clock.advance(wholeMs);
    expect(isOver(periods, 'pay_1', call)).toBe(true);
    expect(isOver(periods, 'pay_2', call)).toBe(false);
    expect(isOver(periods, 'pay_1', windowAt(clock.now(), times))).toBe(false);
    expect(isOver(createQuietPeriods({ clock, times }), 'pay_1', call)).toBe(false);
  });

  it('of the oldest of 100,000 observed calls restarts when another call is observed', async () => {
    const { clock, periods } = createWorld();
    const call = windowAt(clock.now(), times);
    for (let number = 0; number < 100_000; number += 1) periods.observe(`pay_${number}`, call);
    await clock.advance(wholeMs);
    periods.observe('pay_new', call);
    expect([isOver(periods, 'pay_1', call), isOver(periods, 'pay_0', call)]).toEqual([true, false]);
  });
});

it('a reservation lapses once observed for a whole period, at any wall clock time', async () => {
  const { clock, wall, periods } = createWorld();
  const lapsesAt = clock.now() - hour;
  expect(periods.hasLapsed('po_1', lapsesAt)).toBe(false);
  wall.aheadMs = hour;
  await clock.advance(wholeMs - 1);
  expect(periods.hasLapsed('po_1', lapsesAt)).toBe(false);
  await clock.advance(1);
  expect(periods.hasLapsed('po_1', lapsesAt)).toBe(true);
});

describe('the time of an inquiry', () => {
  // The clock of the process that announced the call was two hours ahead, so the last change seemed long ago (simulation, seed
  // 93051).
  it('is as long after the last change as the present', async () => {
    const { clock, periods } = createWorld();
    const call = windowAt(clock.now() + hour, times);
    periods.observe('pay_1', call);
    await clock.advance(wholeMs);
    const { inquiredAt, changedAt } = periods.taken('pay_1', call, clock.now() - 7);
    expect([inquiredAt, inquiredAt - changedAt]).toEqual([call.quietUntil, 7]);
    expect(periods.taken('pay_1', undefined, clock.now() + hour).changedAt).toBe(clock.now());
  });

  it('is the present if no call is without an outcome', () => {
    const { clock, periods } = createWorld();
    expect(periods.inquiryTime('pay_1', undefined)).toBe(clock.now());
  });

  it('is past the answer by the wall clock, or once that was observed', async () => {
    const { clock, periods } = createWorld();
    const past = windowAt(clock.now() - hour, times);
    expect(periods.inquiryTime('pay_1', past)).toBe(past.quietUntil - 1);
    const ahead = windowAt(clock.now() + hour, times);
    expect(periods.inquiryTime('pay_1', ahead)).toBe(clock.now());
    await clock.advance(answerMs);
    expect(periods.inquiryTime('pay_1', ahead)).toBe(ahead.answerBy);
  });
});
