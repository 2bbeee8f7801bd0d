import { temporaryStore } from '@tollgate/event-store/testing';
import { customerStream, paymentStream } from '@tollgate/core';
import { systemIds } from '@tollgate/service-kit';
import { createFakeClock } from '@tollgate/testing';
import { describe, expect, it } from 'vitest';
import { runWith, toolsWith } from './testing/run-with.ts';

const event = (type: string, data: object = {}) => ({ id: systemIds.uuid(), type, data, metadata: {} });

async function start() {
  const store = await temporaryStore();
  for (const token of ['pay_1', 'pay_2'])
    await store.append(paymentStream(token), [event('PaymentRequested')], 'no-stream');
  await store.append(customerStream('pay_1'), [event('CustomerKept')], 'no-stream');
  const clock = createFakeClock();
  const tools = toolsWith({ store, clock });
  const run = (command: string) => runWith(tools, command);
  const read = (stream: string) => Array.fromAsync(store.read(stream));
  return { run, read, store };
}

describe('payment forget', () => {
  it('lists the stored data, and does nothing without --yes', async () => {
    const { run, read } = await start();
    expect(await run('payment forget pay_1')).toEqual({
      exitCode: 1,
      out: '',
      error:
        'E-mail and IP address of the customer are stored, encrypted, for a further attempt of the creation. With --yes, they are erased.\n',
    });
    expect(await read(customerStream('pay_1'))).toHaveLength(1);
  });

  it('removes it permanently, keeps the payment, and records the person', async () => {
    const { run, read, store } = await start();
    expect(await run('payment forget pay_1 --yes --as ada')).toMatchObject({
      exitCode: 0,
      out: 'Erased the e-mail and IP address of the customer of pay_1.\n',
    });
    expect(await read(customerStream('pay_1'))).toEqual([]);
    await expect(store.append(customerStream('pay_1'), [event('CustomerKept')], 'any')).rejects.toMatchObject(
      {
        code: 'stream_removed',
      },
    );
    expect(await read(paymentStream('pay_1'))).toHaveLength(1);
    expect(await read('customers-forgotten')).toMatchObject([
      { data: { paymentToken: 'pay_1' }, metadata: { actor: { kind: 'person', name: 'ada' } } },
    ]);
  });

  it('can be repeated, and accepts a payment without stored data', async () => {
    const { run } = await start();
    for (const token of ['pay_2', 'pay_2'])
      expect(await run(`--json payment forget ${token} --yes`)).toMatchObject({
        exitCode: 0,
        out: expect.stringContaining(`{"token":"${token}","wasKept":false,"remains":{}`),
      });
  });

  // Metadata and order numbers may contain personal data, such as an e-mail address.
  it.each(['', ' --yes'])('lists the texts that stay, and where they are: forget%s', async (option) => {
    const { run, store } = await start();
    const terms = { orderNumber: 'A-1', product: 'Tea', amount: 1, metadata: { note: 'for\u001bAda' } };
    await store.append(paymentStream('pay_1'), [event('PaymentRequested', { terms })], 'any');
    await store.append(
      paymentStream('pay_1'),
      [event('RefundRequested', { metadata: { why: 'Ada called' } })],
      'any',
    );
    const { out, error } = await run(`payment forget pay_1${option}`);
    for (const text of [
      'orderNumber: A-1',
      'product: Tea',
      'metadata.note: for?Ada',
      'metadata.why: Ada called',
    ])
      expect(`${out}${error}`).toContain(text);
    expect(`${out}${error}`).toMatch(/topic gateway\.payments\.v1.*webhooks.*backups.*the Payment Service/);
  });

  it.each([
    ['payment forget pay_3 --yes', 1, 'There is no payment pay_3.'],
    ['payment forget po_1 --yes', 2, 'of a payout only its masked destination is stored'],
    ['payment forget ../x --yes', 2, '<token> must be the token of a payment'],
    ['payment forget', 2, '<token> is missing'],
  ])('refuses %j with exit code %d', async (command, exitCode, message) => {
    const { run } = await start();
    const result = await run(command);
    expect(result).toMatchObject({ exitCode, out: '' });
    expect(result.error).toContain(message);
  });
});
