/** Leases: one of several processes works, and the others stand by. */
import {
  TollgateError,
  errorCode,
  isRetryable,
  silentLog,
  type Clock,
  type Ids,
  type Log,
} from '@tollgate/service-kit';
import { z } from 'zod';
import { storeInTime } from './errors.ts';
import type { EventStore, Revision } from './event-store.ts';
import { readLast } from './follower/checkpoint.ts';
import { createTrouble, type Trouble } from './trouble.ts';

export const leaseDurationMsDefault = 10_000;

/** A holder renews this often while its lease lasts; a standby reads it even more often. */
const renewalsPerDuration = 3;
const looksPerDuration = 10;
/** The last part of a lease that could not be renewed is for the work to end in. */
const endingsPerDuration = 10;

export interface LeaseOptions {
  store: EventStore;
  clock: Clock;
  ids: Ids;
  /** The stream is `lease-<name>`. */
  name: string;
  /** The holder of the lease; passed to `isGone` of others and logged. */
  holder: string;
  /** Ends the work, or the wait for the lease. */
  signal: AbortSignal;
  /** True for a holder that has certainly ended: its lease is taken at once. */
  isGone?: (holder: string) => boolean;
  /** @default 10_000 */
  durationMs?: number;
  log?: Log;
}

type Work = (signal: AbortSignal) => Promise<void>;
type Lease = Required<LeaseOptions> & { stream: string; trouble: Trouble };

/** Data of an event of the stream, without any wall clock. */
const recordSchema = z.object({
  /** Distinguishes one acquisition from all others, including those of the same holder. */
  token: z.string(),
  holder: z.string(),
  /** A challenger takes the lease over once it has seen no renewal for this long, by its own monotonic clock. */
  durationMs: z.number(),
});

/** The lease as the stream ends; `record` is undefined when it was released. */
interface Found {
  revision: Revision;
  record: z.infer<typeof recordSchema> | undefined;
}

interface Held {
  token: string;
  revision: Revision;
  /** Start by the monotonic clock: the first send of its event, whenever the answer arrived. */
  since: number;
}

/** One event that makes a lease last longer, however often it is sent. */
interface Renewal {
  id: string;
  since: number;
}

/**
 * Runs `work` while this process holds the lease. The signal of `work` is aborted when the lease is lost (then this stands by,
 * and runs `work` again once it holds the lease) or when `signal` is aborted; the lease is renewed until `work` has ended, and
 * then released. Resolves when `work` has resolved, or has ended after `signal` was aborted.
 *
 * Two holders are possible for a short time, after a long pause of the process: `work` must be safe under that too.
 *
 * @throws errors of `work`, unless its signal was aborted; StoreUnavailable that is not retryable
 */
export async function runUnderLease(options: LeaseOptions, work: Work): Promise<void> {
  const complete = { isGone: () => false, durationMs: leaseDurationMsDefault, log: silentLog, ...options };
  const trouble = createTrouble(complete.log, {
    failing: 'a lease could not be read or written',
    over: 'a lease can be read and written again',
  });
  const lease = { ...complete, stream: `lease-${options.name}`, trouble };
  while (!lease.signal.aborted) {
    const held = await acquire(lease);
    if (held === undefined || (await workUnder(lease, held, work)) === 'ended') return;
    lease.log.warn({ operation: lease.name }, 'a lease was lost');
  }
}

/** Waits until the lease can be taken; undefined if the signal was aborted first. */
async function acquire(lease: Lease): Promise<Held | undefined> {
  const { clock, signal, ids } = lease;
  const token = ids.uuid();
  const isFree = createFreeCheck(lease);
  while (!signal.aborted) {
    const held = await unlessUnavailable(lease, async () => {
      const found = await find(lease);
      // Our own token is there when the answer to an earlier try was lost; it is not known since when.
      if (found?.record?.token === token) return append(lease, 'LeaseRenewed', token, found.revision);
      if (!isFree(found)) return undefined;
      return append(lease, 'LeaseTaken', token, found?.revision ?? 'no-stream');
    });
    if (held !== undefined) return held;
    await sleepUnlessAborted(clock, lease.durationMs / looksPerDuration, signal);
  }
  return undefined;
}

/** A lease has expired once this process has seen it without renewal for as long as it lasts. */
function createFreeCheck({ clock, isGone }: Lease): (found: Found | undefined) => boolean {
  let seen = { revision: -1, at: 0 };
  return (found) => {
    if (found?.record === undefined || isGone(found.record.holder)) return true;
    if (found.revision !== seen.revision) seen = { revision: found.revision, at: clock.monotonic() };
    return clock.monotonic() - seen.at >= found.record.durationMs;
  };
}

