import { silentLog } from '@tollgate/service-kit';
import { createFakeClock, createFakeIds } from '@tollgate/testing';
import { describe, expect, it } from 'vitest';
import { type OpenItem, runInquirySchedule, nextInquiryAt } from './inquiry-schedule.ts';

const minute = 60_000;
const hour = 60 * minute;
const day = 24 * hour;

function inquiriesOf(inquiryNeed: 'unresolved' | 'open', count: number): number[] {
  const inquiries: number[] = [];
  for (let after = 0; inquiries.length < count; after = inquiries.at(-1) ?? 0)
    inquiries.push(nextInquiryAt({ inquiryNeed, updatedAt: 0 }, after, 0));
  return inquiries;
}

describe('nextLookAt', () => {
  it('inquires about a lost creation soon, then ever more seldom, and never stops', () => {
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
    expect(inquiriesOf('unresolved', 18)).toEqual([...soon, ...daily]);
  });

  it('inquires about an open payment as if no callback ever came', () => {
    expect(inquiriesOf('open', 6)).toEqual([2 * minute, 10 * minute, hour, 6 * hour, 30 * hour, 54 * hour]);
  });

  it('spreads payments by up to a tenth', () => {
    expect(nextInquiryAt({ inquiryNeed: 'open', updatedAt: 0 }, 0, 0.999_999)).toBeCloseTo(132_000, -1);
  });
});

