import { type EventStore, type RecordedEvent, beginning } from '@tollgate/event-store';
import { positionHeader } from '@tollgate/gateway-api';
import type { Message } from '@tollgate/message-bus';
import type { ViewEnvelope } from '@tollgate/views';
import { eventually } from '@tollgate/testing';
import { expect } from 'vitest';
import { publishedKinds, publishedPrefixes, publishedStream } from '../topic-records.ts';
import type { MemoryBus } from './memory-bus.ts';

/** All events that have to be on a topic, in the order of the store. */
export async function storedEvents(store: EventStore): Promise<RecordedEvent[]> {
  const ending = new AbortController();
  const events: RecordedEvent[] = [];
  const subscription = { from: beginning, prefixes: publishedPrefixes, signal: ending.signal };
  for await (const item of store.subscribe(subscription)) {
    if (item.kind === 'caught-up') break;
    events.push(item);
  }
  ending.abort();
  return events;
}

/** Topic and key of a record, and all that it says but for how far its partition has come. */
const facts = (topic: string, { key, value, headers }: Message): string => {
  const { [positionHeader]: _, ...others } = headers;
  return JSON.stringify([topic, key, others, new TextDecoder().decode(value)]);
};

/** The records that a store must lead to, by topic and key, each folded from zero. */
async function expectedRecords(store: EventStore): Promise<Map<string, string[]>> {
  const views = new Map<string, ViewEnvelope>();
  const expected = new Map<string, string[]>();
  for (const event of await storedEvents(store)) {
    const { kind, key } = publishedStream(event.stream)!;
    const view = kind.views.fold(views.get(event.stream), event);
    views.set(event.stream, view);
    const name = `${kind.topic} ${key}`;
    expected.set(name, [...(expected.get(name) ?? []), facts(kind.topic, kind.toMessage(event, view))]);
  }
  return expected;
}

/** Each event is on its topic exactly once, per key in the order of its stream, and nothing else is. */
export async function expectPublishedOnce(store: EventStore, bus: MemoryBus): Promise<void> {
  const actual = new Map<string, string[]>();
  for (const { topic } of publishedKinds)
    for (const record of bus.recordsOf(topic)) {
      const name = `${topic} ${record.key}`;
      actual.set(name, [...(actual.get(name) ?? []), facts(topic, record)]);
    }
  const byName = (map: Map<string, string[]>) => Object.fromEntries([...map].sort());
  expect(byName(actual)).toEqual(byName(await expectedRecords(store)));
}

/** Waits until as many records are there as there are events. */
export async function untilAllArePublished(store: EventStore, bus: MemoryBus): Promise<void> {
  const { length } = await storedEvents(store);
  await eventually(() => expect(bus.count()).toBeGreaterThanOrEqual(length));
}
