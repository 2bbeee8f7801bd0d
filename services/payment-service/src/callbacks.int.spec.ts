import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { eventually } from '@tollgate/testing';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { startCallbackReceiver, type CallbackReceiver } from './testing/callback-receiver.ts';
import { startHarness, type Harness } from './testing/harness.ts';

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

  it('that are due when the service stops are sent after a restart', async () => {
    receiver.react(() => 'hang');
    await harness.browse(`/checkout/${await create()}`);
    await receiver.waitFor(1);
    await harness.stop();
    receiver.react(() => 200);
    await harness.restart();
    await eventually(async () => expect(await callbacksOf('C-1')).toMatchObject([{ state: 'delivered' }]));
    expect(receiver.statuses()).toEqual(['pending', 'pending']);
  });
});
