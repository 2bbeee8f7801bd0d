import { type EventStore, type RecordedEvent, beginning } from '@tollgate/event-store';
import { gatewayJournalTopic, positionHeader } from '@tollgate/gateway-api';
import type { Message } from '@tollgate/message-bus';
import { kindOfStream, type ViewEnvelope } from '@tollgate/views';
import { appendPayment, happening, requested } from '@tollgate/views/testing';
import { eventually } from '@tollgate/testing';
import { expect } from 'vitest';
import { publishedPrefixes, publishedTopics, recordsOfStep } from '../topic-records.ts';
import type { MemoryBus } from './memory-bus.ts';

/** The events of {@link recordPayment}. */
export const history = [requested(), happening.accepted, happening.pending, happening.approved];
export const recordPayment = (store: EventStore, token: string, from = 0, to = history.length) =>
  appendPayment(store, token, history.slice(from, to));

/** All events that must be on a topic, in the order of the store. */
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

/** Topic, key and content of a record, without the position of its partition. */
const facts = (topic: string, { key, value, headers }: Message): string => {
  const { [positionHeader]: _, ...others } = headers;
  return JSON.stringify([topic, key, others, new TextDecoder().decode(value)]);
};

/** The records that a store must lead to, by topic and key, each folded from zero. */
async function expectedRecords(store: EventStore): Promise<Map<string, string[]>> {
  const views = new Map<string, ViewEnvelope>();
  const expected = new Map<string, string[]>();
  for (const event of await storedEvents(store)) {
    const before = views.get(event.stream);
    const after = kindOfStream(event.stream)!.fold(before, event);
    views.set(event.stream, after);
    for (const { topic, ...message } of recordsOfStep(event, { before, after })) {
      const name = `${topic} ${message.key}`;
      expected.set(name, [...(expected.get(name) ?? []), facts(topic, message)]);
    }
  }
  return expected;
}

/**
 * Waits until each record is on its topic exactly once, in stream order per key, and nothing else is. The entries of a wallet are in the
 * order of the store, except for those of quarantined streams.
 */
export async function expectPublishedOnce(store: EventStore, bus: MemoryBus): Promise<void> {
  await untilAllArePublished(store, bus);
  const actual = new Map<string, string[]>();
  for (const topic of publishedTopics)
    for (const record of bus.recordsOf(topic)) {
      const name = `${topic} ${record.key}`;
      actual.set(name, [...(actual.get(name) ?? []), facts(topic, record)]);
    }
  const byName = (map: Map<string, string[]>) =>
    Object.fromEntries(
      [...map]
        .map(([name, ofKey]) => [name, name.startsWith(gatewayJournalTopic) ? ofKey.toSorted() : ofKey])
        .sort(),
    );
  expect(byName(actual)).toEqual(byName(await expectedRecords(store)));
}

/** Waits until there are as many records as the events lead to. */
export async function untilAllArePublished(store: EventStore, bus: MemoryBus): Promise<void> {
  const { length } = [...(await expectedRecords(store)).values()].flat();
  await eventually(() => expect(bus.count()).toBeGreaterThanOrEqual(length));
}
