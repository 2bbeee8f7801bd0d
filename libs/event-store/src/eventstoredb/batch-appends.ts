/**
 * The appends of a process over one stream of calls: less than half of what a call of its own costs for each. The client has
 * such a stream, too, but keeps the appends of all its instances in one table: an error of one rejects those of all, and an
 * answer that comes after it ends the process. Here a stream has its own, and each append its own time.
 */
import { StreamsClient } from '@eventstore/db-client/generated/streams_grpc_pb.js';
import shared from '@eventstore/db-client/generated/shared_pb.js';
import streams from '@eventstore/db-client/generated/streams_pb.js';
import { unpackToCommandError } from '@eventstore/db-client/dist/streams/appendToStream/unpackError.js';
import { createUUID, parseUUID } from '@eventstore/db-client/dist/utils/grpcUUID.js';
import type { EventStoreDBClient } from '@eventstore/db-client';
import type { Clock } from '@tollgate/service-kit';
import empty from 'google-protobuf/google/protobuf/empty_pb.js';
import timestamps from 'google-protobuf/google/protobuf/timestamp_pb.js';
import type { SerializedEvent } from '../append-arguments.ts';
import { storeSilent } from '../errors.ts';
import type { ExpectedRevision } from '../event-store.ts';
import { withSystemMetadata } from './system-metadata.ts';

type BatchAppendReq = InstanceType<typeof streams.BatchAppendReq>;
type BatchAppendResp = InstanceType<typeof streams.BatchAppendResp>;
type Call = ReturnType<InstanceType<typeof StreamsClient>['batchAppend']>;
export type BatchSuccess = InstanceType<typeof streams.BatchAppendResp.Success>;

export interface Append {
  stream: string;
  events: readonly SerializedEvent[];
  expected: ExpectedRevision;
}

export interface BatchAppends {
  /**
   * One try. It holds nobody up, and fails alone when it takes too long; the stream is then left to what is under way.
   *
   * @throws StoreUnavailable `store_silent`; what the server says of it, or what has ended the stream: then its outcome
   * is unknown
   */
  append(append: Append): Promise<BatchSuccess>;
  /** Ends the stream; appends that are under way are rejected. */
  close(): void;
}

/** The server compares it with its own clock, which may differ from ours: our own timer is what counts. */
const serverDeadlineMs = 24 * 60 * 60 * 1_000;

interface Waiting {
  stream: string;
  resolve(success: BatchSuccess): void;
  reject(error: unknown): void;
}

interface OpenStream {
  call: Call;
  /** Ends it on our side: the connection is as good as before. */
  cancel(): void;
  /** Gives the next correlation id: unique in this stream. */
  nextId(): string;
  /** By correlation id. */
  waiting: Map<string, Waiting>;
}

export function createBatchAppends({
  client,
  clock,
  tryMs,
}: {
  client: EventStoreDBClient;
  clock: Clock;
  tryMs: number;
}): BatchAppends {
  let current: Promise<OpenStream> | undefined;

  const leave = (opened: Promise<OpenStream>) => {
    if (current === opened) current = undefined;
  };

  function open(): Promise<OpenStream> {
    const opening: Promise<OpenStream> = openStream(client, () => leave(opening));
    opening.catch(() => leave(opening));
    return opening;
  }

  return {
    append: (append) =>
      new Promise((resolve, reject) => {
        const opened = (current ??= open());
        let sentOn: OpenStream | undefined;
        let id = '';
        let isOver = false;
        const settle = () => {
          isOver = true;
          cancelTimer();
          sentOn?.waiting.delete(id);
          if (current !== opened && sentOn?.waiting.size === 0) sentOn.cancel();
        };
        const fail = (error: unknown) => {
          settle();
          reject(error);
        };
        // Over all of it: where the nodes are searched for, that may take minutes.
        const cancelTimer = clock.after(tryMs, () => {
          leave(opened);
          fail(storeSilent(tryMs));
        });
        const succeed = (success: BatchSuccess) => {
          settle();
          resolve(success);
        };
        const send = (stream: OpenStream) => {
          if (isOver) {
            // It was found too late for all of its appends: nobody else will end it.
            if (current !== opened && stream.waiting.size === 0) stream.cancel();
            return;
          }
          sentOn = stream;
          id = stream.nextId();
          stream.waiting.set(id, { stream: append.stream, resolve: succeed, reject: fail });
          stream.call.write(toRequest(append, { id, deadlineAt: clock.now() + serverDeadlineMs }));
        };
        opened.then(send).catch(fail);
      }),
    close: () => {
      current?.then(
        ({ cancel }) => cancel(),
        () => undefined,
      );
      current = undefined;
    },
  };
}

