import { createFakeClock } from '@tollgate/testing';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createTokenBucket } from './token-bucket.ts';

function takeAll(bucket: ReturnType<typeof createTokenBucket>): number {
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