describe('runInquirySchedule', () => {
  it('inquires about every open payment by its schedule', async () => {
    const clock = createFakeClock();
    const open = [
      { token: 'lost', inquiryNeed: 'unresolved' as const, updatedAt: clock.now() },
      { token: 'open', inquiryNeed: 'open' as const, updatedAt: clock.now() },
    ];
    const inquiries: string[] = [];
    const stopping = new AbortController();
    const running = runInquirySchedule(
      {
        openItems: ({ after }) => (after === undefined ? open : []),
        inquire: (token) => Promise.resolve(inquiries.push(token)),
        ids: { ...createFakeIds(1), fraction: () => 0 },
        ...{ clock, log: silentLog },
      },
      stopping.signal,
    );
    await clock.advance(4_000);
    expect(inquiries).toEqual([]);
    await clock.advance(62_000);
    expect(inquiries).toEqual(['lost', 'lost', 'lost']);
    await clock.advance(60_000);
    expect(inquiries).toEqual(['lost', 'lost', 'lost', 'open']);
    stopping.abort();
    await running;
  });

  it('inquires at once, after a restart, about what was due meanwhile, page by page', async () => {
    const clock = createFakeClock();
    const tokens = Array.from({ length: 1_200 }, (_, index) => `pay_${String(index).padStart(4, '0')}`);
    const open = tokens.map((token) => ({
      token,
      inquiryNeed: 'open' as const,
      updatedAt: clock.now() - hour,
    }));
    const inquiries = new Set<string>();
    const stopping = new AbortController();
    const running = runInquirySchedule(
      {
        openItems: ({ after = '', limit }) => open.filter(({ token }) => token > after).slice(0, limit),
        inquire: (token) => Promise.resolve(inquiries.add(token)),
        ids: { ...createFakeIds(1), fraction: () => 0 },
        ...{ clock, log: silentLog },
      },
      stopping.signal,
    );
    await clock.advance(0);
    expect(inquiries.size).toBe(1_200);
    stopping.abort();
    await running;
  });

  it('inquires first about unknown outcomes, and about a few payments at a time', async () => {
    const clock = createFakeClock();
    const updatedAt = clock.now() - hour;
    const open = Array.from({ length: 140 }, (_, index) => ({
      token: `pay_${String(index).padStart(3, '0')}`,
      inquiryNeed: index < 70 ? ('open' as const) : ('unresolved' as const),
      updatedAt,
    }));
    const begun: string[] = [];
    const stopping = new AbortController();
    const running = runInquirySchedule(
      {
        openItems: ({ after }) => (after === undefined ? open : []),
        inquire: async (token) => {
          begun.push(token);
          await clock.sleep(10_000);
        },
        ids: { ...createFakeIds(1), fraction: () => 0 },
        ...{ clock, log: silentLog },
      },
      stopping.signal,
    );
    await clock.advance(0);
    expect(begun).toEqual(open.slice(70, 134).map(({ token }) => token));
    stopping.abort();
    await clock.advance(10_000);
    await running;
    expect(begun).toHaveLength(64);
  });

  it('continues after an inquiry that failed', async () => {
    const clock = createFakeClock();
    const stopping = new AbortController();
    const updatedAt = clock.now();
    let inquiries = 0;
    const running = runInquirySchedule(
      {
        openItems: () => [{ token: 'lost', inquiryNeed: 'unresolved', updatedAt }],
        inquire: () => Promise.reject(new Error(`inquiry ${(inquiries += 1)}`)),
        ids: { ...createFakeIds(1), fraction: () => 0 },
        ...{ clock, log: silentLog },
      },
      stopping.signal,
    );
    await clock.advance(16_000);
    expect(inquiries).toBe(2);
    stopping.abort();
    await running;
  });
  // The pass waited for its inquiries, and the pause after it was nine times as long as they took: one account that
  // hung for minutes delayed everybody's inquiries by hours.
  it('does not let slow inquiries delay those that are newly due', async () => {
    const clock = createFakeClock();
    const items: OpenItem[] = Array.from({ length: 200 }, (_, index) => ({
      ...{ token: `pay_${String(index).padStart(3, '0')}`, inquiryNeed: 'unresolved' },
      updatedAt: clock.now() - 5_000,
    }));
    const begunAt = new Map<string, number>();
    const stopping = new AbortController();
    const running = runInquirySchedule(
      {
        openItems: ({ after }) => (after === undefined ? items : []),
        inquire: async (token) => {
          begunAt.set(token, clock.monotonic());
          await clock.sleep(10_000);
        },
        ids: { ...createFakeIds(1), fraction: () => 0 },
        ...{ clock, log: silentLog },
      },
      stopping.signal,
    );
    await clock.advance(1_000);
    expect(begunAt.size).toBe(64);
    items.push({ token: 'pay_new', inquiryNeed: 'unresolved', updatedAt: clock.now() });
    await clock.advance(15_000);
    // It is due after five seconds.
    expect(begunAt.get('pay_new')).toBeLessThanOrEqual(1_000 + 5_000 + 10_000);
    stopping.abort();
    await clock.advance(10_000);
    await running;
  });

  it('does not inquire about an item again while its inquiry is under way', async () => {
    const clock = createFakeClock();
    const updatedAt = clock.now();
    const stopping = new AbortController();
    let inquiries = 0;
    const running = runInquirySchedule(
      {
        openItems: () => [{ token: 'lost', inquiryNeed: 'unresolved', updatedAt }],
        inquire: async () => {
          inquiries += 1;
          await clock.sleep(600_000);
        },
        ids: { ...createFakeIds(1), fraction: () => 0 },
        ...{ clock, log: silentLog },
      },
      stopping.signal,
    );
    await clock.advance(590_000);
    expect(inquiries).toBe(1);
    await clock.advance(30_000);
    expect(inquiries).toBe(2);
    stopping.abort();
    await clock.advance(600_000);
    await running;
  });

  it('inquires in the end about more than the queue takes', async () => {
    const clock = createFakeClock();
    const open = Array.from({ length: 2_500 }, (_, index) => ({
      ...{ token: `pay_${String(index).padStart(4, '0')}`, inquiryNeed: 'unresolved' as const },
      updatedAt: clock.now() - 50 * minute,
    }));
    const inquiries: string[] = [];
    const stopping = new AbortController();
    const running = runInquirySchedule(
      {
        openItems: ({ after = '', limit }) => open.filter(({ token }) => token > after).slice(0, limit),
        inquire: async (token) => {
          inquiries.push(token);
          await clock.sleep(1_000);
        },
        ids: { ...createFakeIds(1), fraction: () => 0 },
        ...{ clock, log: silentLog },
      },
      stopping.signal,
    );
    await clock.advance(60_000);
    expect(inquiries).toHaveLength(2_500);
    expect(new Set(inquiries).size).toBe(2_500);
    stopping.abort();
    await clock.advance(1_000);
    await running;
  });

  it('spreads what is only open after a restart, and not what nobody knows the outcome of', async () => {
    const clock = createFakeClock();
    const updatedAt = clock.now() - hour;
    const lost = ['lost-1', 'lost-2'].map((token) => ({
      token,
      inquiryNeed: 'unresolved' as const,
      updatedAt,
    }));
    const open = ['open-1', 'open-2'].map((token) => ({ token, inquiryNeed: 'open' as const, updatedAt }));
    const inquiries: string[] = [];
    const stopping = new AbortController();
    const fractions = [0.5, 0.5, 0.25, 0.75];
    const running = runInquirySchedule(
      {
        openItems: ({ after }) => (after === undefined ? [...lost, ...open] : []),
        inquire: (token) => Promise.resolve(inquiries.push(token)),
        ids: { ...createFakeIds(1), fraction: () => fractions.shift() ?? 0 },
        ...{ clock, log: silentLog },
      },
      stopping.signal,
    );
    await clock.advance(0);
    expect(inquiries).toEqual(['lost-1', 'lost-2']);
    await clock.advance(2.5 * minute + 2_000);
    expect(inquiries.slice(2)).toEqual(['open-1']);
    await clock.advance(5 * minute);
    expect(inquiries.slice(2)).toEqual(['open-1', 'open-2']);
    stopping.abort();
    await running;
  });

  it('reads for a tenth of the time at most', async () => {
    const clock = createFakeClock();
    let readingMs = 0;
    const slow = { ...clock, monotonic: () => clock.monotonic() + readingMs };
    let passes = 0;
    const stopping = new AbortController();
    const running = runInquirySchedule(
      {
        openItems: () => {
          passes += 1;
          readingMs += 1_000;
          return [];
        },
        inquire: () => Promise.resolve(),
        ids: createFakeIds(1),
        ...{ clock: slow, log: silentLog },
      },
      stopping.signal,
    );
    await clock.advance(8_999);
    expect(passes).toBe(1);
    await clock.advance(1);
    expect(passes).toBe(2);
    stopping.abort();
    await running;
  });
});
