import {
  type DueItem,
  type DueQueue,
  type InquiryNeed,
  type InquiryResult,
  inquiryDelays,
  inquiryNeeds,
  nextInquiryAt,
} from '@tollgate/core';
import { silentLog } from '@tollgate/service-kit';
import { type FakeClock, createFakeClock } from '@tollgate/testing';
import { expect, it, onTestFinished } from 'vitest';
import { createInquirySchedule } from './inquiry-schedule.ts';

const minute = 60_000;
const hour = 60 * minute;
const shard = 3;

interface Row {
  token: string;
  inquiryNeed: InquiryNeed;
  updatedAt: number;
  dueAt: number | undefined;
  account: string;
}

/** The index, without a file. */
function indexOf(clock: FakeClock, rows: Row[]) {
  const read = { rows: 0 };
  const dueRows = () =>
    rows
      .filter(({ dueAt = Infinity }) => dueAt <= clock.now())
      .sort((a, b) => (a.dueAt ?? 0) - (b.dueAt ?? 0));
  const queueOf = ({ inquiryNeed, account }: Row): DueQueue => ({
    kind: 'payment',
    shard,
    environment: 'sandbox',
    inquiryNeed,
    account,
  });
  const isIn = (queue: DueQueue) => (row: Row) =>
    row.account === queue.account && row.inquiryNeed === queue.inquiryNeed;
  return {
    read,
    dueQueues: () => {
      const firsts = dueRows().filter((row, place, all) => all.findIndex(isIn(queueOf(row))) === place);
      return firsts.map((row) => ({ ...queueOf(row), oldestDueAt: row.dueAt ?? 0 }));
    },
    dueItems: (queue: DueQueue, { limit, newest = false }: { limit: number; newest?: boolean }) => {
      const all = dueRows().filter(isIn(queue));
      const some = newest ? all.reverse().slice(0, limit) : all.slice(0, limit);
      read.rows += some.length;
      return some.map(({ token, inquiryNeed, updatedAt, dueAt = 0 }): DueItem => ({
        kind: 'payment',
        revision: 0,
        token,
        inquiryNeed,
        updatedAt,
        dueAt,
      }));
    },
    postpone: async (postponed: readonly { item: { token: string }; dueAt: number | undefined }[]) => {
      for (const { item, dueAt } of postponed)
        for (const row of rows) if (row.token === item.token) row.dueAt = dueAt;
    },
  };
}

function start({
  rows,
  inquire = () => Promise.resolve('inquired'),
  clock = createFakeClock(),
  mayAsk = () => true,
  quietPeriodMs = 0,
}: {
  rows: Row[];
  inquire?: (token: string) => Promise<InquiryResult>;
  clock?: FakeClock;
  mayAsk?: (account: { account: string }) => boolean;
  quietPeriodMs?: number;
}) {
  const begun: { token: string; at: number }[] = [];
  const index = indexOf(clock, rows);
  const startedAt = clock.now();
  const schedule = createInquirySchedule({
    index,
    mayAsk,
    clock,
    delays: inquiryDelays,
    log: silentLog,
    quietPeriodMs,
    inquire: (token) => {
      begun.push({ token, at: clock.now() - startedAt });
      return inquire(token);
    },
  });
  const stopping = new AbortController();
  const running = schedule.runShard(shard, stopping.signal);
  onTestFinished(async () => {
    stopping.abort();
    // Inquiries under way end first.
    await clock.advance(hour);
    await running;
  });
  return { begun, clock, index, schedule };
}

const rowOf = (row: Partial<Row> & { token: string }): Row => ({
  inquiryNeed: 'open',
  updatedAt: 0,
  dueAt: 0,
  account: 'main',
  ...row,
});
const tokensOf = (count: number, name = 'pay') =>
  Array.from({ length: count }, (_, index) => `${name}_${String(index).padStart(5, '0')}`);
/** New: due from now on. */
const newRow = (clock: FakeClock, token: string, inquiryNeed: InquiryNeed): Row => {
  const updatedAt = clock.now();
  return rowOf({
    token,
    inquiryNeed,
    updatedAt,
    dueAt: nextInquiryAt({ token, inquiryNeed, updatedAt }, updatedAt),
  });
};

