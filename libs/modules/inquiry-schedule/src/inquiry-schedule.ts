/**
 * Inquires due items, with or without callbacks. The index has the due times, because an inquiry that finds nothing new writes
 * no event; the cost of a pass depends on the items due, not on the open ones.
 */
import {
  type DueInquiries,
  type DueItem,
  type DueQueue,
  type Environment,
  type InquiryDelays,
  type InquiryNeed,
  type InquiryResult,
  type Postponed,
  inquiryNeeds,
  nextInquiryAt,
  repeatedInquiryAt,
  spreadDue,
} from '@tollgate/core';
import { type RecentlyUsed, createRecentlyUsed } from '@tollgate/event-store';
import { type Clock, type Log, isRetryable } from '@tollgate/service-kit';

export interface InquiryScheduleDependencies {
  index: DueInquiries;
  inquire: (token: string) => Promise<InquiryResult>;
  /** False while inquiring the account is pointless: its items stay due. */
  mayAsk: (account: { environment: Environment; account: string }) => boolean;
  delays: InquiryDelays;
  /** How long a process observes an announced call before absence proves that it had no effect, milliseconds. */
  quietPeriodMs: number;
  clock: Clock;
  log: Log;
}

export interface InquirySchedule {
  /** Inquires the items of a shard until the signal is aborted and its inquiries under way have ended. */
  runShard(shard: number, signal: AbortSignal): Promise<void>;
  health(): InquiryScheduleHealth;
}

export interface InquiryScheduleHealth {
  /** Age of the oldest due inquiry of each need in this process's shards, milliseconds. */
  overdueMs: Record<InquiryNeed, number>;
  /** True if one has been waiting beyond its bound. */
  isBehind: boolean;
}

/** Maximum concurrent inquiries of one account; its budget admits fewer. */
const accountAtOnceMax = 64;
/** The share of each need in the inquiries begun for an account, if all are due. */
const weights: Record<InquiryNeed, number> = { unresolved: 4, open: 3, settled: 1 };
/** The share of a queue's inquiries for its newest items: the oldest must not hold them up. */
const newestPart = 1 / 4;
/** How long an item may be due before the schedule counts as lagging, milliseconds. */
const overdueMsMax: Record<InquiryNeed, number> = {
  unresolved: 2 * 60_000,
  open: 15 * 60_000,
  settled: 6 * 3_600_000,
};
const passPauseMs = 1_000;
/** Maximum number of tokens with remembered failures and first inquiries; a forgotten one is repeated as after one failure. */
const rememberedMax = 50_000;
/**
 * An item that became due this shortly before a take-over is inquired now: shards change hands repeatedly. @unit milliseconds
 */
const justDueMs = 5 * 60_000;
/** Of one queue in one pass. */
const spreadAtOnceMax = 500;

const nothingOverdue: Record<InquiryNeed, number> = { unresolved: 0, open: 0, settled: 0 };

interface Shard {
  /** When this process took the shard over, milliseconds since the Unix epoch. */
  since: number;
  underWay: Set<Promise<void>>;
}

interface Schedule extends InquiryScheduleDependencies {
  shards: Map<number, Shard>;
  /** Tokens by account. */
  underWay: Map<string, Set<string>>;
  postponed: Postponed[];
  /** Consecutive failed inquiries by token. */
  failed: RecentlyUsed<{ inRow: number }>;
  /** End of this process's first answered inquiry about an unresolved item, by its monotonic clock, milliseconds. */
  firstInquired: RecentlyUsed<{ at: number }>;
  /** Inquired tokens that the index still has as due. */
  unwritten: Set<string>;
  overdueMs: Record<InquiryNeed, number>;
  passing: Promise<void> | undefined;
  /** Ends the pause before the next pass. */
  wake: AbortController;
}

