import type { EventStore, RecordedEvent } from '@tollgate/event-store';
import { servedStore } from '@tollgate/event-store/testing/eventstoredb';
import { paymentKind } from '@tollgate/views';
import { appendPayment, paymentViewStream, plantView } from '@tollgate/view-index/testing';
import { happening, requested } from '@tollgate/views/testing';
import { propertyRuns } from '@tollgate/testing';
import fc from 'fast-check';
import { expect, test, vi } from 'vitest';
import { checkViews } from './check.ts';
import { projected, startProjector } from './testing/projected.ts';

vi.setConfig({ testTimeout: 60_000 });

const { accepted, approved, held, pending } = happening;
const tokens = Array.from({ length: 6 }, (_, index) => `p${index}`);
const wellKept = { views: tokens.length, differing: [], failed: [], toRemove: [] };

/** Every view is written several times, as in production. */
async function givenProjected() {
  const { store, server } = await servedStore();
  const projector = startProjector(store);
  for (const events of [[requested(), accepted], [pending], [held], [approved]]) {
    for (const token of tokens) await appendPayment(store, token, events);
    await projected(store, projector);
  }
  await projector.stop();
  return { store, server };
}

const check = (store: EventStore) => checkViews({ store, signal: new AbortController().signal });

// A server shows in its log what it hides from reads of the stream, and every view was called different: each of its
// versions was compared with all events of its payment.
test('a check compares the views, and not those that they have superseded', async () => {
  const { store, server } = await givenProjected();
  expect(await check(store)).toEqual(wellKept);
  await server.scavenge((stream) => stream < paymentViewStream('p3'));
  expect(await check(store)).toEqual(wellKept);
  await plantView(store, paymentKind, 'p1', { other: 'thing' });
  await appendPayment(store, 'p6', [requested()]);
  expect(await check(store)).toMatchObject({ differing: [paymentViewStream('p1')] });
  await server.scavenge();
  expect(await check(store)).toMatchObject({ differing: [paymentViewStream('p1')] });
});

test('a check finds the same in whatever order the log was scavenged', async () => {
  const { store } = await givenProjected();
  await plantView(store, paymentKind, 'p2', { other: 'thing' });
  const expected = await check(store);
  expect(expected.differing).toEqual([paymentViewStream('p2')]);
  await fc.assert(
    fc.asyncProperty(fc.infiniteStream(fc.boolean()), async (isGone) => {
      expect(await check(scavengedAtWill(store, () => isGone.next().value === true))).toEqual(expected);
    }),
    { numRuns: propertyRuns(30) },
  );
});

/** The log of this store lacks any of the events that others have superseded. */
function scavengedAtWill(store: EventStore, isGone: () => boolean): EventStore {
  const isSuperseded = async ({ stream, revision }: RecordedEvent) => {
    for await (const last of store.read(stream, { direction: 'backwards', limit: 1 }))
      return stream.startsWith('view') && revision < last.revision;
    return true;
  };
  return {
    ...store,
    async *subscribe(options) {
      for await (const item of store.subscribe(options))
        if (item.kind === 'caught-up' || !((await isSuperseded(item)) && isGone())) yield item;
    },
  };
}
