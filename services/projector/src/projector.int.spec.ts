import { beginning, type EventStore } from '@tollgate/event-store';
import { temporaryStore } from '@tollgate/event-store/testing';
import { paymentStream, type PaymentEvent } from '@tollgate/core';
import { createProjector } from '@tollgate/views';
import {
  appendPayment,
  paymentViewStream,
  storedViews,
  writeCheckpoint,
  happening,
  requested,
} from '@tollgate/views/testing';
import { silentLog, systemClock, systemIds, type Log } from '@tollgate/service-kit';
import { describe, expect, test, vi } from 'vitest';
import {
  checkpointIn,
  expectRebuiltIsStored,
  failing,
  projected,
  soon,
  startProjector,
} from './testing/projected.ts';

const { accepted, approved, declined, held, pending } = happening;

test('a batch writes a view once, however many of its events are in it', async () => {
  const store = await temporaryStore();
  const append = vi.spyOn(store, 'append');
  await appendPayment(store, 'p1', [requested(), accepted, pending, held, approved]);
  await projected(store, startProjector(store));
  const writes = append.mock.calls.filter(([stream]) => stream === paymentViewStream('p1'));
  expect(writes).toHaveLength(1);
});

test('small batches and a small memory produce the same views', async () => {
  const store = await temporaryStore();
  const tokens = Array.from({ length: 20 }, (_, index) => `p${index}`);
  for (const token of tokens) await appendPayment(store, token, [requested(), accepted]);
  for (const token of tokens) await appendPayment(store, token, [held, approved]);
  const projector = startProjector(store, { batchEventsMax: 3, cachedViewsMax: 2 });
  await projected(store, projector);
  await expectRebuiltIsStored(store, tokens.map(paymentStream));
});

test('a checkpoint alone does not cause another one', async () => {
  const store = await temporaryStore();
  let time = 0;
  const clock = { ...systemClock, monotonic: () => (time += 10_000) };
  await appendPayment(store, 'p1', [requested()]);
  const projector = startProjector(store, { clock });
  await projected(store, projector);
  const append = vi.spyOn(store, 'append');
  const { position } = projector.health();
  await systemClock.sleep(100);
  expect(append).not.toHaveBeenCalled();
  await store.append('other-1', [{ id: systemIds.uuid(), type: 'Noted', data: {}, metadata: {} }], 'any');
  await vi.waitFor(() => expect(projector.health().position > position).toBe(true), soon);
  await systemClock.sleep(100);
  expect(append).toHaveBeenCalledTimes(1);
});

test('it resumes when the store is back', async () => {
  const store = await temporaryStore();
  const tokens = ['p1', 'p2', 'p3'];
  for (const token of tokens) await appendPayment(store, token, [requested(), accepted]);
  let failures = 3;
  const error = vi.fn<Log['error']>();
  const projector = startProjector(
    failing(store, () => ((failures -= 1) >= 0 ? 'after' : undefined)),
    { log: { ...silentLog, error } },
  );
  await projected(store, projector);
  await expectRebuiltIsStored(store, tokens.map(paymentStream));
  expect(error).toHaveBeenCalled();
  expect(projector.health().isAdvancing).toBe(true);
});

test('repeated events change nothing', async () => {
  const store = await temporaryStore();
  await appendPayment(store, 'p1', [requested(), accepted]);
  const first = startProjector(store);
  await projected(store, first);
  await first.stop();
  await writeCheckpoint(store, beginning);
  const second = startProjector(store);
  await projected(store, second);
  const [view] = await Array.fromAsync(store.read(paymentViewStream('p1')));
  expect(view?.revision).toBe(0);
  await expectRebuiltIsStored(store, ['payment-p1']);
});

test('two concurrent projectors produce the same views, and the checkpoint never moves back', async () => {
  const store = await temporaryStore();
  const projectors = [startProjector(store, { batchEventsMax: 7 }), startProjector(store)];
  const tokens = Array.from({ length: 40 }, (_, index) => `p${index}`);
  const positions: string[] = [];
  const rounds: PaymentEvent[][] = [[requested(), accepted], [held], [approved]];
  for (const events of rounds) {
    await Promise.all(tokens.map((token) => appendPayment(store, token, events)));
    positions.push((await checkpointIn(store))?.position ?? '');
  }
  for (const projector of projectors) await projected(store, projector);
  positions.push((await checkpointIn(store))!.position);
  await expectRebuiltIsStored(store, tokens.map(paymentStream));
  expect(positions).toEqual([...positions].sort());
  expect(projectors.map((projector) => projector.health().failedStreams)).toEqual([[], []]);
});