async function workUnder(lease: Lease, held: Held, work: Work): Promise<'ended' | 'lost'> {
  const lost = new AbortController();
  const workEnded = new AbortController();
  const signal = AbortSignal.any([lease.signal, lost.signal]);
  const renewing = keepRenewing(lease, held, workEnded.signal)
    .catch((error: unknown) => {
      warn(lease, error);
      return undefined;
    })
    .finally(() => lost.abort());
  try {
    await work(signal);
  } catch (error) {
    if (!isAskedFor(error, signal)) throw error;
  } finally {
    workEnded.abort();
    const last = await renewing;
    // If this fails, the lease expires.
    if (last !== undefined)
      await append(lease, 'LeaseReleased', last.token, last.revision).catch((error: unknown) =>
        warn(lease, error),
      );
  }
  return (await renewing) === undefined && !lease.signal.aborted ? 'lost' : 'ended';
}

/** Returns the last renewed lease when the work has ended, or undefined as soon as it is lost. */
async function keepRenewing(lease: Lease, first: Held, workEnded: AbortSignal): Promise<Held | undefined> {
  const { clock, durationMs } = lease;
  let held = first;
  let renewal: Renewal | undefined;
  const endingMs = durationMs / endingsPerDuration;
  // A lease expires without notice: the work must end before another can begin, however long a renewal takes.
  const leftMs = () => Math.max(0, held.since + durationMs - endingMs - clock.monotonic());
  const pauseMs = () => Math.min(durationMs / renewalsPerDuration, leftMs());
  while (await sleepUnlessAborted(clock, pauseMs(), workEnded)) {
    // A renewal that failed is repeated as it was: it may have been written, and lasts from when it was first sent.
    const each = (renewal ??= newRenewal(lease));
    const renew = async () =>
      (await append(lease, 'LeaseRenewed', held.token, held.revision, each)) ?? 'lost';
    // Even after a long pause of the process one renewal is tried: no other process may have taken the lease.
    const tryMs = Math.max(leftMs(), endingMs);
    const renewed = await unlessUnavailable(lease, () => storeInTime(clock, tryMs, renew()));
    if (renewed === 'lost') return undefined;
    if (renewed === undefined && leftMs() === 0) return undefined;
    if (renewed === undefined) continue;
    held = renewed;
    renewal = undefined;
  }
  return held;
}

// Ids are random: the writes of two holders about one state must differ, or both would get the lease.
const newRenewal = ({ ids, clock }: Lease): Renewal => ({ id: ids.uuid(), since: clock.monotonic() });

/** Only one of several that expect the same revision succeeds; undefined for the others. */
async function append(
  lease: Lease,
  type: 'LeaseTaken' | 'LeaseRenewed' | 'LeaseReleased',
  token: string,
  expected: Revision | 'no-stream',
  { id, since }: Renewal = newRenewal(lease),
): Promise<Held | undefined> {
  const { store, stream, holder, durationMs } = lease;
  const data: Found['record'] = { token, holder, durationMs };
  const answer = await store.append(stream, [{ id, type, data, metadata: {} }], expected, { keepLast: 1 });
  return answer.kind === 'appended' ? { token, revision: answer.revision, since } : undefined;
}

async function find({ store, stream }: Lease): Promise<Found | undefined> {
  const last = await readLast(store, stream);
  if (last === undefined) return undefined;
  const { revision, type, data } = last;
  if (type === 'LeaseReleased') return { revision, record: undefined };
  const record = recordSchema.safeParse(data).data;
  if (record === undefined)
    throw new TollgateError('lease_unreadable', 'A lease stream contains an event that is not a lease.');
  return { revision, record };
}

/** Returns undefined, and logs, if the store may recover. */
async function unlessUnavailable<Result>(
  lease: Lease,
  call: () => Promise<Result>,
): Promise<Result | undefined> {
  try {
    const result = await call();
    lease.trouble.worked();
    return result;
  } catch (error) {
    if (!isRetryable(error)) throw error;
    warn(lease, error);
    return undefined;
  }
}

const warn = ({ trouble, name }: Lease, error: unknown): void =>
  trouble.failed({ operation: name, code: errorCode(error) ?? '', error });

/** False when the signal was aborted. */
async function sleepUnlessAborted(clock: Clock, durationMs: number, signal: AbortSignal): Promise<boolean> {
  try {
    await clock.sleep(durationMs, signal);
  } catch (error) {
    if (!signal.aborted) throw error;
  }
  return !signal.aborted;
}

const isAskedFor = (error: unknown, signal: AbortSignal): boolean =>
  signal.aborted && (error === signal.reason || (error instanceof Error && error.name === 'AbortError'));
