import {
  StartupError,
  type TollgateError,
  errorCode,
  silentLog,
  type Clock,
  type Log,
  isRetryable,
} from '@tollgate/service-kit';
import {
  requireInteger,
  requireKeepLast,
  requireStreamName,
  requireTruncation,
  serializeAppend,
} from '../append-arguments.ts';
import type { Position, EventStore, ReadOptions, RecordedEvent, Revision } from '../event-store.ts';
import { createLoopShare } from '../follower/loop-share.ts';
import { createAppender, withPosition } from './appender.ts';
import { type EventStoreDbConnection, openLink } from './connection.ts';
import { subscription } from './fed-subscription.ts';
import { createHeadWatch } from './head-watch.ts';
import { isTrimDue, keepLast, truncate } from './stream-metadata.ts';
import { type Reads, createReads } from './reading.ts';
import { removeStream } from './remove-stream.ts';
import { createSharedFeed } from './shared-feed.ts';
import { fromClientError, storeClosed } from './store-failure.ts';
import { createUnderWay } from './under-way.ts';

export interface EventStoreDbOptions {
  connection: EventStoreDbConnection;
  clock: Clock;
  log?: Log;
  /** How long one try of an append may take, milliseconds; 2,000 by default. There are up to four tries. */
  appendTryMs?: number;
  /** How long a read may give nothing before it has failed, milliseconds; 5,000 by default. */
  readSilenceMs?: number;
  /** How long a start waits for the store to answer, milliseconds; 30,000 by default. */
  reachWithinMs?: number;
  /** How long an event may be overdue before a subscription is taken for dead, milliseconds; 2,000 by default. */
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

/**
 * Uses an EventStoreDB (22.10 or later) or KurrentDB, one node or a cluster. Appends with a concrete expected revision are
 * sent again while their outcome is unknown; the server recognises them.
 *
 * @throws StartupError where the store does not answer in time, or does not let us in
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
  const underWay = createUnderWay();
  let closed: Promise<void> | undefined;
  const readLast = (stream: string) => reads.first(stream, { direction: 'backwards' });
  const appender = createAppender({ link, clock, appendTryMs, readLast });
  const heads = createHeadWatch({ readHead: reads.head, log, signal: closing.signal });
  const subscribing = { client, reads, heads, log, lateMs, share: createLoopShare(clock) };
  const shared = createSharedFeed(subscribing, closing.signal);
  const requireOpen = () => {
    if (closing.signal.aborted) throw storeClosed();
  };
  const trim = (stream: string, count: number) =>
    underWay.run(() => keepLast({ appendData: appender.appendData, readLast }, stream, count));
  const noticed = (error: unknown) =>
    log.warn({ code: errorCode(error) ?? '', error }, 'old events of a stream could not be let go of yet');
  return {
    isReachable: heads.isReachable,
    append: async (stream, events, expected, { keepLast: kept } = {}) => {
      requireOpen();
      const { events: serialized } = serializeAppend(stream, events, expected, { keepLast: kept });
      const work = async () => {
        const answer = await appender.appendData(stream, serialized, expected);
        const at = async (revision: Revision) => {
          const event = await reads.first(stream, { from: revision });
          return event?.revision === revision ? event : undefined;
        };
        return withPosition(answer, { at, last: () => readLast(stream) });
      };
      const answer = await underWay.run(work);
      if (answer.kind === 'conflict') return answer;
      heads.announce(answer.position);
      // The append stands without it, and a later one tries again.
      if (kept !== undefined && isTrimDue(answer.revision, events.length)) trim(stream, kept).catch(noticed);
      return answer;
    },
    keepLast: async (stream, count) => {
      requireStreamName(stream);
      requireKeepLast(count);
      requireOpen();
      await trim(stream, count);
    },
    truncate: async (stream, before) => {
      requireStreamName(stream);
      requireTruncation(before);
      requireOpen();
      await underWay.run(() => truncate({ appendData: appender.appendData, readLast }, stream, before));
    },
    remove: async (stream) => {
      requireStreamName(stream);
      requireOpen();
      await underWay.run(() => removeStream({ link, clock, tryMs: appendTryMs }, stream));
    },
    head: () => headWhileOpen(reads, requireOpen),
    read: (stream, readOptions = {}) => readWhileOpen(reads, { stream, requireOpen, ...readOptions }),
    subscribe: ({ signal: given, ...from }) =>
      subscription(subscribing, shared, { ...from, signal: AbortSignal.any([given, closing.signal]) }),
    close: () => {
      closing.abort();
      return (closed ??= underWay.settled().then(appender.close).then(link.close));
    },
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

/** @throws StoreUnavailable, also when the store is closed in the middle */
async function* readWhileOpen(
  reads: Reads,
  { stream, requireOpen, ...options }: ReadRequest,
): AsyncGenerator<RecordedEvent, void, void> {
  requireStreamName(stream);
  const { from, limit } = options;
  if (from !== undefined) requireInteger('The revision to read from', from, 0);
  if (limit !== undefined && limit !== Infinity) requireInteger('The number of events to read', limit, 0);
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
