/**
 * A record that was published while the leader of the event store left stood twice: it was there, hidden, when the
 * publisher read the last records and sent it again.
 */
import { hideNext, hurried, hurriedClock, servedStore } from '@tollgate/event-store/testing/eventstoredb';
import type { EventStore } from '@tollgate/event-store';
import { systemIds } from '@tollgate/service-kit';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import type { Message, MessageBus } from '../message-bus.ts';
import { memberProbe, message } from '../testing/member-probe.ts';
import { createEmbeddedMessageBus } from './embedded-message-bus.ts';
import { groupStream, partitionStream } from './partition-streams.ts';

vi.setConfig({ testTimeout: 60_000 });

const topic = 'gateway.payments.v1';
const stream = partitionStream(topic, 0);
const waiting = { timeout: 20_000, interval: 2 };

function openBus(store: EventStore): MessageBus {
  const options = { store, clock: hurriedClock, ids: systemIds, holder: 'spec', partitions: 1 };
  const bus = createEmbeddedMessageBus(options);
  onTestFinished(() => bus.close());
  return bus;
}

const caused = (text: string) => ({ ...message('k', text), cause: text });

const valuesOn = async (store: EventStore) =>
  (await Array.fromAsync(store.read(stream))).map(({ data }) => (data as { value: string }).value);

/** As a publisher does it: after each failure it begins again behind the last record that is there. */
async function publishAll(bus: MessageBus, messages: readonly Message[]): Promise<void> {
  for (;;) {
    const [last] = await bus.lastPerPartition(topic);
    const next = messages.findIndex(({ value }) =>
      Buffer.from(value).equals(last?.value ?? new Uint8Array()),
    );
    try {
      await bus.publish(topic, messages.slice(next + 1));
      return;
    } catch (error) {
      if ((error as { retryable?: boolean }).retryable !== true) throw error;
    }
  }
}

describe.each(['shown', 'lost'] as const)('a record that a leader without a quorum hides: %s', (fate) => {
  const given = async () => {
    const { store, server, another } = await servedStore(hurried);
    const bus = openBus(store);
    await bus.publish(topic, [caused('0')]);
    const hidden = hideNext(server, (append) => append.stream === stream);
    await expect(bus.publish(topic, [caused('1')])).rejects.toMatchObject({ code: 'bus_unavailable' });
    return { store, bus, another, decide: () => hidden.decide(fate) };
  };

  it('stands once where it is published again until that succeeds', async () => {
    const { store, bus, decide } = await given();
    const publishing = publishAll(bus, [caused('0'), caused('1'), caused('2')]);
    await hurriedClock.sleep(15_000);
    expect(await valuesOn(store)).toEqual(['0']);
    decide();
    await publishing;
    expect(await valuesOn(store)).toEqual(['0', '1', '2']);
  });

  it('stands once where it shows between the last records and what is published behind them', async () => {
    const { store, another, decide } = await given();
    const next = openBus(await another());
    expect(await next.lastPerPartition(topic)).toMatchObject([{ offset: '0' }]);
    decide();
    await expect.poll(() => valuesOn(store), waiting).toHaveLength(fate === 'shown' ? 2 : 1);
    await next.publish(topic, [caused('1'), caused('2')]);
    expect(await valuesOn(store)).toEqual(['0', '1', '2']);
  });
});

// A conflict was taken for impossible, since nothing was expected, and ended the membership for good.
it('a group is joined when it is known whether another member has joined', async () => {
  const { store, server, another } = await servedStore(hurried);
  await openBus(store).publish(topic, [caused('0')]);
  const hidden = hideNext(server, (append) => append.stream === groupStream('spec'));
  const first = memberProbe(openBus(store), { group: 'spec', topics: [topic] });
  onTestFinished(() => first.stop());
  await expect.poll(hidden.isHidden, waiting).toBe(true);
  const second = memberProbe(openBus(await another()), { group: 'spec', topics: [topic] });
  onTestFinished(() => second.stop());
  await hurriedClock.sleep(15_000);
  expect([...first.values(), ...second.values()]).toEqual([]);
  hidden.decide('shown');
  await expect.poll(() => [...first.values(), ...second.values()], waiting).toEqual(['0']);
});
