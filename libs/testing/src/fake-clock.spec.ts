import { describe, expect, it } from 'vitest';
import { createFakeClock } from './fake-clock.ts';

describe('a fake clock', () => {
  it('wakes sleepers in the order in which they are due, each at its own time', async () => {
    const clock = createFakeClock({ now: 0 });
    const woken: string[] = [];
    const sleepThenNote = async (name: string, durationMs: number) => {
      await clock.sleep(durationMs);
      woken.push(`${name} at ${clock.now()}`);
    };
    const all = [sleepThenNote('late', 30), sleepThenNote('early', 10), sleepThenNote('also early', 10)];
    await clock.advance(100);
    await Promise.all(all);
    expect(woken).toEqual(['early at 10', 'also early at 10', 'late at 30']);
  });

  it('wakes sleepers that begin while it moves', async () => {
    const clock = createFakeClock({ now: 0 });
    const ticks: number[] = [];
    void (async () => {
      for (;;) {
        await clock.sleep(10);
        ticks.push(clock.now());
      }
    })();
    await clock.advance(35);
    expect(ticks).toEqual([10, 20, 30]);
  });

  it('rejects a sleeper with the reason of its signal, now or later', async () => {
    const clock = createFakeClock();
    const stopping = new AbortController();
    const sleeping = clock.sleep(100, stopping.signal);
    stopping.abort('enough');
    await expect(sleeping).rejects.toBe('enough');
    await expect(clock.sleep(100, stopping.signal)).rejects.toBe('enough');
    expect(clock.sleeperCount()).toBe(0);
  });

  it('releases the signal of a sleeper that woke', async () => {
    const clock = createFakeClock();
    const stopping = new AbortController();
    const sleeping = clock.sleep(100, stopping.signal);
    await clock.advance(100);
    stopping.abort('too late');
    await expect(sleeping).resolves.toBeUndefined();
  });

  it('calls a timer when due, unless it was cancelled', async () => {
    const clock = createFakeClock({ now: 0 });
    const called: string[] = [];
    clock.after(10, () => called.push(`first at ${clock.now()}`));
    const cancel = clock.after(20, () => called.push('cancelled'));
    await clock.advance(15);
    cancel();
    await clock.advance(15);
    expect([called, clock.sleeperCount()]).toEqual([['first at 10'], 0]);
  });
});
