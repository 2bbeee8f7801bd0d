/** The record of one event, for who gives it out elsewhere than on its topic. */
import type { EventStore, RecordedEvent } from '@tollgate/event-store';
import type { Message } from '@tollgate/message-bus';
import { createMessages } from './messages.ts';
import { publishedStream } from './published-kinds.ts';

/**
 * Gives the record that an event has on its topic, with the name of the topic.
 *
 * @throws StoreUnavailable; and for an event that cannot be published what makes it so
 */
export function createRecordOf(
  store: Pick<EventStore, 'read'>,
): (event: RecordedEvent) => Promise<Message & { topic: string }> {
  const messages = createMessages(store);
  return async (event) => {
    const published = publishedStream(event.stream);
    if (published === undefined) throw new RangeError(`${event.stream} is not published`);
    const { kind } = published;
    const made = await messages.of(kind, event);
    if (made.kind === 'failed') throw made.error;
    return { ...made.message, topic: kind.topic };
  };
}
