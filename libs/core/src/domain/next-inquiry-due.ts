/** Due times of status inquiries, with or without callbacks. Durations and times are milliseconds. */
import type { InquiryNeed } from './failed-inquiry.ts';

/** Distances of the inquiries from the last change, by need. */
export type InquiryDelays = Readonly<Record<InquiryNeed, readonly number[]>>;

const second = 1_000;
const minute = 60 * second;
const hour = 60 * minute;
const day = 24 * hour;

export const inquiryDelays: InquiryDelays = {
  unresolved: [
    ...[5 * second, 15 * second, minute],
    ...[5, 10, 15, 20, 25].map((count) => count * minute),
    hour,
    ...[1, 2, 3, 4, 5, 6, 7].map((count) => count * day),
  ],
  open: [2 * minute, 10 * minute, hour, 6 * hour],
  // A final status may be revised while its callback is lost.
  settled: [hour, day, 7 * day, 30 * day],
};

export interface InquiryItem {
  token: string;
  inquiryNeed: InquiryNeed;
  /** Decision time of its last event, since the Unix epoch. */
  updatedAt: number;
}

/**
 * The first due time after `after`, since the Unix epoch. After the last distance an item that is not settled is inquired
 * daily without end, because time alone never turns unknown into failed. A settled item is not: undefined.
 *
 * If the recording clock ran ahead, the item is inquired at one distance until that time is reached.
 *
 * Each token is delayed by up to a tenth of the distance, so that items created together are not inquired together.
 */
export function nextInquiryAt(
  { token, inquiryNeed, updatedAt }: InquiryItem,
  after: number,
  delays: InquiryDelays = inquiryDelays,
): number | undefined {
  const stretch = 1 + fractionOf(token) / 10;
  if (updatedAt > after) return after + delayAhead(delays[inquiryNeed]) * stretch;
  const next = delays[inquiryNeed].find((delay) => updatedAt + delay * stretch > after);
  if (next !== undefined) return updatedAt + next * stretch;
  return inquiryNeed === 'settled' ? undefined : after + day * stretch;
}

/** Before a failed inquiry is retried; doubled with each consecutive failure. */
const repeatMs = 15 * second;
const repeatMsMax: Record<InquiryNeed, number> = { unresolved: hour, open: 6 * hour, settled: day };
/** Since the last change: after it, failed inquiries about settled items are not retried. */
const repeatedUntilMs = 40 * day;

/**
 * Retry time of a failed inquiry, not later than the next regular one. Undefined for a settled item whose inquiries
 * have failed long after the last due time.
 */
export function repeatedInquiryAt(
  item: InquiryItem,
  { now, inRow }: { now: number; inRow: number },
  delays: InquiryDelays = inquiryDelays,
): number | undefined {
  const next = nextInquiryAt(item, now, delays);
  if (next === undefined && now - item.updatedAt > repeatedUntilMs) return undefined;
  const delay = Math.min(repeatMs * 2 ** (inRow - 1), repeatMsMax[item.inquiryNeed]);
  return Math.min(next ?? Infinity, now + delay);
}

/** The third distance: the number of previous inquiries is not known. */
const delayAhead = (delays: readonly number[]): number => delays[2] ?? delays.at(-1) ?? day;

/** The first inquiry about an item in its current state. If the recording clock runs ahead, the change counts from now. */
export function firstInquiryAt(
  item: InquiryItem,
  now: number,
  delays: InquiryDelays = inquiryDelays,
): number | undefined {
  const seen = { ...item, updatedAt: Math.min(item.updatedAt, now) };
  const first = nextInquiryAt(seen, seen.updatedAt, delays);
  if (first === undefined || first > now) return first;
  // The number of inquiries since is not known; after the last distance there were enough.
  return item.inquiryNeed === 'settled' ? nextInquiryAt(seen, now, delays) : spreadFrom(seen, now, delays);
}

/**
 * New due time of an inquiry that was due before `since`, for example after a start or in a new index. Unresolved items are
 * due at once. The rest is spread over a quarter of the next distance, because all at once is too many; open items over an
 * hour at most, because callers wait for them.
 */
export function spreadFrom(item: InquiryItem, since: number, delays: InquiryDelays = inquiryDelays): number {
  if (item.inquiryNeed === 'unresolved') return since;
  const next = nextInquiryAt(item, since, delays) ?? since + hour;
  const spreadMs = Math.min((next - since) / 4, item.inquiryNeed === 'open' ? hour : Infinity);
  return since + fractionOf(item.token) * spreadMs;
}

/**
 * As {@link spreadFrom}, for the due items of this index. Undefined if the item is settled and its last inquiry is past while
 * this index still has an earlier one as due: another process, with its own index, has made them.
 */
export function spreadDue(
  item: InquiryItem & { dueAt: number },
  since: number,
  delays: InquiryDelays = inquiryDelays,
): number | undefined {
  const { inquiryNeed, dueAt } = item;
  const areOver = inquiryNeed === 'settled' && nextInquiryAt(item, since, delays) === undefined;
  return areOver && nextInquiryAt(item, dueAt, delays) !== undefined
    ? undefined
    : spreadFrom(item, since, delays);
}

/** The schedule distributes its work by shards of tokens. */
export const inquiryShards = 8;
export const inquiryShardOf = (token: string): number => hashOf(token) % inquiryShards;

/** In [0, 1), the same on every machine, independent of the shard. */
const fractionOf = (token: string): number => (hashOf(token) >>> 8) / 2 ** 24;

/** FNV-1a, 32 bits, mixed at the end so that all bits depend on every character. */
function hashOf(token: string): number {
  let hash = 0x811c9dc5;
  for (let index = 0; index < token.length; index += 1)
    hash = Math.imul(hash ^ token.charCodeAt(index), 0x01000193);
  hash = Math.imul(hash ^ (hash >>> 16), 0x7feb352d);
  hash = Math.imul(hash ^ (hash >>> 15), 0x846ca68b);
  return (hash ^ (hash >>> 16)) >>> 0;
}
