import { createFakeClock } from '@tollgate/testing';
import { describe, expect, it } from 'vitest';
import {
  type BreakerEnd,
  breakerFailuresMax,
  breakerOpenMs,
  breakerOpenMsMax,
  createCircuitBreaker,
} from './circuit-breaker.ts';

function createBreaker() {
  const clock = createFakeClock();
  const changes: (string | number)[] = [];
  const breaker = createCircuitBreaker({
    clock,
    onChange: (change) => changes.push(change.state === 'open' ? change.openMs : 'closed'),
  });
  const call = (end: BreakerEnd) => breaker.pass()(end);
  const fail = (count: number) => {
    for (let failed = 0; failed < count; failed += 1) call('failed');
  };
  return { clock, changes, breaker, call, fail, open: () => fail(breakerFailuresMax) };
}

const halfOpen = async () => {
  const parts = createBreaker();
  parts.open();
  await parts.clock.advance(breakerOpenMs);
  return parts;
};

describe('a circuit breaker', () => {
  it.each<[string, BreakerEnd[], 'closed' | 'open']>([
    ['is closed before the first call', [], 'closed'],
    ['stays closed below the limit', Array<BreakerEnd>(9).fill('failed'), 'closed'],
    ['opens at ten failures', Array<BreakerEnd>(10).fill('failed'), 'open'],
    [
      'begins to count again after a success',
      [...Array<BreakerEnd>(9).fill('failed'), 'succeeded', ...Array<BreakerEnd>(9).fill('failed')],
      'closed',
    ],
    [
      'does not count a call that was not made, one way or the other',
      [...Array<BreakerEnd>(9).fill('failed'), 'unused', 'failed'],
      'open',
    ],
  ])('%s', (_name, ends, state) => {
    const { breaker, call } = createBreaker();
    for (const end of ends) call(end);
    expect([breaker.state(), breaker.mayPass()]).toEqual([state, state === 'closed']);
  });

  it('is open for its duration, to the millisecond, and half-open then', async () => {
    const { breaker, clock, open } = createBreaker();
    open();
    expect([breaker.state(), breaker.probeInMs()]).toEqual(['open', breakerOpenMs]);
    await clock.advance(breakerOpenMs - 1);
    expect([breaker.state(), breaker.mayPass(), breaker.probeInMs()]).toEqual(['open', false, 1]);
    await clock.advance(1);
    expect([breaker.state(), breaker.mayPass(), breaker.probeInMs()]).toEqual(['half-open', true, 0]);
  });

  it('admits one probe when it is half-open, however long the probe takes', async () => {
    const { breaker, clock } = await halfOpen();
    breaker.pass();
    await clock.advance(breakerOpenMsMax);
    expect([breaker.state(), breaker.mayPass()]).toEqual(['half-open', false]);
  });

  it('is closed by a probe that succeeds, and counts from 0', async () => {
    const { breaker, call, fail, changes } = await halfOpen();
    call('succeeded');
    fail(breakerFailuresMax - 1);
    expect([breaker.state(), changes]).toEqual(['closed', [breakerOpenMs, 'closed']]);
    fail(1);
    expect(breaker.state()).toBe('open');
  });

  it('opens again, for longer, if a probe fails', async () => {
    const { breaker, call } = await halfOpen();
    call('failed');
    expect([breaker.state(), breaker.probeInMs()]).toEqual(['open', 2 * breakerOpenMs]);
  });

  it('admits another probe if one was not used', async () => {
    const { breaker, call } = await halfOpen();
    call('unused');
    expect([breaker.state(), breaker.mayPass()]).toEqual(['half-open', true]);
    call('succeeded');
    expect(breaker.state()).toBe('closed');
  });

  it('doubles its duration with each failed probe up to a minute, and starts over once closed', async () => {
    const { breaker, clock, call, open, changes } = createBreaker();
    open();
    for (let probe = 0; probe < 5; probe += 1) {
      await clock.advance(breaker.probeInMs());
      call('failed');
    }
    await clock.advance(breaker.probeInMs());
    call('succeeded');
    open();
    expect(changes).toEqual([5_000, 10_000, 20_000, 40_000, 60_000, 60_000, 'closed', 5_000]);
  });

  it.each<BreakerEnd>(['succeeded', 'failed', 'unused'])(
    'ignores a call that began before it opened and ends as %s: while open, probing, or closed again',
    async (end) => {
      const { breaker, clock, open, fail, changes } = createBreaker();
      const late = [breaker.pass(), breaker.pass(), breaker.pass()];
      open();
      late[0]?.(end);
      expect([breaker.state(), breaker.probeInMs()]).toEqual(['open', breakerOpenMs]);
      await clock.advance(breakerOpenMs);
      const endProbe = breaker.pass();
      late[1]?.(end);
      expect([breaker.state(), breaker.mayPass()]).toEqual(['half-open', false]);
      endProbe('succeeded');
      fail(breakerFailuresMax - 1);
      late[2]?.(end);
      expect([breaker.state(), changes]).toEqual(['closed', [breakerOpenMs, 'closed']]);
      fail(1);
      expect(breaker.state()).toBe('open');
    },
  );

  it('ignores a call that was under way with those that opened it', async () => {
    const { breaker, changes } = createBreaker();
    const ends = Array.from({ length: 3 * breakerFailuresMax }, () => breaker.pass());
    for (const end of ends) end('failed');
    expect([breaker.probeInMs(), changes]).toEqual([breakerOpenMs, [breakerOpenMs]]);
  });

  it('throws an invariant violation if a call begins that it rejects', () => {
    const { breaker, open } = createBreaker();
    open();
    expect(() => breaker.pass()).toThrow('circuit breaker rejects it');
  });
});
