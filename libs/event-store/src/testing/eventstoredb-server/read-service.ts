import type { Http2Stream } from 'node:http2';
import { omitUndefined } from '@tollgate/service-kit';
import type { ServerWritableStream } from '@grpc/grpc-js';
import { status } from '@grpc/grpc-js';
import streams from '@eventstore/db-client/generated/streams_pb.js';
import { toPosition } from '../../embedded/event-rows.ts';
import { pause } from '../../waits.ts';
import {
  type CaughtUp,
  type EventStore,
  type Position,
  type RecordedEvent,
  beginning,
} from '../../event-store.ts';
import type { ReceivedCall, ServerFaults } from './faults.ts';
import type { LogReader } from './log-reader.ts';
import { consumerTooSlow, leadership, serviceError } from './service-errors.ts';
import { firstShownOf } from './shown-events.ts';
import { streamOf, toIdentifier, toReadEvent, toWirePosition } from './wire-events.ts';
import { fromStoredStream, toStoredStream } from './wire-streams.ts';

type ReadReq = InstanceType<typeof streams.ReadReq>;
type ReadResp = InstanceType<typeof streams.ReadResp>;
type Options = InstanceType<typeof streams.ReadReq.Options>;
type Call = ServerWritableStream<ReadReq, ReadResp>;

interface Parts {
  store: EventStore;
  log: LogReader;
  faults: ServerFaults;
  /** Called with each subscription and a function that ends it without an error, as a server that shuts down does. */
  onSubscription: (subscription: { end: () => void; ended: Promise<void> }) => void;
  onCall: (call: ReceivedCall) => void;
}

/** The server reports its position at least after this many skipped events. */
const searchWindowDefault = 32;

/** `Read`: streams and the log of all, and subscriptions to it. */
export function createRead(parts: Parts) {
  return (call: Call): void => {
    const leaving = new AbortController();
    call.on('cancelled', () => leaving.abort());
    call.on('close', () => leaving.abort());
    call.on('error', () => leaving.abort());
    const options = call.request.getOptions();
    const work = options === undefined ? Promise.resolve() : serve(parts, call, { options, leaving });
    work.then(
      () => call.end(),
      (error: unknown) =>
        call.emit('error', isRefusal(error) ? error : serviceError(status.UNAVAILABLE, 'the store failed')),
    );
  };
}

const isRefusal = (error: unknown): boolean => error instanceof Error && 'metadata' in error;

interface Serving {
  options: Options;
  leaving: AbortController;
}

async function serve(parts: Parts, call: Call, { options, leaving }: Serving): Promise<void> {
  const { signal } = leaving;
  const refusal = leadership(parts.faults);
  if (refusal !== undefined) throw refusal;
  const stream = options.hasAll() ? '$all' : streamOf(options.getStream()?.getStreamIdentifier());
  parts.onCall({ kind: options.hasSubscription() ? 'subscribe' : 'read', stream });
  if (options.hasSubscription()) {
    const ended = subscribe(parts, call, { options, signal });
    parts.onSubscription({ end: () => leaving.abort(), ended });
    return ended;
  }
  if (parts.faults.readsAreSilent) return until(signal);
  const isBackwards = options.getReadDirection() === streams.ReadReq.Options.ReadDirection.BACKWARDS;
  const count = Math.min(Number(options.getCount()), Number.MAX_SAFE_INTEGER);
  if (options.hasAll()) return readAll(parts, call, { options, isBackwards, count, signal });
  return readStream(parts, call, { options, isBackwards, count, signal });
}

interface Range {
  options: Options;
  isBackwards: boolean;
  count: number;
  signal: AbortSignal;
}

async function readStream({ store, faults }: Parts, call: Call, range: Range): Promise<void> {
  const { options, isBackwards, count, signal } = range;
  const wanted = options.getStream();
  const name = streamOf(wanted?.getStreamIdentifier());
  const firstShown = await firstShownOf(store, name);
  const stored = toStoredStream(name);
  const from = wanted?.hasRevision() === true ? Number(wanted.getRevision()) : undefined;
  const whence = isBackwards ? omitUndefined({ from }) : { from: Math.max(from ?? 0, firstShown) };
  const direction = isBackwards ? 'backwards' : 'forwards';
  const sent = createCutter(call, faults);
  let found = false;
  for await (const event of store.read(stored, { ...whence, direction, limit: count })) {
    if (signal.aborted || event.revision < firstShown) break;
    found = true;
    await send(call, respond({ event }), signal);
    if (sent()) return until(signal);
  }
  if (found) return;
  const last = await Array.fromAsync(store.read(stored, { direction: 'backwards', limit: 1 }));
  if (last.length === 0) await send(call, respond({ missingStream: name }), signal);
}

async function readAll({ log, faults }: Parts, call: Call, range: Range): Promise<void> {
  const { options, isBackwards, count, signal } = range;
  const all = options.getAll();
  if (isBackwards) {
    const before = all?.hasPosition() === true ? positionOf(options) : 'end';
    for (const event of await log.backwards(before, count)) await send(call, respond({ event }), signal);
    return;
  }
  const isWanted = toFilter(options);
  const sent = createCutter(call, faults);
  let remaining = count;
  for await (const event of log.forwards(positionOf(options), signal)) {
    if (!isWanted(event)) continue;
    await send(call, respond({ event }), signal);
    if (sent()) return until(signal);
    remaining -= 1;
    if (remaining <= 0 || signal.aborted) return;
  }
}

