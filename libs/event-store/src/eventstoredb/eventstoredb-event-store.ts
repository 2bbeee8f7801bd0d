import {
  StartupError,
  type TollgateError,
  errorCode,
  silentLog,
  type Clock,
  type Log,
  isRetryable,
} from '@tollgate/service-kit';
import { serializeAppend } from '../append-arguments.ts';
import type { EventStore, Position, ReadOptions, RecordedEvent, SubscribeOptions } from '../event-store.ts';
import { StoreUnavailable, storeClosed } from '../errors.ts';
import { createSharedSubscription } from '../shared-subscription.ts';
import { createAppend } from './appender.ts';
import { type EventStoreDbConnection, openLink } from './connection.ts';
import { createHeadWatch } from './head-watch.ts';
import { isTrimDue, keepLast, truncate } from './stream-metadata.ts';
import { type Reads, createReads } from './reading.ts';
import { subscription } from './subscription.ts';
import { fromClientError } from './store-failure.ts';

export interface EventStoreDbOptions {
  connection: EventStoreDbConnection;
  clock: Clock;
  log?: Log;
  /** Maximum duration of one try of an append; there are up to four. @default 2,000 @unit milliseconds */
  appendTryMs?: number;
  /** A read without data for this long has failed. @default 5,000 @unit milliseconds */
  readSilenceMs?: number;
  /** How long a start waits for the store to answer, milliseconds; 30,000 by default. */
  reachWithinMs?: number;
  /** How long an event may be overdue before a subscription is mistaken for dead, milliseconds; 2,000 by default. */
  lateMs?: number;
}

export interface EventStoreDbStore extends EventStore {
  /** False while the store does not answer. */
  isReachable(): boolean;
}

const appendTryMsDefault = 2_000;
const readSilenceMsDefault = 5_000;
const reachWithinMsDefault = 30_000;
const reachPauseMs = 500;
/** Writes under way at once; more would only eat memory while a server is slow. */
const writesMax = 10_000;

/**
 * Uses an EventStoreDB (22.10 or later) or KurrentDB, one node or a cluster. Appends with a concrete expected revision are
 * sent again while their outcome is unknown; the server recognizes them.
 *
 * @throws StartupError if the store does not answer in time, or does not let us in
 */
export async function createEventStoreDbStore(options: EventStoreDbOptions): Promise<EventStoreDbStore> {
  const { connection, clock, log = silentLog, appendTryMs = appendTryMsDefault, lateMs } = options;
  const link = openLink(connection);
  const { client } = link;
  const reads = createReads(client, options.readSilenceMs ?? readSilenceMsDefault);
  await reach(reads, options).catch(async (error: unknown) => {
    await link.close();
    throw error;
  });
  const closing = new AbortController();
  let closed: Promise<void> | undefined;
  const readLast = (stream: string) => reads.first(stream, { direction: 'backwards' });
  const append = createAppend({ link, clock, appendTryMs, readFirst: reads.first });
  const heads = createHeadWatch({ readHead: reads.head, log, signal: closing.signal });
  const own = (given: SubscribeOptions) => subscription({ client, reads, heads, log, lateMs }, given);
  const subscribe = createSharedSubscription(own, { log, closing: closing.signal });
  const requireOpen = () => {
    if (closing.signal.aborted) throw storeClosed();
  };
  const writes = createWrites(requireOpen);
  const writing = writes.run;
  const trim = (stream: string, count: number) =>
    writing(() => keepLast({ append, readLast }, stream, count));
  const noticed = (error: unknown) =>
    log.warn({ code: errorCode(error) ?? '', error }, 'old events of a stream could not be truncated yet');
  return {
    isReachable: heads.isReachable,
    append: async (stream, events, expected, { keepLast: kept } = {}) => {
      requireOpen();
      const { events: serialized } = serializeAppend(stream, events);
      const answer = await writing(() => append(stream, serialized, expected));
      if (answer.kind === 'conflict') return answer;
      heads.announce(answer.position);
      // The append succeeded without it, and a later one tries again.
      if (kept !== undefined && isTrimDue(answer.revision, events.length)) trim(stream, kept).catch(noticed);
      return answer;
    },
    truncate: async (stream, before) => {
      await writing(() => truncate({ append, readLast }, stream, before));
    },
    head: () => headWhileOpen(reads, requireOpen),
    read: (stream, readOptions = {}) => readWhileOpen(reads, { stream, requireOpen, ...readOptions }),
    subscribe: ({ signal: given, ...from }) =>
      subscribe({ ...from, signal: AbortSignal.any([given, closing.signal]) }),
    close: () => {
      closing.abort();
      return (closed ??= writes.settled().then(link.close));
    },
  };
}

