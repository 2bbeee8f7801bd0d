import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { callbackBodySchema } from '@tollgate/payment-api';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { startCallbackReceiver, type CallbackReceiver } from './testing/callback-receiver.ts';
import { eventually } from './testing/eventually.ts';
import { startHarness, type Harness } from './testing/harness.ts';
import { approvedCard, goodForm, tea } from './testing/samples.ts';

let harness: Harness;
let receiver: CallbackReceiver;
beforeEach(async () => {
  harness = await startHarness();
  receiver = await startCallbackReceiver();
});
afterEach(async () => {
  await harness.remove();
  await receiver.close();
});

const create = (fields: object = {}) =>
  harness.create({ callbackUrl: receiver.url, orderNumber: 'C-1', ...fields });
const callbacksOf = async (orderNumber: string) => (await harness.ledger(orderNumber)).callbacks;

describe('callbacks', () => {
  it('report every change of status, with the specification’s fields', async () => {
    const token = await create();
    await harness.browse(`/checkout/${token}`);
    await receiver.waitFor(1);
    await harness.browse(`/checkout/${token}`, goodForm(approvedCard));
    const [pending, approved] = await receiver.waitFor(2);
    const common = { token, type: 'payment', orderNumber: 'C-1', amount: tea.amount, currency: tea.currency };
    expect(pending).toEqual({ ...common, status: 'pending' });
    expect(approved).toEqual({ ...common, status: 'approved', sanitizedMask: '439296******1251' });
    expect(callbackBodySchema.safeParse(approved).success).toBe(true);
    expect(receiver.contentTypes).toEqual(['application/json', 'application/json']);
  });

  it('report an expiry and a revision, and no creation', async () => {
    const token = await create();
    await harness.advanceClock(30 * 60_000);
    await receiver.waitFor(1);
    await harness.call('POST', `/sandbox/payments/${token}/revise`, { status: 'approved', amount: 900 });
    await receiver.waitFor(2);
    expect(receiver.received).toMatchObject([
      { status: 'expired', amount: tea.amount },
      { status: 'approved', amount: 900 },
    ]);
  });

  it('go to HTTPS receivers whose certificate can be verified', async () => {
    const folder = join(harness.dataDir, 'payment-service-tls');
    const pem = (file: string) => readFile(join(folder, file), 'utf8');
    const secure = await startCallbackReceiver({
      key: await pem('server-key.pem'),
      cert: await pem('server.pem'),
    });
    try {
      await harness.browse(`/checkout/${await create({ callbackUrl: secure.url })}`);
      expect(await secure.waitFor(1)).toMatchObject([{ status: 'pending' }]);
    } finally {
      await secure.close();
    }
  });

  it('are tried again when the answer is not 200, and follow no redirect', async () => {
    const answers = [503, 302, 200];
    receiver.react(() => answers.shift() ?? 200);
    await harness.browse(`/checkout/${await create()}`);
    await eventually('the first try', async () => (await callbacksOf('C-1'))[0]?.tries === 1);
    await harness.advanceClock(5_000);
    await eventually('the second try', async () => (await callbacksOf('C-1'))[0]?.tries === 2);
    await harness.advanceClock(15_000);
    await eventually('the delivery', async () => (await callbacksOf('C-1'))[0]?.state === 'delivered');
    expect(receiver.statuses()).toEqual(['pending', 'pending', 'pending']);
  });

  it('that are due when the service stops are sent after its start', async () => {
    receiver.react(() => 'hang');
    await harness.browse(`/checkout/${await create()}`);
    await receiver.waitFor(1);
    await harness.stop();
    receiver.react(() => 200);
    await harness.restart();
    await eventually('the delivery', async () => (await callbacksOf('C-1'))[0]?.state === 'delivered');
    expect(receiver.statuses()).toEqual(['pending', 'pending']);
  });
});
