import { createFakeClock } from '@tollgate/testing';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type TokenBucket, createSharedRate, createTokenBucket, inquiryRetryMs } from './rate.ts';

function takeAll(bucket: TokenBucket): number {
  let taken = 0;
  while (bucket.tryTake()) taken += 1;
  return taken;
}

describe('a token bucket', () => {
  it("holds one second's worth at first, and never more", async () => {
    const clock = createFakeClock();
    const bucket = createTokenBucket(() => 20, clock);
    await clock.advance(3_600_000);
    bucket.giveBack();
    expect(takeAll(bucket)).toBe(20);
  });

  it('fills evenly, and reports when the next token is due', async () => {
    const clock = createFakeClock();
    const bucket = createTokenBucket(() => 3, clock);
    takeAll(bucket);
    expect([bucket.tryTake(), bucket.nextInMs()]).toEqual([false, 334]);
    await clock.advance(333);
    expect([bucket.tryTake(), bucket.nextInMs()]).toEqual([false, 1]);
    await clock.advance(1);
    expect([bucket.nextInMs(), bucket.tryTake(), bucket.tryTake()]).toEqual([0, true, false]);
  });

  it('takes unused tokens back', () => {
    const bucket = createTokenBucket(() => 5, createFakeClock());
    takeAll(bucket);
    bucket.giveBack();
    expect([bucket.nextInMs(), takeAll(bucket)]).toEqual([0, 1]);
  });

  it("admits exactly its rate, plus one second's worth, to a caller that takes all", () => {
    // Pauses that do not overflow the bucket.
    const pauses = fc.array(fc.integer({ min: 1, max: 500 }), { minLength: 1, maxLength: 50 });
    fc.assert(
      fc.property(fc.integer({ min: 2, max: 2_000 }), pauses, (tokensPerSecond, pausesMs) => {
        let now = 0;
        const bucket = createTokenBucket(() => tokensPerSecond, { monotonic: () => now });
        let taken = takeAll(bucket);
        for (const pauseMs of pausesMs) {
          now += pauseMs;
          taken += takeAll(bucket);
          expect(taken).toBe(tokensPerSecond + Math.floor((tokensPerSecond * now) / 1_000));
        }
      }),
    );
  });
});

describe('a budget shared by calls and inquiries', () => {
  it('keeps a quarter for calls if inquiries would take all', () => {
    const rate = createSharedRate(() => 20, createFakeClock());
    for (let inquiry = 0; inquiry < 15; inquiry += 1) expect(rate.tryTakeForInquiry()).toBe(true);
    expect(rate.tryTakeForInquiry()).toBe(false);
    for (let call = 0; call < 5; call += 1) expect(rate.tryTakeForCall()).toBe(true);
    expect([rate.tryTakeForCall(), rate.nextForCallInMs()]).toEqual([false, 50]);
  });

  // At one per second, no token remained beyond the quarter reserved for calls: no inquiry ever began, and a charge with a
  // lost answer stayed unknown. If calls used their whole limit, no inquiry began either.
  it('admits an inquiry within ten calls, and nine calls of ten, at any rate and demand', () => {
    fc.assert(
      fc.property(
        fc.double({ min: 0.1, max: 100, noNaN: true }),
        fc.boolean(),
        (perSecond, areCallsWanted) => {
          let now = 0;
          const rate = createSharedRate(() => perSecond, { monotonic: () => now });
          const taken = { calls: 0, inquiries: 0 };
          // The time that twenty tokens take.
          while (now < 20_000 / perSecond) {
            if (areCallsWanted) while (rate.tryTakeForCall()) taken.calls += 1;
            if (rate.tryTakeForInquiry()) taken.inquiries += 1;
            now += inquiryRetryMs;
          }
          expect(taken.inquiries).toBeGreaterThan(0);
          if (areCallsWanted) expect(taken.calls).toBeGreaterThanOrEqual(9);
        },
      ),
    );
  });

  it('is for calls alone while no inquiry waits', () => {
    let now = 0;
    const rate = createSharedRate(() => 10, { monotonic: () => now });
    while (rate.tryTakeForInquiry());
    now = 60_000;
    for (let call = 0; call < 10; call += 1) expect(rate.tryTakeForCall()).toBe(true);
    now = 120_000;
    for (let call = 0; call < 10; call += 1) expect(rate.tryTakeForCall()).toBe(true);
  });

  it('takes unused tokens back', () => {
    const rate = createSharedRate(() => 1, createFakeClock());
    expect([rate.tryTakeForCall(), rate.tryTakeForCall()]).toEqual([true, false]);
    rate.giveBack();
    expect([rate.nextForCallInMs(), rate.tryTakeForInquiry()]).toEqual([0, true]);
  });
});