export function createInquirySchedule(deps: InquiryScheduleDependencies): InquirySchedule {
  const schedule: Schedule = {
    ...deps,
    shards: new Map(),
    underWay: new Map(),
    postponed: [],
    unwritten: new Set(),
    failed: createRecentlyUsed(rememberedMax),
    firstInquired: createRecentlyUsed(rememberedMax),
    overdueMs: nothingOverdue,
    passing: undefined,
    wake: new AbortController(),
  };
  return {
    runShard: (shard, signal) => runShard(schedule, shard, signal),
    health: () => ({
      overdueMs: schedule.overdueMs,
      isBehind: inquiryNeeds.some((need) => schedule.overdueMs[need] > overdueMsMax[need]),
    }),
  };
}

async function runShard(schedule: Schedule, shard: number, signal: AbortSignal): Promise<void> {
  if (signal.aborted) return;
  const { shards, clock } = schedule;
  const held: Shard = { since: clock.now(), underWay: new Set() };
  shards.set(shard, held);
  schedule.passing ??= passUntilIdle(schedule);
  schedule.wake.abort();
  await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
  shards.delete(shard);
  await Promise.all(held.underWay);
  if (shards.size === 0) schedule.wake.abort();
  await (shards.size === 0 ? schedule.passing : undefined);
  await pass(schedule);
}

async function passUntilIdle(schedule: Schedule): Promise<void> {
  while (schedule.shards.size > 0) {
    schedule.wake = new AbortController();
    const isMoreToSpread = await pass(schedule);
    const pauseMs = isMoreToSpread ? 0 : passPauseMs;
    await schedule.clock.sleep(pauseMs, schedule.wake.signal).catch(() => undefined);
  }
  schedule.overdueMs = nothingOverdue;
  // At once: a new shard starts a new loop.
  schedule.passing = undefined;
}

/** @returns true if more may be left that was due before the take-over */
async function pass(schedule: Schedule): Promise<boolean> {
  const { index, shards, clock, log } = schedule;
  try {
    await flush(schedule);
    const queues = index.dueQueues([...shards.keys()]);
    schedule.overdueMs = overdueIn(queues, clock.now());
    const old = queues.filter((queue) => spread(schedule, queue));
    const ready = queues.filter((queue) => !old.includes(queue));
    for (const ofAccount of Map.groupBy(ready, accountOf).values()) beginFor(schedule, ofAccount);
    await flush(schedule);
    return old.length > 0;
  } catch (error) {
    // The index is being rebuilt, or was found damaged: wait until it is complete.
    if (!isRetryable(error))
      log.error(
        { error, operation: 'inquiry-schedule' },
        'due inquiries could not be read; the schedule retries',
      );
    return false;
  }
}

async function flush(schedule: Schedule): Promise<void> {
  const { postponed, index, unwritten } = schedule;
  if (postponed.length === 0) return;
  schedule.postponed = [];
  // If the write fails, it stays due as before.
  await index.postpone(postponed).finally(() => {
    for (const { item } of postponed) unwritten.delete(item.token);
  });
}

/**
 * Items due before the take-over may have been inquired by the previous process, and all at once is too much.
 *
 * @returns true if the queue begins with such items
 */
function spread(
  { index, shards, postponed, delays, clock }: Schedule,
  queue: DueQueue & { oldestDueAt: number },
): boolean {
  const held = shards.get(queue.shard);
  if (held === undefined) return false;
  // Not in the future, if our clock was ahead at the take-over.
  held.since = Math.min(held.since, clock.now());
  const { since } = held;
  const before = since - justDueMs;
  if (queue.oldestDueAt >= before || queue.inquiryNeed === 'unresolved') return false;
  const old = index.dueItems(queue, { limit: spreadAtOnceMax }).filter(({ dueAt }) => dueAt < before);
  for (const item of old) postponed.push({ item, dueAt: spreadDue(item, since, delays) });
  return old.length > 0;
}

