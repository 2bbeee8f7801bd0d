/** Inquires everything that is not settled, on a schedule, with or without callbacks. */
import type { InquiryNeed } from '@tollgate/payment-domain';
import type { Clock, Ids, Log } from '@tollgate/service-kit';
import { type InquiryQueue, createInquiryQueue } from './inquiry-queue.ts';

const second = 1_000;
const minute = 60 * second;
const hour = 60 * minute;
const day = 24 * hour;

/** When an unknown outcome is inquired, after the last change. */
const unresolvedScheduleMs = [
  5 * second,
  15 * second,
  minute,
  ...[5, 10, 15, 20, 25].map((count) => count * minute),
  hour,
  ...[1, 2, 3, 4, 5, 6, 7].map((count) => count * day),
];

/** When what the provider has not finished is inquired, after the last change; then daily. */
const openScheduleMs = [2 * minute, 10 * minute, hour, 6 * hour];

/**
 * The next instant after `after` at which an inquiry about an item is due, milliseconds since the Unix epoch. Inquiries
 * never end: time alone turns nothing into failed.
 *
 * @param jitter in [0, 1): moves the instant later by up to a tenth of its distance, so that payments which were made
 * together are not inquired together.
 */
export function nextInquiryAt(
  item: { inquiryNeed: InquiryNeed; updatedAt: number },
  after: number,
  jitter: number,
): number {
  const schedule = item.inquiryNeed === 'unresolved' ? unresolvedScheduleMs : openScheduleMs;
  const stretch = 1 + jitter / 10;
  const next = schedule.find((delay) => item.updatedAt + delay * stretch > after);
  if (next !== undefined) return item.updatedAt + next * stretch;
  return after + day * stretch;
}

/** Something that needs inquiries, as the index knows it. */
export interface OpenItem {
  token: string;
  inquiryNeed: InquiryNeed;
  /** Milliseconds since the Unix epoch. */
  updatedAt: number;
}

export interface InquiryScheduleDependencies {
  /** A page of what needs inquiries, in order of tokens, after a token. */
  openItems: (page: { after?: string; limit: number }) => readonly OpenItem[];
  inquire: (token: string) => Promise<unknown>;
  clock: Clock;
  ids: Ids;
  log: Log;
}

/** Pause between two passes; longer where reading what is open takes long, so that it is a tenth of the time at most. */
const passPauseMs = second;
const passPausePerReading = 9;
const pageSize = 500;
/** After a restart, what is open and overdue is inquired within this time, and not all at once. */
const restartSpreadMs = 10 * minute;

/** When each open item is due, and its last change when that was decided. */
type DueTimes = Map<string, { at: number; updatedAt: number }>;

/** Runs until the signal is aborted, and until the inquiries that had begun by then have ended. */
export async function runInquirySchedule(
  deps: InquiryScheduleDependencies,
  signal: AbortSignal,
): Promise<void> {
  const dueTimes: DueTimes = new Map();
  const queue = createInquiryQueue({ ...deps, onBegin: (item) => setNext(deps, dueTimes, item) });
  try {
    while (!signal.aborted) {
      const readingMs = await passOver(deps, { dueTimes, queue }, signal);
      const pauseMs = Math.max(passPauseMs, passPausePerReading * readingMs);
      await deps.clock.sleep(pauseMs, signal).catch(() => undefined);
    }
  } finally {
    await queue.close();
  }
}

/** Hands what is due to the queue and waits for no inquiry. @returns the time that reading has taken, milliseconds */
async function passOver(
  deps: InquiryScheduleDependencies,
  { dueTimes, queue }: { dueTimes: DueTimes; queue: InquiryQueue },
  signal: AbortSignal,
): Promise<number> {
  const seen = new Set<string>();
  let readingMs = 0;
  let after: string | undefined;
  for (let isLast = false; !isLast;) {
    const startedAt = deps.clock.monotonic();
    const page = deps.openItems({ limit: pageSize, ...(after === undefined ? {} : { after }) });
    readingMs += deps.clock.monotonic() - startedAt;
    page.forEach(({ token }) => seen.add(token));
    queue.offer(page.filter((item) => isDue(deps, dueTimes, item)));
    // Between pages everybody else has a turn.
    await deps.clock.sleep(0, signal).catch(() => undefined);
    if (signal.aborted) return readingMs;
    after = page.at(-1)?.token;
    isLast = page.length < pageSize;
  }
  for (const token of dueTimes.keys()) if (!seen.has(token)) dueTimes.delete(token);
  return readingMs;
}

/** What is due stays so until its inquiry begins: what finds no place in the queue is offered again by the next pass. */
function isDue({ clock, ids }: InquiryScheduleDependencies, dueTimes: DueTimes, item: OpenItem): boolean {
  const { token, inquiryNeed, updatedAt } = item;
  const now = clock.now();
  const known = dueTimes.get(token);
  if (known?.updatedAt === updatedAt) return known.at <= now;
  const jitter = ids.fraction();
  let at = nextInquiryAt(item, updatedAt, jitter);
  // Seen for the first time and overdue: the process has restarted, and everything open is seen at once.
  if (known === undefined && inquiryNeed === 'open' && at <= now) at = now + jitter * restartSpreadMs;
  dueTimes.set(token, { at, updatedAt });
  return at <= now;
}

function setNext({ clock, ids }: InquiryScheduleDependencies, dueTimes: DueTimes, item: OpenItem): void {
  const at = nextInquiryAt(item, clock.now(), ids.fraction());
  dueTimes.set(item.token, { at, updatedAt: item.updatedAt });
}