it('inquires unresolved, open and settled items at the distances of each', async () => {
  const clock = createFakeClock();
  const rows = inquiryNeeds.map((need) => newRow(clock, need, need));
  const { begun } = start({ rows, clock });
  for (let passed = 0; passed < 70; passed += 1) await clock.advance(minute);
  const distances = (need: string) => begun.filter(({ token }) => token === need).map(({ at }) => at);
  const [unresolved, open, settled] = inquiryNeeds.map(distances);
  // A tenth later at most, and a pass a second.
  const within = (expected: readonly number[]) =>
    expected.map((at) => expect.toSatisfy((seen: number) => seen >= at && seen <= at * 1.1 + 1_000));
  expect(unresolved).toEqual(within(inquiryDelays.unresolved.filter((at) => at <= hour)));
  expect(open).toEqual(within([2 * minute, 10 * minute, hour]));
  expect(settled).toEqual(within([hour]));
});

it('does not repeat the last inquiry of a settled item', async () => {
  const clock = createFakeClock();
  const updatedAt = clock.now() - 40 * 24 * hour;
  const rows = [rowOf({ token: 'old', inquiryNeed: 'settled', updatedAt, dueAt: clock.now() })];
  const { begun } = start({ rows, clock });
  await clock.advance(2_000);
  expect(begun).toHaveLength(1);
  await clock.advance(2_000);
  expect(rows[0]?.dueAt).toBeUndefined();
});

// Above capacity, the newest always came first: 23 % of the items of 30 to 60 minutes were never inquired.
it('serves the oldest first, and reserves places for new items', async () => {
  const clock = createFakeClock();
  const rows = tokensOf(1_000).map((token, place) =>
    rowOf({ token, inquiryNeed: 'unresolved', dueAt: clock.now() + place }),
  );
  const { begun } = start({
    rows,
    clock,
    inquire: async () => {
      await clock.sleep(10_000);
      return 'inquired';
    },
  });
  await clock.advance(1_000);
  const first = begun.map(({ token }) => token);
  expect(first).toContain('pay_00000');
  await clock.advance(9_500);
  const late = 'pay_late';
  rows.push(rowOf({ token: late, inquiryNeed: 'unresolved', dueAt: clock.now() }));
  await clock.advance(22_000);
  expect(begun.map(({ token }) => token)).toContain(late);
  // All of the oldest began before any of the middle.
  expect(begun.slice(0, 200).map(({ token }) => token)).toEqual(expect.arrayContaining(tokensOf(60)));
});

it('skips items whose account cannot be inquired, and continues with the other accounts', async () => {
  const clock = createFakeClock();
  const rows = [
    ...tokensOf(500, 'sick').map((token) => rowOf({ token, account: 'sick', dueAt: clock.now() })),
    ...tokensOf(5, 'well').map((token) => rowOf({ token, account: 'well', dueAt: clock.now() })),
  ];
  const account = { isSick: true };
  const { begun, index, schedule } = start({
    rows,
    clock,
    mayAsk: (each) => each.account !== 'sick' || !account.isSick,
  });
  await clock.advance(20 * minute);
  expect(new Set(begun.map(({ token }) => token.slice(0, 4)))).toEqual(new Set(['well']));
  // No item of the failing account was read, and the metric shows it.
  expect(index.read.rows).toBeLessThan(100);
  expect(schedule.health()).toMatchObject({ isBehind: true });
  expect(schedule.health().overdueMs.open).toBeGreaterThan(15 * minute);
  account.isSick = false;
  await clock.advance(5_000);
  expect(begun.filter(({ token }) => token.startsWith('sick'))).toHaveLength(500);
  expect(schedule.health()).toMatchObject({ isBehind: false, overdueMs: { open: 0 } });
});

it('keeps items due that were not inquired, and backs off after failures', async () => {
  const clock = createFakeClock();
  const rows = ['turned-away', 'unanswered'].map((token) => newRow(clock, token, 'unresolved'));
  const { begun } = start({
    rows,
    clock,
    inquire: (token) => Promise.resolve(token === 'turned-away' ? 'not-asked' : 'failed'),
  });
  await clock.advance(24_000);
  const countOf = (token: string) => begun.filter((each) => each.token === token).length;
  expect(countOf('turned-away')).toBeGreaterThan(5);
  expect(countOf('unanswered')).toBe(2);
});

