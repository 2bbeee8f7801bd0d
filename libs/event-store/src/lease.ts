import { errorCode, silentLog, type Clock, type Ids, type Log, isRetryable } from '@tollgate/service-kit';
import type { EventStore } from './event-store.ts';
import {
  createLeaseStream,
  type HeldLease,
  type LeaseState,
  type LeaseStream,
  type Renewal,
} from './lease-record.ts';
import { createTrouble, type Trouble } from './trouble.ts';
import { within } from './within.ts';

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
  /** Says who holds the lease; is shown to `isGone` of others and written to logs. */
  holder: string;
  /** Ends the work, or the wait for the lease. */
  signal: AbortSignal;
  /** True where a holder certainly does not run any more: its lease is taken at once. */
  isGone?: (holder: string) => boolean;
  /** How long a lease lasts after its last renewal; 10 seconds by default. */
  durationMs?: number;
  log?: Log;
}

type Work = (signal: AbortSignal) => Promise<void>;
type Lease = Required<LeaseOptions> & { stream: LeaseStream; trouble: Trouble };

/**
 * Runs `work` while this process holds the lease, so that of several replicas one works and the others stand by. The
 * signal that `work` gets is aborted when the lease is lost (then this stands by, and runs `work` again once it holds
 * the lease) or when `signal` is aborted; the lease is renewed until `work` has ended, and then released. Resolves
 * when `work` has resolved, or has ended after `signal` was aborted.
 *
 * Two holders for a short time are possible, after a long pause of the process or a jump of a clock: everything that
 * `work` does must be safe under that too.
 *
 * @throws what `work` throws, unless it is the end that its signal asked for; StoreUnavailable that is not retryable
 */
export async function runUnderLease(options: LeaseOptions, work: Work): Promise<void> {
  const lease = withDefaults(options);
  while (!lease.signal.aborted) {
    const held = await acquire(lease);
    if (held === undefined || (await workUnder(lease, held, work)) === 'ended') return;
    lease.log.warn({ operation: lease.name }, 'a lease was lost');
  }
}

function withDefaults(options: LeaseOptions): Lease {
  const defaults = { isGone: () => false, durationMs: leaseDurationMsDefault, log: silentLog };
  const complete = { ...defaults, ...options };
  const trouble = createTrouble(complete.log, {
    failing: 'a lease could not be read or written',
    over: 'a lease can be read and written again',
  });
  return { ...complete, stream: createLeaseStream(complete), trouble };
}

/** Waits until the lease can be taken; undefined when the signal was aborted first. */
async function acquire(lease: Lease): Promise<HeldLease | undefined> {
  const { clock, signal, ids, stream } = lease;
  const token = ids.uuid();
  const isFree = createFreeCheck(lease);
  while (!signal.aborted) {
    const held = await unlessUnavailable(lease, async () => {
      const found = await stream.readLast();
      // Our own token is there when the answer to an earlier try was lost; nobody knows since when.
      if (found?.record?.token === token) return stream.renew({ ...found, token }, stream.renewal());
      return isFree(found) ? stream.take(found, token) : undefined;
    });
    if (held !== undefined) return held;
    await sleepUnlessAborted(clock, lease.durationMs / looksPerDuration, signal);
  }
  return undefined;
}

/**
 * Besides by the clock's time, a lease has expired when it was seen without renewal for as long as it lasts: so a clock
 * that was set back does not keep a dead holder's lease alive.
 */
function createFreeCheck({ clock, isGone }: Lease): (found: LeaseState | undefined) => boolean {
  let seen = { revision: -1, at: 0 };
  return (found) => {
    if (found?.record === undefined || isGone(found.record.holder)) return true;
    if (found.revision !== seen.revision) seen = { revision: found.revision, at: clock.monotonic() };
    const isUnrenewed = clock.monotonic() - seen.at >= found.record.durationMs;
    return isUnrenewed || clock.now() >= found.record.expiresAt;
  };
}

async function workUnder(lease: Lease, held: HeldLease, work: Work): Promise<'ended' | 'lost'> {
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
    // Where this fails, the lease expires.
    if (last !== undefined) await lease.stream.release(last).catch((error: unknown) => warn(lease, error));
  }
  return (await renewing) === undefined && !lease.signal.aborted ? 'lost' : 'ended';
}

/** Gives the lease as it was last renewed when the work has ended, or undefined as soon as it is lost. */
async function keepRenewing(
  lease: Lease,
  first: HeldLease,
  workEnded: AbortSignal,
): Promise<HeldLease | undefined> {
  const { clock, durationMs, stream } = lease;
  let held = first;
  let renewal: Renewal | undefined;
  const endingMs = durationMs / endingsPerDuration;
  // A lease expires without notice: the work must end before another can begin, however long a renewal takes.
  const leftMs = () => Math.max(0, held.since + durationMs - endingMs - clock.monotonic());
  const pauseMs = () => Math.min(durationMs / renewalsPerDuration, leftMs());
  while (await sleepUnlessAborted(clock, pauseMs(), workEnded)) {
    const each = (renewal ??= stream.renewal());
    const renew = async () => (await stream.renew(held, each)) ?? 'lost';
    // After a long pause of the process, too, one is tried: nobody else may have taken the lease.
    const tryMs = Math.max(leftMs(), endingMs);
    const renewed = await unlessUnavailable(lease, () => within(clock, tryMs, renew()));
    if (renewed === 'lost') return undefined;
    if (renewed === undefined && leftMs() === 0) return undefined;
    if (renewed === undefined) continue;
    held = renewed;
    renewal = undefined;
  }
  return held;
}

/** Gives undefined, and logs, where the store may work again later. */
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

function isAskedFor(error: unknown, signal: AbortSignal): boolean {
  return (
    signal.aborted && (error === signal.reason || (error instanceof Error && error.name === 'AbortError'))
  );
}
