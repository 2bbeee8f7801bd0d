import { temporaryStore } from '@tollgate/event-store/testing';
import { createFakeClock } from '@tollgate/testing';
import { expect, test } from 'vitest';
import { appendPayment, happening, plantView, requested } from './testing/index.ts';
import { paymentKind } from './view-kinds.ts';
import { createRecentViews, foldStream, readView, recentViewMs } from './view-kind.ts';

const { accepted, approved } = happening;

// It is polled meanwhile, and an event is recorded: neither keeps the view longer.
test('a view in memory is replaced by the stored one, which a rebuild may have repaired', async () => {
  const store = await temporaryStore();
  const clock = createFakeClock();
  const recent = createRecentViews(clock);
  const read = () => readView(store, paymentKind, 'p1', recent);
  await appendPayment(store, 'p1', [requested(), accepted]);
  const right = await foldStream(store, paymentKind, 'p1');
  if (right === undefined) throw new Error('there is no payment');
  const damaged = { ...right, payment: { ...right.payment, processingUrl: 'https://damaged.example/' } };
  await plantView(store, paymentKind, 'p1', damaged);
  expect((await read())?.payment.processingUrl).toBe('https://damaged.example/');
  await plantView(store, paymentKind, 'p1', right);
  await clock.advance(recentViewMs - 1);
  await appendPayment(store, 'p1', [approved]);
  expect((await read())?.payment).toMatchObject({
    phase: 'approved',
    processingUrl: 'https://damaged.example/',
  });
  await clock.advance(1);
  expect((await read())?.payment).toMatchObject({
    phase: 'approved',
    processingUrl: right.payment.processingUrl,
  });
});
