import type { ServerReadableStream, ServiceError, sendUnaryData } from '@grpc/grpc-js';
import { status } from '@grpc/grpc-js';
import shared from '@eventstore/db-client/generated/shared_pb.js';
import streams from '@eventstore/db-client/generated/streams_pb.js';
import { InvalidArgument } from '../../errors.ts';
import type { Appended, Conflict, EventStore, ExpectedRevision, NewEvent } from '../../event-store.ts';
import type { AppendFault, ReceivedCall, ServerFaults } from './faults.ts';
import type { HiddenAppends } from './hidden-appends.ts';
import { leadership, notReady, serviceError } from './service-errors.ts';
import { bytesOnDisk, streamOf, toNewEvent, toWirePosition } from './wire-events.ts';
import { toStoredStream } from './wire-streams.ts';

type AppendReq = InstanceType<typeof streams.AppendReq>;
type AppendResp = InstanceType<typeof streams.AppendResp>;

/** The default `MaxAppendSize`. */
const appendBytesMax = 1_048_576;

interface WireAppend {
  stream: string;
  events: NewEvent[];
  /** Of all events, as the server counts them. */
  bytes: number;
  /** As received: a revision, `no_stream`, `any`. */
  expected: string;
}

interface Parts {
  store: EventStore;
  faults: ServerFaults;
  hidden: HiddenAppends;
  /** Cuts all connections. */
  reset: () => void;
  onCall: (call: ReceivedCall) => void;
}

type Outcome = { answer: Appended | Conflict; fault: AppendFault | undefined } | 'no-answer' | ServiceError;

/** `Append`: one call for one append. */
export function createAppend(parts: Parts) {
  return (call: ServerReadableStream<AppendReq, AppendResp>, respond: sendUnaryData<AppendResp>): void => {
    const append: WireAppend = { stream: '', events: [], bytes: 0, expected: 'any' };
    call.on('data', (request: AppendReq) => {
      const options = request.getOptions();
      if (options !== undefined) {
        append.stream = streamOf(options.getStreamIdentifier());
        append.expected = options.hasRevision()
          ? options.getRevision()
          : options.hasNoStream()
            ? 'no_stream'
            : 'any';
      }
      const message = request.getProposedMessage();
      if (message !== undefined) addTo(append, message);
    });
    call.on('error', () => undefined);
    call.on('end', () => {
      void carryOut(parts, append).then((outcome) => {
        if (outcome === 'no-answer') return;
        if (outcome instanceof Error) respond(outcome);
        else respond(null, toAppendResp(outcome.answer, outcome.fault));
      });
    });
  };
}

function addTo(append: WireAppend, message: Parameters<typeof toNewEvent>[0]): void {
  append.events.push(toNewEvent(message));
  append.bytes += bytesOnDisk(message);
}

async function carryOut(
  { store, faults, hidden, reset, onCall }: Parts,
  append: WireAppend,
): Promise<Outcome> {
  const { stream, events, bytes, expected } = append;
  onCall({ kind: 'append', stream });
  await faults.writersStalled;
  const refusal = leadership(faults);
  if (refusal !== undefined) return refusal;
  const fault = faults.onAppend({ stream, expected, eventIds: events.map(({ id }) => id) });
  if (fault?.kind === 'silent') return 'no-answer';
  if (fault?.kind === 'not-leader') return notLeader(fault.address);
  if (fault?.kind === 'not-ready') return notReady();
  if (fault?.kind === 'conflict') return { answer: { kind: 'conflict', actual: fault.actual }, fault };
  if (fault?.kind === 'too-large' || bytes > appendBytesMax) return tooLarge;
  if (fault?.kind === 'event-too-large') return eventTooLarge(events[0]?.id ?? '', bytes);
  try {
    const stored = { stream: toStoredStream(stream), events, expected: toExpected(expected) };
    const taken = hidden.take(stored, fault?.kind === 'hidden' ? fault.until : undefined);
    const answer = await (taken ?? store.append(stored.stream, events, stored.expected));
    if (answer === 'no-answer') return answer;
    if (fault?.kind === 'answer-lost') return 'no-answer';
    if (fault?.kind === 'reset') {
      reset();
      return 'no-answer';
    }
    if (fault?.kind === 'late') await fault.until;
    return { answer, fault };
  } catch (error) {
    if (error instanceof InvalidArgument) return tooLarge;
    return serviceError(status.UNAVAILABLE, 'the store failed');
  }
}

function toExpected(expected: string): ExpectedRevision {
  if (expected === 'any') return 'any';
  return expected === 'no_stream' ? 'no-stream' : Number(expected);
}

function toAppendResp(answer: Appended | Conflict, fault: AppendFault | undefined): AppendResp {
  const response = new streams.AppendResp();
  if (answer.kind === 'conflict') {
    const wrong = new streams.AppendResp.WrongExpectedVersion();
    if (answer.actual === 'no-stream') wrong.setCurrentNoStream(new shared.Empty());
    else wrong.setCurrentRevision(String(answer.actual));
    response.setWrongExpectedVersion(wrong);
    return response;
  }
  const success = new streams.AppendResp.Success();
  success.setCurrentRevision(String(answer.revision));
  if (fault?.kind === 'no-position') {
    success.setNoPosition(new shared.Empty());
  } else {
    const position = new streams.AppendResp.Position();
    position.setCommitPosition(toWirePosition(answer.position));
    position.setPreparePosition(toWirePosition(answer.position));
    success.setPosition(position);
  }
  response.setSuccess(success);
  return response;
}

const notLeader = ({ host, port }: { host: string; port: number }) =>
  serviceError(status.NOT_FOUND, 'Leader info available', {
    exception: 'not-leader',
    'leader-endpoint-host': host,
    'leader-endpoint-port': String(port),
  });

const tooLarge = serviceError(status.INVALID_ARGUMENT, `Maximum Append Size of ${appendBytesMax} Exceeded.`, {
  exception: 'maximum-append-size-exceeded',
  'maximum-append-size': String(appendBytesMax),
});

/** As KurrentDB from 25.1 reports it, by a name that the client does not know. */
const eventTooLarge = (eventId: string, bytes: number) =>
  serviceError(
    status.INVALID_ARGUMENT,
    `Event with Id: ${eventId}, Size: ${bytes}, exceeds Maximum Append Event Size of ${bytes - 1}.`,
    {
      exception: 'maximum-append-event-size-exceeded',
      'maximum-append-event-size': String(bytes - 1),
      'event-id': eventId,
      'proposed-append-event-size': String(bytes),
    },
  );
