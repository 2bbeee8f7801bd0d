import shared from '@eventstore/db-client/generated/shared_pb.js';
import streams from '@eventstore/db-client/generated/streams_pb.js';
import type { NewEvent, Position, RecordedEvent } from '../../event-store.ts';
import { fromStoredStream } from './wire-streams.ts';

/** An event as a request has it, in either of the two ways of appending. */
interface ProposedMessage {
  getId(): InstanceType<typeof shared.UUID> | undefined;
  getMetadataMap(): { get(key: string): string | undefined };
  getData_asU8(): Uint8Array;
  getCustomMetadata_asU8(): Uint8Array;
}

const jsonType = 'application/json';

/** Bytes that are no JSON are kept under this name, which no event of a test has. */
const bytesField = '$bytes';

export function toNewEvent(message: ProposedMessage): NewEvent {
  const isJson = message.getMetadataMap().get('content-type') === jsonType;
  return {
    id: message.getId()?.getString() ?? '',
    type: message.getMetadataMap().get('type') ?? '',
    data: toStored(message.getData_asU8(), isJson),
    metadata: toStored(message.getCustomMetadata_asU8(), true),
  };
}

/** The size of an event as the server counts it for the limit of an append. */
export const bytesOnDisk = (message: ProposedMessage): number =>
  message.getData_asU8().length +
  message.getCustomMetadata_asU8().length +
  2 * (message.getMetadataMap().get('type') ?? '').length;

function toStored(bytes: Uint8Array, mayBeJson: boolean): unknown {
  const text = Buffer.from(bytes).toString('utf8');
  try {
    if (mayBeJson) return JSON.parse(text);
  } catch {
    // Kept as it is: a server does not read events.
  }
  return { [bytesField]: Buffer.from(bytes).toString('base64'), isJson: mayBeJson };
}

function fromStored(value: unknown): { bytes: Uint8Array; isJson: boolean } {
  if (typeof value === 'object' && value !== null && bytesField in value) {
    const { isJson } = value as { isJson?: boolean };
    return {
      bytes: new Uint8Array(Buffer.from(String(value[bytesField]), 'base64')),
      isJson: isJson === true,
    };
  }
  return { bytes: new Uint8Array(Buffer.from(JSON.stringify(value))), isJson: true };
}

/** Ticks of 100 nanoseconds in a millisecond. */
const ticksPerMs = 10_000n;

/** Commit and prepare position are one, as of everything that is not written in an explicit transaction. */
export const toWirePosition = (position: Position): string =>
  BigInt(position === '' ? 0 : position).toString();

export function toReadEvent(event: RecordedEvent): InstanceType<typeof streams.ReadResp.ReadEvent> {
  const recorded = new streams.ReadResp.ReadEvent.RecordedEvent();
  const { bytes, isJson } = fromStored(event.data);
  const id = new shared.UUID();
  id.setString(event.id);
  recorded.setId(id);
  recorded.setStreamIdentifier(toIdentifier(fromStoredStream(event.stream)));
  recorded.setStreamRevision(String(event.revision));
  recorded.setCommitPosition(toWirePosition(event.position));
  recorded.setPreparePosition(toWirePosition(event.position));
  recorded.setData(bytes);
  recorded.setCustomMetadata(fromStored(event.metadata).bytes);
  const metadata = recorded.getMetadataMap();
  metadata.set('type', event.type);
  metadata.set('content-type', isJson ? jsonType : 'application/octet-stream');
  metadata.set('created', (BigInt(event.recordedAt) * ticksPerMs).toString());
  const read = new streams.ReadResp.ReadEvent();
  read.setEvent(recorded);
  read.setCommitPosition(toWirePosition(event.position));
  return read;
}

export function toIdentifier(stream: string): InstanceType<typeof shared.StreamIdentifier> {
  const identifier = new shared.StreamIdentifier();
  identifier.setStreamName(new Uint8Array(Buffer.from(stream)));
  return identifier;
}

export const streamOf = (identifier: InstanceType<typeof shared.StreamIdentifier> | undefined): string =>
  Buffer.from(identifier?.getStreamName_asU8() ?? []).toString('utf8');
