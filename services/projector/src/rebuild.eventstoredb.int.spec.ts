import type { EventStore } from '@tollgate/event-store';
import { servedStore } from '@tollgate/event-store/testing/eventstoredb';
import { appendPayment, storedViews } from '@tollgate/view-index/testing';
import { viewStreamOf } from '@tollgate/views';
import { happening, requested } from '@tollgate/views/testing';
import { silentLog, systemClock, systemIds } from '@tollgate/service-kit';
import { expect, test, vi } from 'vitest';
import { rebuild } from './rebuild.ts';
import { projected, soon, startProjector } from './testing/projected.ts';

vi.setConfig({ testTimeout: 60_000 });

const parts = { clock: systemClock, ids: systemIds, log: silentLog };

// The log of a server that was not scavenged showed the projector what stood in the record of view versions before the switch.
// It took that for news, began its pass again, met it again, and wrote no view any more.
test('after a rebuild of a quiet store, payments are projected', async () => {
  const { store } = await servedStore();
  const projector = startProjector(store);
  await appendPayment(store, 'p0', [requested(), happening.accepted]);
  await appendPayment(store, 'p1', [requested()]);
  await projected(store, projector);
  const signal = new AbortController().signal;
  // Its last batch ends with the last event.
  const outcome = await rebuild({ ...parts, store, holder: 'spec', signal, batchEventsMax: 3 });
  expect(outcome).toMatchObject({ kind: 'switched', viewVersion: 2 });
  await appendPayment(store, 'p2', [requested()]);
  await vi.waitFor(
    async () => expect([...(await storedViews(store, 2)).keys()]).toContain(viewStreamOf('payment-p2', 2)),
    soon,
  );
});

// One append after another: 1,261 events a second, where the embedded store did 62,000.
test('a rebuild writes views side by side', async () => {
  const { store } = await servedStore();
  for (let number = 0; number < 20; number += 1) await appendPayment(store, `p${number}`, [requested()]);
  let underWay = 0;
  let atOnceMax = 0;
  const counting: EventStore = {
    ...store,
    append: async (stream, ...rest) => {
      if (!stream.startsWith('view2_')) return store.append(stream, ...rest);
      atOnceMax = Math.max(atOnceMax, (underWay += 1));
      return store.append(stream, ...rest).finally(() => (underWay -= 1));
    },
  };
  const signal = new AbortController().signal;
  await rebuild({ ...parts, store: counting, holder: 'spec', signal });
  expect(atOnceMax).toBe(20);
});
