import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { eventually, startReceiver, type Receiver } from '@tollgate/testing';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { startHarness, type Harness } from './testing/harness.ts';

let harness: Harness;
let receiver: Receiver;
beforeEach(async () => {
  harness = await startHarness();
  receiver = await startReceiver();
});
afterEach(async () => {
  await harness.remove();
  await receiver.close();
});

const create = (fields: object = {}) =>
  harness.create({ callbackUrl: receiver.url, orderNumber: 'C-1', ...fields });
const statusesAt = ({ received }: Receiver) => received.map(({ body }) => body.status);
const callbacksOf = async (orderNumber: string) => (await harness.ledger(orderNumber)).callbacks;

describe('callbacks', () => {
  it('go to HTTPS receivers whose certificate can be verified', async () => {
    const folder = join(harness.dataDir, 'payment-service-tls');
    const pem = (file: string) => readFile(join(folder, file), 'utf8');
    const secure = await startReceiver({
      key: await pem('server-key.pem'),
      cert: await pem('server.pem'),
    });
    try {
      await harness.browse(`/checkout/${await create({ callbackUrl: secure.url })}`);
      await expect.poll(() => statusesAt(secure)).toEqual(['pending']);
    } finally {
      await secure.close();
    }
  });

  it('that are due when the service stops are sent after a restart', async () => {
    receiver.react(() => 'hang');
    await harness.browse(`/checkout/${await create()}`);
    await expect.poll(() => receiver.received).toHaveLength(1);
    await harness.stop();
    receiver.react(() => 200);
    await harness.restart();
    await eventually(async () => expect(await callbacksOf('C-1')).toMatchObject([{ state: 'delivered' }]));
    expect(statusesAt(receiver)).toEqual(['pending', 'pending']);
  });
});
