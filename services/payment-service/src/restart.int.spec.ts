import { startReceiver } from '@tollgate/testing';
import { expect, it, onTestFinished } from 'vitest';
import { startHarness } from './testing/harness.ts';

it('a restart keeps payments, history, calls, keys and the advanced clock', async () => {
  const harness = await startHarness();
  onTestFinished(() => harness.remove());
  const receiver = await startReceiver();
  onTestFinished(() => receiver.close());
  const paid = await harness.create({ orderNumber: 'kept', callbackUrl: receiver.url });
  await harness.pay(paid, { outcome: 'approved' });
  await expect.poll(() => receiver.received).toHaveLength(2);
  const opened = await harness.create({ callbackUrl: receiver.url });
  await harness.browse(`/checkout/${opened}`);
  await expect.poll(() => receiver.received).toHaveLength(3);
  await harness.advanceClock(29 * 60_000);
  const [before, ledgerBefore] = [await harness.retrieve(paid), await harness.ledger('kept')];
  const keyBefore = harness.key();

  await harness.restart();

  const { processingUrl: _page, ...openedAfter } = await harness.retrieve(opened);
  expect(harness.key()).toBe(keyBefore);
  expect(openedAfter.status).toBe('pending');
  const ledgerAfter = await harness.ledger('kept');
  expect(await harness.retrieve(paid)).toEqual(before);
  expect(ledgerAfter).toMatchObject({ payments: ledgerBefore.payments, callbacks: ledgerBefore.callbacks });
  expect(ledgerAfter.calls.slice(0, ledgerBefore.calls.length)).toEqual(ledgerBefore.calls);

  await harness.advanceClock(60_000);
  expect((await harness.retrieve(opened)).status).toBe('expired');
});
