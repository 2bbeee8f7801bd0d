/** The group stream of a bus on an event store whose leader left without a quorum. */
import { hideNext, hurried, hurriedClock, servedStore } from '@tollgate/event-store/testing/eventstoredb';
import type { EventStore } from '@tollgate/event-store';
import { systemIds } from '@tollgate/service-kit';
import { expect, it, onTestFinished, vi } from 'vitest';
import type { MessageBus } from '../message-bus.ts';
import { memberProbe, message } from '../testing/member-probe.ts';
import { createEmbeddedMessageBus } from './embedded-message-bus.ts';
import { groupStream } from './topics.ts';

vi.setConfig({ testTimeout: 60_000 });

const topic = 'provider.callbacks.v1';
const waiting = { timeout: 20_000, interval: 2 };

function openBus(store: EventStore): MessageBus {
  const options = { store, clock: hurriedClock, ids: systemIds, holder: 'spec', partitions: 1 };
  const bus = createEmbeddedMessageBus(options);
  onTestFinished(() => bus.close());
  return bus;
}

// A conflict was taken for impossible, since nothing was expected, and ended the membership for good.
it('a group is joined when it is known whether another member has joined', async () => {
  const { store, server, another } = await servedStore(hurried);
  await openBus(store).publish(topic, [message('k', '0')]);
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
