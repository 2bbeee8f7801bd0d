import type { EventStore } from '@tollgate/event-store';
import { createEmbeddedTopicReader } from '../embedded/embedded-message-bus.ts';

export { publishAsForeigner } from '../kafka/testing/foreign-client.ts';

/** Everything that is on a topic of the embedded bus now. */
export const recordsOnTopic = (store: EventStore, topic: string) =>
  Array.fromAsync(
    createEmbeddedTopicReader({ store }).readTopic(topic, {
      from: 'beginning',
      signal: new AbortController().signal,
    }),
  );