async function subscribe(
  parts: Parts,
  call: Call,
  { options, signal }: { options: Options; signal: AbortSignal },
): Promise<void> {
  const { store, faults } = parts;
  await send(call, respond({ subscriptionId: 'one' }), signal);
  await pause(faults.subscriptionsTakeMs, signal);
  const [from, isWanted] = [positionOf(options), toFilter(options)];
  const passedOverMax = checkpointInterval(options);
  const sent = createCutter(call, faults);
  const sendLive = createLiveSender(call);
  let isLive = false;
  let passedOver = 0;
  for await (const item of store.subscribe({ from, prefixes: [''], signal })) {
    if (faults.subscriptionsAreSilent) return until(signal);
    if (item.kind === 'caught-up') {
      await send(call, respond({ caughtUp: item }), signal);
      isLive = true;
    } else if (isWanted(item)) {
      passedOver = 0;
      if (isLive) sendLive(respond({ event: item }));
      else await send(call, respond({ event: item }), signal);
      if (sent()) return until(signal);
    } else {
      passedOver += 1;
      if (passedOver < passedOverMax) continue;
      passedOver = 0;
      await send(call, respond({ checkpoint: item.position }), signal);
    }
  }
}

/** A live subscription that lags by this many events is dropped, as by 22.10. */
const behindMax = 32;

/** Returns the function that writes an event without waiting for the client. @throws ServiceError if too many wait */
function createLiveSender(call: Call): (response: ReadResp) => void {
  let waiting = 0;
  return (response) => {
    if (waiting >= behindMax) throw consumerTooSlow();
    waiting += 1;
    call.write(response, () => (waiting -= 1));
  };
}

/** The library's internal state of a call. */
interface CallInside {
  call: { stream: Http2Stream };
}

/** Returns a function to call after each event, which cuts the call off when due, and returns whether it has. */
function createCutter(call: Call, faults: ServerFaults): () => boolean {
  let count = 0;
  return () => {
    count += 1;
    if (faults.callsEndAfter === undefined || count < faults.callsEndAfter) return false;
    (call as unknown as CallInside).call.stream.close();
    return true;
  };
}

function positionOf(options: Options): Position {
  const position = options.getAll()?.getPosition();
  return position === undefined ? beginning : toPosition(Number(position.getCommitPosition()));
}

function checkpointInterval(options: Options): number {
  const filter = options.getFilter();
  if (filter === undefined) return Infinity;
  const window = filter.hasMax() ? filter.getMax() : searchWindowDefault;
  return window * filter.getCheckpointintervalmultiplier();
}

function toFilter(options: Options): (event: RecordedEvent) => boolean {
  const filter = options.getFilter();
  const expression = filter?.getStreamIdentifier();
  if (expression === undefined) return () => true;
  const prefixes = expression.getPrefixList();
  const pattern = new RegExp(expression.getRegex());
  return ({ stream }) => {
    const name = fromStoredStream(stream);
    return prefixes.length > 0 ? prefixes.some((prefix) => name.startsWith(prefix)) : pattern.test(name);
  };
}

interface Content {
  event?: RecordedEvent;
  missingStream?: string;
  subscriptionId?: string;
  checkpoint?: Position;
  caughtUp?: CaughtUp;
}

function respond({ event, missingStream, subscriptionId, checkpoint, caughtUp }: Content): ReadResp {
  const response = new streams.ReadResp();
  if (event !== undefined) response.setEvent(toReadEvent(event));
  if (caughtUp !== undefined) response.setCaughtUp(new streams.ReadResp.CaughtUp());
  if (missingStream !== undefined) {
    const missing = new streams.ReadResp.StreamNotFound();
    missing.setStreamIdentifier(toIdentifier(missingStream));
    response.setStreamNotFound(missing);
  }
  if (subscriptionId !== undefined) {
    const confirmation = new streams.ReadResp.SubscriptionConfirmation();
    confirmation.setSubscriptionId(subscriptionId);
    response.setConfirmation(confirmation);
  }
  if (checkpoint !== undefined) {
    const reached = new streams.ReadResp.Checkpoint();
    reached.setCommitPosition(toWirePosition(checkpoint));
    reached.setPreparePosition(toWirePosition(checkpoint));
    response.setCheckpoint(reached);
  }
  return response;
}

async function send(call: Call, response: ReadResp, signal: AbortSignal): Promise<void> {
  if (signal.aborted || call.write(response)) return;
  await new Promise<void>((resolve) => {
    const go = () => {
      call.off('drain', go);
      signal.removeEventListener('abort', go);
      resolve();
    };
    call.once('drain', go);
    signal.addEventListener('abort', go, { once: true });
  });
}

const until = (signal: AbortSignal) =>
  new Promise<void>((resolve) => {
    if (signal.aborted) return resolve();
    signal.addEventListener('abort', () => resolve(), { once: true });
  });
