import {
  type EventStore,
  type RecordedEvent,
  type StreamFailure,
  StoreUnavailable,
  createFoldedStates,
  failureAt,
} from '@tollgate/event-store';
import type { Message } from '@tollgate/message-bus';
import { TollgateError } from '@tollgate/service-kit';
import type { ViewEnvelope } from '@tollgate/views';
import { bytesOf, messageBytesMax } from './batch.ts';
import type { PublishedKind } from './published-kinds.ts';

/** What events are about, held in memory. */
const statesMax = 1_000;

type MadeMessage =
  | { kind: 'message'; message: Message }
  /** Nothing of its stream can be published from this event on. */
  | ({ kind: 'failed' } & StreamFailure);

/** Makes the record of an event. */
export interface Messages {
  /** @throws StoreUnavailable */
  of(kind: PublishedKind, event: RecordedEvent): Promise<MadeMessage>;
}

export function createMessages(store: Pick<EventStore, 'read'>): Messages {
  const states = createFoldedStates<ViewEnvelope>(store, { statesMax });
  return {
    of: async (kind, event) => {
      try {
        const { after } = await states.stepOf(event, kind.views.fold);
        return { kind: 'message', message: requireSize(kind.toMessage(event, after)) };
      } catch (error) {
        // Says nothing about the stream: the publisher begins again from the last records.
        if (error instanceof StoreUnavailable) throw error;
        return { kind: 'failed', ...failureAt(event, error) };
      }
    },
  };
}

function requireSize(message: Message): Message {
  if (bytesOf(message) <= messageBytesMax) return message;
  throw new TollgateError('record_too_large', 'The record of an event is too large for the message bus.');
}