// The pass waited for its inquiries: one account that hung for minutes delayed all others by hours.
it('does not wait for one account that hangs', async () => {
  const clock = createFakeClock();
  const rows = [
    ...tokensOf(200, 'hangs').map((token) => rowOf({ token, account: 'hangs', dueAt: clock.now() })),
  ];
  const { begun } = start({
    rows,
    clock,
    inquire: async (token) => {
      if (token.startsWith('hangs')) await clock.sleep(10 * minute);
      return 'inquired';
    },
  });
  await clock.advance(1_000);
  expect(begun).toHaveLength(64);
  rows.push(newRow(clock, 'well', 'unresolved'));
  rows.forEach((row) => row.token === 'well' && (row.account = 'well'));
  await clock.advance(8_000);
  expect(begun.map(({ token }) => token)).toContain('well');
});

it('does not inquire an item again while its inquiry is under way, nor at once after a failure', async () => {
  const clock = createFakeClock();
  const rows = ['slow', 'broken'].map((token) => newRow(clock, token, 'unresolved'));
  const { begun } = start({
    rows,
    clock,
    inquire: async (token) => {
      if (token === 'broken') throw new Error('the store is down');
      await clock.sleep(10 * minute);
      return 'inquired';
    },
  });
  await clock.advance(9 * minute);
  const countOf = (token: string) => begun.filter((each) => each.token === token).length;
  expect(countOf('slow')).toBe(1);
  expect(countOf('broken')).toBe(6);
});

it('spreads items that were due before the take-over, except those with unknown outcomes', async () => {
  const clock = createFakeClock();
  const rows = inquiryNeeds.flatMap((inquiryNeed) =>
    tokensOf(50, inquiryNeed).map((token) =>
      rowOf({ token, inquiryNeed, updatedAt: clock.now() - 30 * minute, dueAt: clock.now() - 20 * minute }),
    ),
  );
  const { begun } = start({ rows, clock });
  const countOf = (need: InquiryNeed) => begun.filter(({ token }) => token.startsWith(need)).length;
  await clock.advance(3_000);
  expect(countOf('unresolved')).toBe(50);
  const later = () => [countOf('open'), countOf('settled')];
  for (const count of later()) expect(count).toBeLessThan(10);
  await clock.advance(4 * minute);
  for (const count of later()) expect(count).toBeGreaterThan(10);
  for (const count of later()) expect(count).toBeLessThan(40);
  await clock.advance(6 * minute);
  for (const count of later()) expect(count).toBeGreaterThanOrEqual(50);
});

// Of a million, sixty-four per pass would have been postponed each second.
it('postpones at once everything that was due before the take-over', async () => {
  const clock = createFakeClock();
  const rows = tokensOf(5_000).map((token) =>
    rowOf({ token, updatedAt: clock.now() - 9 * hour, dueAt: clock.now() - hour }),
  );
  const { begun, schedule } = start({ rows, clock });
  for (let turn = 0; turn < 20; turn += 1) await clock.advance(1);
  expect(rows.filter(({ dueAt = 0 }) => dueAt < clock.now() - 1_000)).toEqual([]);
  expect(begun.length).toBeLessThan(100);
  await clock.advance(1_000);
  expect(schedule.health().overdueMs.open).toBeLessThan(2_000);
});

// Simulation, seed 5: the first inquiry about a lost answer came more than an hour later, and the next one a day later. Before
// the first one the process had observed nothing, so absence proved nothing.
it('inquires an unresolved item again once its quiet period was observed, however old it is', async () => {
  const clock = createFakeClock();
  const updatedAt = clock.now() - 2 * hour;
  const rows = [rowOf({ token: 'pay_1', inquiryNeed: 'unresolved', updatedAt, dueAt: clock.now() })];
  const { begun } = start({ rows, clock, quietPeriodMs: 4 * minute });
  await clock.advance(4 * minute + 5_000);
  expect(begun.map(({ at }) => at)).toEqual([0, expect.toSatisfy((at: number) => at >= 4 * minute)]);
  await clock.advance(hour);
  expect(begun).toHaveLength(2);
});

