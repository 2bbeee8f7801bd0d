import { silentLog } from '@tollgate/service-kit';
import { describe, expect, it } from 'vitest';
import { createDueLoop } from './due-loop.ts';
import { createFakeClock } from '@tollgate/testing';

const start = 1_800_000_000_000;

function setUp(work: (now: number) => number | undefined) {
  const clock = createFakeClock({ now: start });
  const looks: number[] = [];
  const loop = createDueLoop({
    name: 'test',
    now: clock.now,
    clock,
    log: silentLog,
    work: () => {
      looks.push(clock.now() - start);
      return work(clock.now());
    },
  });
  const stopping = new AbortController();
  const ended = loop.run(stopping.signal);
  return { clock, looks, loop, stopping, ended };
}

describe('a due loop', () => {
  it('looks at once, and again exactly when the next thing is due', async () => {
    const { clock, looks } = setUp((now) => (now < start + 5_000 ? start + 5_000 : undefined));
    await clock.advance(4_999);
    expect(looks).toEqual([0]);
    await clock.advance(1);
    expect(looks).toEqual([0, 5_000]);
  });

  it('looks once a minute when nothing is due', async () => {
    const { clock, looks } = setUp(() => undefined);
    await clock.advance(120_000);
    expect(looks).toEqual([0, 60_000, 120_000]);
  });

  it('looks earlier when told of something earlier, and only then', async () => {
    const { clock, looks, loop } = setUp(() => undefined);
    await clock.advance(1_000);
    loop.expect(start + 61_000);
    await clock.advance(0);
    expect(looks).toEqual([0]);
    loop.expect(start + 1_000);
    await clock.advance(0);
    expect(looks).toEqual([0, 1_000]);
  });

  it('is not lost when the work fails: it tries again a second later', async () => {
    let isBroken = true;
    const { clock, looks } = setUp(() => {
      if (isBroken) throw new Error('broken');
      return undefined;
    });
    await clock.advance(0);
    isBroken = false;
    await clock.advance(1_000);
    expect(looks).toEqual([0, 1_000]);
  });

  it('ends when it is stopped in its sleep', async () => {
    const { clock, looks, stopping, ended } = setUp(() => undefined);
    await clock.advance(0);
    stopping.abort();
    await ended;
    await clock.advance(600_000);
    expect(looks).toEqual([0]);
  });
});
