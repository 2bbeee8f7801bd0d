import type { Clock, Ids } from '@tollgate/service-kit';
import { TollgateError } from '@tollgate/service-kit';
import type { EventStore, Revision } from './event-store.ts';

/** The last event of a stream `lease-<name>`. */
interface LeaseRecord {
  /** Distinguishes one acquisition from all others, also of the same holder. */
  token: string;
  holder: string;
  /** Milliseconds since the Unix epoch, by the holder's clock. */
  expiresAt: number;
  durationMs: number;
}

/** The lease as it stands: `record` is undefined when it was released. */
export interface LeaseState {
  revision: Revision;
  record: LeaseRecord | undefined;
}

/** An event of a lease stream by which this process took the lease, or made it last. */
interface LeasePlace {
  token: string;
  revision: Revision;
}

/** A lease that this process holds. */
export interface HeldLease extends LeasePlace {
  /** It lasts from then on, by the monotonic clock, milliseconds: when its event was sent, whenever the answer came. */
  since: number;
}

/** One event that makes a lease last longer, however often it is sent. */
export interface Renewal {
  eventId: string;
  /** When it was sent first, by the monotonic clock, milliseconds. */
  since: number;
}

export interface LeaseStreamOptions {
  store: EventStore;
  clock: Clock;
  ids: Ids;
  name: string;
  holder: string;
  durationMs: number;
}

/** Reads and writes one lease stream; each write expects the revision that was read, so only one of several succeeds. */
export interface LeaseStream {
  readLast(): Promise<LeaseState | undefined>;
  /** Takes the lease that was found in this state; undefined when somebody else was faster. */
  take(found: LeaseState | undefined, token: string): Promise<HeldLease | undefined>;
  /** A new one, to be sent now. */
  renewal(): Renewal;
  /**
   * Makes the lease last longer; undefined when it is lost. Repeat a renewal that failed as it was: it may have been
   * written, and lasts from when it was sent first.
   */
  renew(held: LeasePlace, renewal: Renewal): Promise<HeldLease | undefined>;
  release(held: LeasePlace): Promise<void>;
}

export function createLeaseStream(options: LeaseStreamOptions): LeaseStream {
  const { store, clock, ids, name, holder, durationMs } = options;
  const stream = `lease-${name}`;

  // Ids are random: they must distinguish what two holders write about one state, or both would get the lease.
  const renewal = (): Renewal => ({ eventId: ids.uuid(), since: clock.monotonic() });

  const append = async (
    type: string,
    { eventId: id, since }: Renewal,
    token: string,
    expected: Revision | 'no-stream',
  ) => {
    const data: LeaseRecord = { token, holder, expiresAt: clock.now() + durationMs, durationMs };
    const answer = await store.append(stream, [{ id, type, data, metadata: {} }], expected);
    return answer.kind === 'appended' ? { token, revision: answer.revision, since } : undefined;
  };

  return {
    readLast: async () => {
      for await (const { revision, type, data } of store.read(stream, { direction: 'backwards', limit: 1 })) {
        return { revision, record: type === 'LeaseReleased' ? undefined : toLeaseRecord(data) };
      }
      return undefined;
    },
    take: async (found, token) => {
      const held = await append('LeaseTaken', renewal(), token, found?.revision ?? 'no-stream');
      if (held !== undefined) await store.keepLast(stream, 1);
      return held;
    },
    renewal,
    renew: (held, each) => append('LeaseRenewed', each, held.token, held.revision),
    release: async (held) => {
      await append('LeaseReleased', renewal(), held.token, held.revision);
    },
  };
}

function toLeaseRecord(data: unknown): LeaseRecord {
  const { token, holder, expiresAt, durationMs } = (data ?? {}) as Record<string, unknown>;
  const isText = typeof token === 'string' && typeof holder === 'string';
  if (!isText || typeof expiresAt !== 'number' || typeof durationMs !== 'number') {
    throw new TollgateError('lease_unreadable', 'A lease stream holds an event that is no lease.');
  }
  return { token, holder, expiresAt, durationMs };
}
