/**
 * `npm run tollgate -- tail` as a user runs it, in a process of its own. A tail that follows once ended at once and without
 * a word: waiting for records keeps no process running.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createEmbeddedEventStore } from '@tollgate/event-store';
import { temporaryFile } from '@tollgate/event-store/testing';
import { type EncodedRecord, gatewayPaymentsTopic } from '@tollgate/gateway-api';
import { publicTopics } from '@tollgate/gateway-api/asyncapi';
import { createEmbeddedMessageBus } from '@tollgate/message-bus';
import { silentLog, systemClock, systemIds } from '@tollgate/service-kit';
import { eventually, programEnvironment } from '@tollgate/testing';
import { expect, it, onTestFinished } from 'vitest';

const cli = fileURLToPath(new URL('../src/command-line/cli.ts', import.meta.url));

function exampleOf(type: string): EncodedRecord {
  const found = publicTopics.flatMap(({ messages }) => messages).find((each) => each.type === type);
  if (found === undefined) throw new Error(`there is no example of ${type}`);
  return found.example;
}

const requested = exampleOf('tollgate.payment.requested.v1');
const approved = exampleOf('tollgate.payment.approved.v1');

/** A bus in a data directory, as a gateway has it, and a tail of its payments in another process. */
async function start(...options: string[]) {
  const file = await temporaryFile();
  const store = await createEmbeddedEventStore({ file });
  onTestFinished(() => store.close());
  const bus = createEmbeddedMessageBus({
    ...{ store, clock: systemClock, ids: systemIds, log: silentLog },
    holder: 'e2e',
  });
  await bus.publish(gatewayPaymentsTopic, [requested]);
  const tail = spawn(process.execPath, [cli, 'tail', gatewayPaymentsTopic, ...options], {
    env: { ...programEnvironment(), TOLLGATE_DATA_DIR: dirname(file) },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  onTestFinished(() => void tail.kill('SIGKILL'));
  const printed = { text: '' };
  tail.stdout.setEncoding('utf8').on('data', (text: string) => (printed.text += text));
  return { bus, tail, printed, ended: once(tail, 'exit') };
}

it.each(['SIGINT', 'SIGTERM'] as const)('follows what a gateway writes, until %s', async (signal) => {
  const { bus, tail, printed, ended } = await start('--from', 'beginning', '--follow');
  await eventually(() => expect(printed.text).toContain('payment.requested'));
  await bus.publish(gatewayPaymentsTopic, [approved]);
  await eventually(() => expect(printed.text).toContain('payment.approved'));
  tail.kill(signal);
  expect(await ended).toEqual([0, null]);
});

it('ends after the last event where it does not follow, and adds colour in a terminal only', async () => {
  const { printed, ended } = await start();
  expect(await ended).toEqual([0, null]);
  expect(printed.text).toContain('payment.requested');
  expect(printed.text).not.toContain('\u001b');
});

it('ends where nobody reads any more what it prints', async () => {
  const { bus, tail, printed, ended } = await start('--from', 'beginning', '--follow');
  await eventually(() => expect(printed.text).toContain('payment.requested'));
  tail.stdout.destroy();
  await bus.publish(gatewayPaymentsTopic, [approved]);
  expect(await ended).toEqual([0, null]);
});
