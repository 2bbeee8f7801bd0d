import { StoreUnavailable, type EventStore } from '@tollgate/event-store';
import { temporaryStore } from '@tollgate/event-store/testing';
import { appendPayment, paymentViewStream } from '@tollgate/view-index/testing';
import { happening, requested } from '@tollgate/views/testing';
import { silentLog, type Log } from '@tollgate/service-kit';
import { eventually } from '@tollgate/testing';
import { expect, test, vi } from 'vitest';
import { expectRebuiltIsStored, projected, startProjector } from './testing/projected.ts';

const { accepted, approved, held } = happening;

async function givenPayment() {
  const store = await temporaryStore();
  await appendPayment(store, 'p1', [requested(), accepted, held, approved]);
  return store;
}

test('the next batch is read while one is written, and is written only after that', async () => {
  const store = await givenPayment();
  const letGo = Promise.withResolvers<undefined>();
  let eventsGiven = 0;
  let writesBegun = 0;
  const append: EventStore['append'] = async (stream, ...rest) => {
    if (stream === paymentViewStream('p1')) {
      writesBegun += 1;
      await letGo.promise;
    }
    return store.append(stream, ...rest);
  };
  const subscribe: EventStore['subscribe'] = async function* (options) {
    for await (const item of store.subscribe(options)) {
      if (item.kind === 'event') eventsGiven += 1;
      yield item;
    }
  };
  const projector = startProjector({ ...store, append, subscribe }, { batchEventsMax: 2 });
  await eventually(() => expect({ eventsGiven, writesBegun }).toEqual({ eventsGiven: 4, writesBegun: 1 }));
  expect(projector.health()).toMatchObject({ eventsRead: 0, isAdvancing: false });
  letGo.resolve(undefined);
  await projected(store, projector);
  await expectRebuiltIsStored(store, ['payment-p1']);
});

test('a batch that cannot be written is reported at once, even if nothing more can be read', async () => {
  const store = await givenPayment();
  const subscribe: EventStore['subscribe'] = async function* (options) {
    for await (const item of store.subscribe(options)) {
      yield item;
      if (item.kind === 'event' && item.revision === 1)
        await new Promise((resolve) => options.signal.addEventListener('abort', resolve));
    }
  };
  const append: EventStore['append'] = () =>
    Promise.reject(new StoreUnavailable('store_down', 'The store is down.'));
  const error = vi.fn<Log['error']>();
  const log = { ...silentLog, error };
  const projector = startProjector({ ...store, append, subscribe }, { batchEventsMax: 2, log });
  await eventually(() => expect(error).toHaveBeenCalled());
  expect(projector.health()).toMatchObject({ isAdvancing: false, eventsRead: 0 });
});
