import { type EventData, type ResolvedEvent, jsonEvent } from '@eventstore/db-client';
import type { SerializedEvent } from '../append-arguments.ts';
import type { RecordedEvent } from '../event-store.ts';
import { toPosition } from './position.ts';

/** A stored event as the client returns it. */
export type ClientEvent = NonNullable<ResolvedEvent['event']>;

/** The last event of a stream that an administrator has deleted: the server's own, and never delivered. */
export const isTombstone = ({ type }: Pick<ClientEvent, 'type'>): boolean => type === '$streamDeleted';

/**
 * The event in the client's form. Metadata is passed as bytes: the client omits metadata that is `null`, 0, false or ''. Data
 * is parsed again, so that a repeat sends the same even if the caller changes its object meanwhile.
 */
export function toEventData({ id, type, data, metadata }: SerializedEvent): EventData {
  const parsed = JSON.parse(data) as Record<string, unknown>;
  return jsonEvent({ id, type, data: parsed, metadata: new Uint8Array(Buffer.from(metadata)) });
}

/**
 * Data that is not JSON is delivered as text, so that its decoder can report the event: a foreign event must not end a
 * subscription.
 */
export function toRecordedEvent(event: ClientEvent): RecordedEvent {
  return {
    kind: 'event',
    stream: event.streamId,
    revision: Number(event.revision),
    position: toPosition(event.position),
    id: event.id,
    type: event.type,
    data: toValue(event.data),
    metadata: toValue(event.metadata),
    recordedAt: event.created.getTime(),
  };
}

function toValue(value: unknown): unknown {
  if (value instanceof Uint8Array) return Buffer.from(value).toString('utf8');
  return value ?? null;
}