it('reads only the items that it begins, however many are due', async () => {
  const clock = createFakeClock();
  const rows = tokensOf(20_000).map((token) => rowOf({ token, dueAt: clock.now() }));
  const { begun, index } = start({
    rows,
    clock,
    inquire: async () => {
      await clock.sleep(1_000);
      return 'inquired';
    },
  });
  await clock.advance(3_000);
  expect(begun.length).toBeGreaterThan(100);
  expect(index.read.rows).toBeLessThan(4 * begun.length);
});

// The clock was corrected after the start. Each pass postponed open items by the hour that the clock had been wrong.
it('postpones nothing further if its clock was ahead when it took the shard', async () => {
  const real = createFakeClock();
  const ahead = { ms: 24 * hour };
  const clock = { ...real, now: () => real.now() + ahead.ms };
  const rows: Row[] = [];
  const { begun } = start({ rows, clock });
  await real.advance(1_000);
  ahead.ms = 0;
  rows.push(rowOf({ token: 'pay_1', updatedAt: real.now() - 5 * minute, dueAt: real.now() }));
  await real.advance(hour);
  expect(begun.length).toBeGreaterThan(0);
});

// Each process has its own index: after taking over a shard it inquired every settled item at once.
it('does not inquire, after a take-over, items settled more than a month ago', async () => {
  const clock = createFakeClock();
  const rows = tokensOf(100).map((token) => {
    const updatedAt = clock.now() - 60 * 24 * hour;
    const dueAt = nextInquiryAt({ token, inquiryNeed: 'settled', updatedAt }, updatedAt);
    return rowOf({ token, inquiryNeed: 'settled', updatedAt, dueAt });
  });
  const { begun } = start({ rows, clock });
  for (let passed = 0; passed < 70; passed += 1) await clock.advance(minute);
  expect(begun).toEqual([]);
  expect(rows.map(({ dueAt }) => dueAt)).toEqual(rows.map(() => undefined));
});

// One of two gateways was stopped for half a minute. The other took its shards over, then it took them back, and each postponed
// new items: paid payments were still `init` four minutes later.
it('does not postpone new items when its shard changes hands', async () => {
  const clock = createFakeClock();
  const rows = tokensOf(40).map((token) => newRow(clock, token, 'open'));
  await clock.advance(2.5 * minute);
  const { begun } = start({ rows, clock });
  await clock.advance(5_000);
  expect(begun).toHaveLength(rows.length);
});

// One failed inquiry counted as made: a paid payment was shown as open for ten minutes, and a settled one was never
// inquired after the last distance.
it.each(inquiryNeeds)(
  'repeats a failed one after 15 s, then doubling until one is answered: %s',
  async (need) => {
    const clock = createFakeClock();
    const rows = [
      rowOf({
        token: 'pay_1',
        inquiryNeed: need,
        updatedAt: clock.now() - 35 * 24 * hour,
        dueAt: clock.now(),
      }),
    ];
    let failures = 3;
    const { begun } = start({
      rows,
      clock,
      inquire: () => Promise.resolve(failures-- > 0 ? 'failed' : 'inquired'),
    });
    await clock.advance(120_000);
    // A pass a second.
    const within = (second: number) =>
      expect.toSatisfy((at: number) => at >= second * 1_000 && at <= (second + 4) * 1_000);
    expect(begun.map(({ at }) => at)).toEqual([0, 15, 45, 105].map(within));
    failures = 1;
    rows[0]!.dueAt = clock.now();
    await clock.advance(20_000);
    expect(begun).toHaveLength(6);
  },
);

it('does not repeat failures about settled items without end', async () => {
  const clock = createFakeClock();
  const updatedAt = clock.now() - 41 * 24 * hour;
  const rows = [rowOf({ token: 'pay_1', inquiryNeed: 'settled', updatedAt, dueAt: clock.now() })];
  start({ rows, clock, inquire: () => Promise.resolve('failed') });
  await clock.advance(2_000);
  expect(rows[0]?.dueAt).toBeUndefined();
});