/** Counts writes, so that the store can be closed after them. */
function createWrites(requireOpen: () => void) {
  const underWay = new Set<Promise<unknown>>();
  return {
    /** @throws StoreUnavailable if the store is closed, or too many are under way */
    async run<Result>(work: () => Promise<Result>): Promise<Result> {
      requireOpen();
      if (underWay.size >= writesMax)
        throw new StoreUnavailable('store_overloaded', 'Too many appends wait for the event store.');
      const write = work();
      underWay.add(write);
      return write.finally(() => underWay.delete(write));
    },
    settled: () => Promise.allSettled(underWay),
  };
}

async function headWhileOpen(reads: Reads, requireOpen: () => void): Promise<Position> {
  requireOpen();
  return reads.head();
}

interface ReadRequest extends ReadOptions {
  stream: string;
  requireOpen: () => void;
}

/** @throws StoreUnavailable, even if the store is closed in the middle */
async function* readWhileOpen(
  reads: Reads,
  { stream, requireOpen, ...options }: ReadRequest,
): AsyncGenerator<RecordedEvent, void, void> {
  requireOpen();
  for await (const event of reads.stream(stream, options)) {
    requireOpen();
    yield event;
  }
}

/** Waits until the store answers. */
async function reach(
  reads: Reads,
  { connection, clock, reachWithinMs, log }: EventStoreDbOptions,
): Promise<void> {
  const startedAt = clock.monotonic();
  const waitMs = reachWithinMs ?? reachWithinMsDefault;
  const address = connection.hosts.map((host) => `${host.address}:${host.port}`).join(', ');
  for (let tryNumber = 1; ; tryNumber += 1) {
    try {
      await reads.head();
      return;
    } catch (error) {
      const failure = fromClientError(error);
      const isLate = clock.monotonic() - startedAt >= waitMs;
      if (isLate || !isRetryable(failure)) throw toStartupError(failure, waitMs, address);
      if (tryNumber === 1)
        log?.warn({ code: failure.code, address }, `the event store does not answer yet${reasonOf(failure)}`);
    }
    await clock.sleep(reachPauseMs);
  }
}

function toStartupError(failure: TollgateError, waitedMs: number, address: string): StartupError {
  const message = failure.retryable
    ? `The event store at ${address} (EVENTSTORE_URL) has not answered for ${waitedMs / 1_000} seconds${reasonOf(failure)}: start it, or set the address right, and start again.`
    : `The event store at ${address} (EVENTSTORE_URL) cannot be used: ${failure.message}`;
  const { code, retryable } = failure;
  return new StartupError(code, message, { retryable, cause: failure });
}

const reasonLengthMax = 120;

/** In the client's words, as far as they are about the connection. */
function reasonOf({ cause }: TollgateError): string {
  if (!(cause instanceof Error)) return '';
  const [, lastError] =
    /Last error: (?:Error: )?(.*?)(?: \(\d{4}-|\. Resolution|$)/s.exec(cause.message) ?? [];
  const reason = (lastError ?? cause.message).replace(/^\d+ [A-Z_]+: /, '').replaceAll(/\s+/g, ' ');
  return ` (${reason.replace(/\.$/, '').slice(0, reasonLengthMax)})`;
}
