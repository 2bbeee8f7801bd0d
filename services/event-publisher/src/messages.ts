import { type EventStore, type RecordedEvent, StoreUnavailable } from '@tollgate/event-store';
import type { Message } from '@tollgate/message-bus';
import type { FailedStream } from '@tollgate/views';
import { TollgateError, errorCode } from '@tollgate/service-kit';
import { bytesOf, messageBytesMax } from './batch.ts';
import { createHistories } from './histories.ts';
import type { PublishedKind } from './published-kinds.ts';

export type MadeMessage =
  | { kind: 'message'; message: Message }
  /** `failed.revision` is that of the event: nothing of its stream can be published from there on. */
  | { kind: 'failed'; failed: FailedStream; error: unknown };

/** Makes the record of an event. */
export interface Messages {
  /** @throws StoreUnavailable */
  of(kind: PublishedKind, event: RecordedEvent): Promise<MadeMessage>;
}

export function createMessages(store: Pick<EventStore, 'read'>): Messages {
  const histories = createHistories(store);
  return {
    of: async (kind, event) => {
      try {
        const message = kind.toMessage(event, await histories.viewAfter(kind, event));
        return { kind: 'message', message: requireSize(message) };
      } catch (error) {
        // Says nothing about the stream: the publisher begins again from the last records.
        if (error instanceof StoreUnavailable) throw error;
        const code = errorCode(error) ?? 'event_undecodable';
        return { kind: 'failed', failed: { stream: event.stream, revision: event.revision, code }, error };
      }
    },
  };
}

function requireSize(message: Message): Message {
  if (bytesOf(message) <= messageBytesMax) return message;
  throw new TollgateError('record_too_large', 'The record of an event is too large for the message bus.');
}
