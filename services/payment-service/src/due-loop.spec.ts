import { silentLog } from '@tollgate/service-kit';
import { describe, expect, it } from 'vitest';
import { createDueLoop } from './due-loop.ts';
import { createFakeClock } from '@tollgate/testing';

const start = 1_800_000_000_000;

function setUp(work: (now: number) => number | undefined) {
  const clock = createFakeClock({ now: start });
  const passes: number[] = [];
  const loop = createDueLoop({
    name: 'test',
    now: clock.now,
    clock,
    log: silentLog,
    work: () => {
      passes.push(clock.now() - start);
      return work(clock.now());
    },
  });
  void loop.run(new AbortController().signal);
  return { clock, passes };
}

describe('a due loop', () => {
  it('runs once a minute when nothing is due', async () => {
    const { clock, passes } = setUp(() => undefined);
    await clock.advance(120_000);
    expect(passes).toEqual([0, 60_000, 120_000]);
  });

  it('survives a failure of the work and retries a second later', async () => {
    let isBroken = true;
    const { clock, passes } = setUp(() => {
      if (isBroken) throw new Error('broken');
      return undefined;
    });
    await clock.advance(0);
    isBroken = false;
    await clock.advance(1_000);
    expect(passes).toEqual([0, 1_000]);
  });
});