/** What its declarations leave out: the gRPC client over the current connection. */
interface ClientInside {
  getGRPCClient: (kind: typeof StreamsClient, name: string) => Promise<StreamsClient>;
}

/** @param onEnd called when nothing more may be sent on it */
async function openStream(client: EventStoreDBClient, onEnd: () => void): Promise<OpenStream> {
  const { getGRPCClient } = client as unknown as ClientInside;
  const grpcClient = await getGRPCClient(StreamsClient, 'batchAppend');
  const call = grpcClient.batchAppend(
    ...client['callArguments']({ requiresLeader: true }, { deadline: Infinity }),
  );
  const waiting = new Map<string, Waiting>();
  let isCancelled = false;
  const end = (error: Error) => {
    onEnd();
    // The connection may have to be made again, or to another node.
    if (!isCancelled) void client['handleError'](grpcClient, error);
    for (const each of [...waiting.values()]) each.reject(error);
  };
  const cancel = () => {
    isCancelled = true;
    call.cancel();
  };
  call.on('data', (answer: BatchAppendResp) => settleOne(waiting, answer));
  call.on('error', end);
  call.on('end', () => end(new Error('The server has ended the stream of appends.')));
  let number = 0;
  return { call, cancel, waiting, nextId: () => toUuid((number += 1)) };
}

const toUuid = (number: number) => `00000000-0000-4000-8000-${number.toString(16).padStart(12, '0')}`;

/** An answer that nobody waits for any more is passed over. */
function settleOne(waiting: ReadonlyMap<string, Waiting>, answer: BatchAppendResp): void {
  const id = answer.getCorrelationId();
  const append = id && waiting.get(parseUUID(id));
  const [success, failure] = [answer.getSuccess(), answer.getError()];
  if (success !== undefined) append?.resolve(success);
  else if (failure !== undefined) append?.reject(unpackToCommandError(failure, append.stream));
}

function toRequest(
  { stream, events, expected }: Append,
  { id, deadlineAt }: { id: string; deadlineAt: number },
): BatchAppendReq {
  const identifier = new shared.StreamIdentifier();
  identifier.setStreamName(Buffer.from(stream));
  const options = new streams.BatchAppendReq.Options();
  options.setStreamIdentifier(identifier);
  options.setDeadline(timestamps.Timestamp.fromDate(new Date(deadlineAt)));
  if (expected === 'any') options.setAny(new empty.Empty());
  else if (expected === 'no-stream') options.setNoStream(new empty.Empty());
  else options.setStreamPosition(String(expected));
  const request = new streams.BatchAppendReq();
  request.setCorrelationId(createUUID(id));
  request.setOptions(options);
  request.setProposedMessagesList(events.map(toMessage));
  request.setIsFinal(true);
  return request;
}

function toMessage({ id, type, data, metadata }: SerializedEvent) {
  const message = new streams.BatchAppendReq.ProposedMessage();
  message.setId(createUUID(id));
  message.getMetadataMap().set('type', type).set('content-type', 'application/json');
  message.setData(Buffer.from(data));
  message.setCustomMetadata(Buffer.from(withSystemMetadata(metadata)));
  return message;
}
