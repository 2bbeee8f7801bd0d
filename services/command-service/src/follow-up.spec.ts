import { silentLog } from '@tollgate/service-kit';
import { createFakeClock, createFakeIds } from '@tollgate/testing';
import { describe, expect, it } from 'vitest';
import { followUp, nextLookAt } from './follow-up.ts';

const minute = 60_000;
const hour = 60 * minute;
const day = 24 * hour;

function looksOf(phase: 'unresolved' | 'pending', count: number): number[] {
  const looks: number[] = [];
  for (let after = 0; looks.length < count; after = looks.at(-1) ?? 0)
    looks.push(nextLookAt({ phase, updatedAt: 0 }, after, 0));
  return looks;
}

describe('nextLookAt', () => {
  it('looks for a lost creation soon, then ever more seldom, and never stops', () => {
    const soon = [
      5_000,
      15_000,
      minute,
      5 * minute,
      10 * minute,
      15 * minute,
      20 * minute,
      25 * minute,
      hour,
    ];
    const daily = [1, 2, 3, 4, 5, 6, 7, 8, 9].map((count) => count * day);
    expect(looksOf('unresolved', 18)).toEqual([...soon, ...daily]);
  });

  it('looks at an open payment as if no callback ever came', () => {
    expect(looksOf('pending', 6)).toEqual([2 * minute, 10 * minute, hour, 6 * hour, 30 * hour, 54 * hour]);
  });

  it('spreads payments by up to a tenth', () => {
    expect(nextLookAt({ phase: 'pending', updatedAt: 0 }, 0, 0.999_999)).toBeCloseTo(132_000, -1);
  });
});

describe('followUp', () => {
  it('looks at every open payment by its schedule', async () => {
    const clock = createFakeClock();
    const open = [
      { token: 'lost', phase: 'unresolved' as const, updatedAt: clock.now() },
      { token: 'open', phase: 'pending' as const, updatedAt: clock.now() },
    ];
    const looks: string[] = [];
    const stopping = new AbortController();
    const running = followUp(
      {
        openPayments: ({ after }) => (after === undefined ? open : []),
        look: (token) => Promise.resolve(looks.push(token)),
        ids: { ...createFakeIds(1), fraction: () => 0 },
        ...{ clock, log: silentLog },
      },
      stopping.signal,
    );
    await clock.advance(4_000);
    expect(looks).toEqual([]);
    await clock.advance(62_000);
    expect(looks).toEqual(['lost', 'lost', 'lost']);
    await clock.advance(60_000);
    expect(looks).toEqual(['lost', 'lost', 'lost', 'open']);
    stopping.abort();
    await running;
  });

  it('looks at once, after a restart, at what was due meanwhile, page by page', async () => {
    const clock = createFakeClock();
    const tokens = Array.from({ length: 1_200 }, (_, index) => `pay_${String(index).padStart(4, '0')}`);
    const open = tokens.map((token) => ({ token, phase: 'pending' as const, updatedAt: clock.now() - hour }));
    const looks = new Set<string>();
    const stopping = new AbortController();
    const running = followUp(
      {
        openPayments: ({ after = '', limit }) => open.filter(({ token }) => token > after).slice(0, limit),
        look: (token) => Promise.resolve(looks.add(token)),
        ids: { ...createFakeIds(1), fraction: () => 0 },
        ...{ clock, log: silentLog },
      },
      stopping.signal,
    );
    await clock.advance(0);
    expect(looks.size).toBe(1_200);
    stopping.abort();
    await running;
  });

  it('looks first at what nobody knows the outcome of, and at a few payments at a time', async () => {
    const clock = createFakeClock();
    const updatedAt = clock.now() - hour;
    const open = Array.from({ length: 40 }, (_, index) => ({
      token: `pay_${String(index).padStart(2, '0')}`,
      phase: index < 30 ? ('pending' as const) : ('unresolved' as const),
      updatedAt,
    }));
    const begun: string[] = [];
    const stopping = new AbortController();
    const running = followUp(
      {
        openPayments: ({ after }) => (after === undefined ? open : []),
        look: async (token) => {
          begun.push(token);
          await clock.sleep(10_000);
        },
        ids: { ...createFakeIds(1), fraction: () => 0 },
        ...{ clock, log: silentLog },
      },
      stopping.signal,
    );
    await clock.advance(0);
    expect(begun).toEqual(open.slice(30, 38).map(({ token }) => token));
    stopping.abort();
    await clock.advance(10_000);
    await running;
    expect(begun).toHaveLength(8);
  });

  it('goes on after a look that failed', async () => {
    const clock = createFakeClock();
    const stopping = new AbortController();
    const updatedAt = clock.now();
    let looks = 0;
    const running = followUp(
      {
        openPayments: () => [{ token: 'lost', phase: 'unresolved', updatedAt }],
        look: () => Promise.reject(new Error(`look ${(looks += 1)}`)),
        ids: { ...createFakeIds(1), fraction: () => 0 },
        ...{ clock, log: silentLog },
      },
      stopping.signal,
    );
    await clock.advance(16_000);
    expect(looks).toBe(2);
    stopping.abort();
    await running;
  });
});
