/**
 * `npm run tollgate -- tail` in its own process, like a user. Waiting for records does not keep a process running, so a
 * following tail must do so itself.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createEmbeddedEventStore } from '@tollgate/event-store';
import { temporaryFile } from '@tollgate/event-store/testing';
import { gatewayPaymentsTopic } from '@tollgate/gateway-api';
import { eventually, programEnvironment } from '@tollgate/testing';
import { appendPayment, happening, requested } from '@tollgate/views/testing';
import { expect, it, onTestFinished } from 'vitest';

const cli = fileURLToPath(new URL('../../cli/src/main.ts', import.meta.url));

/** A payment in a gateway's data directory, and a tail of its payments in another process. */
async function start(...options: string[]) {
  const file = await temporaryFile();
  const store = await createEmbeddedEventStore({ file });
  onTestFinished(() => store.close());
  await appendPayment(store, 'pay_1', [requested()]);
  const tail = spawn(process.execPath, [cli, 'tail', gatewayPaymentsTopic, ...options], {
    env: { ...programEnvironment(), TOLLGATE_DATA_DIR: dirname(file) },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  onTestFinished(() => void tail.kill('SIGKILL'));
  const printed = { text: '' };
  tail.stdout.setEncoding('utf8').on('data', (text: string) => (printed.text += text));
  const accept = () => appendPayment(store, 'pay_1', [happening.accepted]);
  return { accept, tail, printed, ended: once(tail, 'exit') };
}

it.each(['SIGINT', 'SIGTERM'] as const)('follows what a gateway writes, until %s', async (signal) => {
  const { accept, tail, printed, ended } = await start('--from', 'beginning', '--follow');
  await eventually(() => expect(printed.text).toContain('payment.requested'));
  await accept();
  await eventually(() => expect(printed.text).toContain('payment.attempt-accepted'));
  tail.kill(signal);
  expect(await ended).toEqual([0, null]);
});

it('ends after the last event if it does not follow', async () => {
  const { printed, ended } = await start();
  expect(await ended).toEqual([0, null]);
  expect(printed.text).toContain('payment.requested');
});

it('ends when the reader of its output has exited', async () => {
  const { accept, tail, printed, ended } = await start('--from', 'beginning', '--follow');
  await eventually(() => expect(printed.text).toContain('payment.requested'));
  tail.stdout.destroy();
  await accept();
  expect(await ended).toEqual([0, null]);
});
