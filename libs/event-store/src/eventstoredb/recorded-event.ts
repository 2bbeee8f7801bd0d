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
  return jsonEvent({
    id,
    type,
    data: parsed,
    metadata: new Uint8Array(Buffer.from(withSystemMetadata(metadata))),
  });
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
    metadata: withoutSystemMetadata(toValue(event.metadata)),
    recordedAt: event.created.getTime(),
  };
}

function toValue(value: unknown): unknown {
  if (value instanceof Uint8Array) return Buffer.from(value).toString('utf8');
  return value ?? null;
}

/*
 * Metadata that EventStoreDB itself understands: its projection `$by_correlation_id` groups by `$correlationId`, and its browser
 * shows the causes. Ours stays unchanged; these are added to it, and reads omit them.
 */

/** An id of our form; a longer one is not added, so that the size of an append is known beforehand. */
const idOf = (name: string) => new RegExp(`"${name}":"([\\w-]{1,36})"`);
const [correlationId, causationId] = [idOf('correlationId'), idOf('causationId')];

/** Signatures and chain links cover the metadata as read: releases that do not know these additions would report tampering. */
const isSealed = (metadata: string): boolean => /"(?:signature|link)":/.test(metadata);

/** @param metadata JSON text */
export function withSystemMetadata(metadata: string): string {
  const noted = [
    ['$correlationId', correlationId.exec(metadata)?.[1]],
    ['$causationId', causationId.exec(metadata)?.[1]],
  ].flatMap(([name, id]) => (id === undefined ? [] : [`"${name}":"${id}"`]));
  if (noted.length === 0 || !metadata.startsWith('{') || isSealed(metadata)) return metadata;
  return `{${noted.join(',')},${metadata.slice(1)}`;
}

export function withoutSystemMetadata(metadata: unknown): unknown {
  if (
    typeof metadata !== 'object' ||
    metadata === null ||
    !('$correlationId' in metadata || '$causationId' in metadata)
  )
    return metadata;
  const { $correlationId: _, $causationId: __, ...own } = metadata as Record<string, unknown>;
  return own;
}