describe('a payment that cannot be projected', () => {
  const poison = { type: 'PaymentForgotten', data: {} } as unknown as PaymentEvent;

  test('is not updated, with an error in the log, and delays no other view', async () => {
    const store = await temporaryStore();
    await appendPayment(store, 'p1', [requested(), accepted, poison]);
    await appendPayment(store, 'p2', [requested(), accepted, approved]);
    const error = vi.fn<Log['error']>();
    const projector = startProjector(store, { log: { ...silentLog, error } });
    await projected(store, projector);
    await appendPayment(store, 'p1', [declined]);
    await appendPayment(store, 'p3', [requested()]);
    await projected(store, projector);

    const views = await storedViews(store);
    expect([...views.keys()].sort()).toEqual(['p1', 'p2', 'p3'].map(paymentViewStream));
    expect(JSON.parse(views.get(paymentViewStream('p1'))!)).toMatchObject({
      revision: 1,
      payment: { phase: 'init' },
    });
    const failedStreams = [{ stream: paymentStream('p1'), revision: 2, code: 'event_undecodable' }];
    expect(projector.health()).toMatchObject({ failedStreams, isAdvancing: true });
    expect(await checkpointIn(store)).toMatchObject({ failedStreams });
    expect(error).toHaveBeenCalledTimes(1);
    expect(error.mock.calls[0]![0]).toMatchObject({ stream: 'payment-p1', revision: 2 });
  });

  test('is still reported after a restart, and projected by code that can read it', async () => {
    const store = await temporaryStore();
    await appendPayment(store, 'p1', [requested(), accepted, poison, approved]);
    const first = startProjector(store);
    await projected(store, first);
    await first.stop();

    const second = startProjector(store);
    await projected(store, second);
    expect(second.health().failedStreams).toMatchObject([{ stream: 'payment-p1', revision: 2 }]);
    await second.stop();

    // As seen by a version that knows the type.
    const read: EventStore['read'] = async function* (stream, options) {
      for await (const event of store.read(stream, options))
        yield event.type === 'PaymentForgotten' ? { ...event, type: 'PaymentPending' } : event;
    };
    const third = startProjector({ ...store, read });
    await vi.waitFor(
      () => expect(third.health()).toMatchObject({ failedStreams: [], isAdvancing: true }),
      soon,
    );
    const views = await storedViews(store);
    expect(JSON.parse(views.get(paymentViewStream('p1'))!)).toMatchObject({
      revision: 3,
      payment: { phase: 'approved' },
    });
  });
});

test('a view of another version is folded again from the beginning', async () => {
  const store = await temporaryStore();
  await appendPayment(store, 'p1', [requested(), accepted]);
  const first = startProjector(store);
  await projected(store, first);
  await first.stop();
  const event = {
    id: systemIds.uuid(),
    type: 'ViewWritten',
    data: { schemaVersion: 0 },
    metadata: {},
  };
  await store.append(paymentViewStream('p1'), [event], 'any');

  await appendPayment(store, 'p1', [approved]);
  await projected(store, startProjector(store));
  await expectRebuiltIsStored(store, ['payment-p1']);
});

test('it may be run again after it ended, as the holder of a lease does', async () => {
  const store = await temporaryStore();
  const projector = createProjector({ store, clock: systemClock, ids: systemIds, log: silentLog });
  for (const token of ['p1', 'p2']) {
    const ending = new AbortController();
    const running = projector.run(ending.signal);
    await appendPayment(store, token, [requested()]);
    await projected(store, projector);
    ending.abort();
    await running;
    expect(projector.health().isAdvancing).toBe(false);
  }
  await expectRebuiltIsStored(store, ['payment-p1', 'payment-p2']);
});