/** @param queues all of one account */
function beginFor(schedule: Schedule, queues: readonly DueQueue[]): void {
  const [first] = queues;
  if (first === undefined || !schedule.mayAsk(first)) return;
  const known = schedule.underWay.get(accountOf(first)) ?? new Set<string>();
  schedule.underWay.set(accountOf(first), known);
  const places = accountAtOnceMax - known.size;
  if (places <= 0) return;
  const byNeed = Map.groupBy(queues, ({ inquiryNeed }) => inquiryNeed);
  const weightOfAll = [...byNeed.keys()].reduce((sum, need) => sum + weights[need], 0);
  for (const need of inquiryNeeds) {
    const ofNeed = byNeed.get(need) ?? [];
    const share = Math.ceil((places * weights[need]) / weightOfAll / ofNeed.length);
    for (const queue of ofNeed)
      for (const item of itemsOf(schedule, queue, { share, known })) {
        if (known.size >= accountAtOnceMax) return;
        begin(schedule, item, { queue, known });
      }
  }
}

/** The oldest, and a few of the newest unless these are all. Items under way are still due, and skipped. */
function itemsOf(
  { index, unwritten }: Schedule,
  queue: DueQueue,
  { share, known }: { share: number; known: ReadonlySet<string> },
): DueItem[] {
  const isNew = ({ token }: DueItem) => !known.has(token) && !unwritten.has(token);
  const limit = share + known.size + unwritten.size + 1;
  const oldest = index.dueItems(queue, { limit }).filter(isNew);
  if (oldest.length <= share) return oldest;
  const newestMax = Math.floor(share * newestPart);
  const newest = newestMax === 0 ? [] : index.dueItems(queue, { limit: newestMax, newest: true });
  const items = [...oldest.slice(0, share - newest.length), ...newest.filter(isNew)];
  return [...new Map(items.map((item) => [item.token, item])).values()];
}

function begin(
  schedule: Schedule,
  item: DueItem,
  { queue, known }: { queue: DueQueue; known: Set<string> },
): void {
  const shard = schedule.shards.get(queue.shard);
  if (shard === undefined) return;
  known.add(item.token);
  const inquiring = inquireOnce(schedule, item).finally(() => {
    known.delete(item.token);
    shard.underWay.delete(inquiring);
    if (known.size === accountAtOnceMax / 2) schedule.wake.abort();
  });
  shard.underWay.add(inquiring);
}

/** Never rejects. An item that was not inquired stays due. */
async function inquireOnce(schedule: Schedule, item: DueItem): Promise<void> {
  const { inquire, clock, delays, log, failed } = schedule;
  const result = await inquire(item.token).catch((error: unknown) => {
    const { token } = item;
    log.error({ error, token, operation: 'inquiry-schedule' }, 'an inquiry failed; the schedule repeats it');
    return 'failed' as const;
  });
  if (result === 'not-asked') return;
  const { token } = item;
  const inRow = result === 'failed' ? (failed.get(token)?.inRow ?? 0) + 1 : 0;
  if (inRow > 0) failed.set(token, { inRow });
  else failed.delete(token);
  schedule.unwritten.add(token);
  const now = clock.now();
  const dueAt =
    inRow > 0 ? repeatedInquiryAt(item, { now, inRow }, delays) : nextInquiryOf(schedule, item, now);
  schedule.postponed.push({ item, dueAt });
}

/**
 * Not later than the time when an inquiry of this process may prove absence. After a restart the regular intervals,
 * which grow to a day, could be longer.
 */
function nextInquiryOf(
  { firstInquired, quietPeriodMs, clock, delays }: Schedule,
  item: DueItem,
  now: number,
): number | undefined {
  const next = nextInquiryAt(item, now, delays);
  if (item.inquiryNeed !== 'unresolved') return next;
  const key = `${item.token}/${item.revision}`;
  const first = firstInquired.get(key) ?? { at: clock.monotonic() };
  firstInquired.set(key, first);
  const quietInMs = first.at + quietPeriodMs - clock.monotonic();
  return quietInMs > 0 ? Math.min(next ?? Infinity, now + quietInMs) : next;
}

const accountOf = ({ environment, account }: DueQueue): string => `${environment}/${account}`;

const overdueIn = (
  queues: readonly (DueQueue & { oldestDueAt: number })[],
  now: number,
): Record<InquiryNeed, number> =>
  queues.reduce(
    (longest, { inquiryNeed, oldestDueAt }) => ({
      ...longest,
      [inquiryNeed]: Math.max(longest[inquiryNeed], now - oldestDueAt),
    }),
    nothingOverdue,
  );
