/** Planted secrets are looked for in everything that the system writes. */
import { chmodSync, readFileSync, readdirSync, statSync } from 'node:fs';
import { basename, join } from 'node:path';
import { eventually } from '@tollgate/testing';
import { afterAll, expect, it } from 'vitest';
import { payOnHostedPage } from '../src/customer.ts';
import { type System, newDataDir, startSystem, stopEverything } from './system.ts';

afterAll(stopEverything);

/** Not the one that the start prints as the card to try. */
const card = '4730198364688516';

function filesOf(directory: string): string[] {
  return readdirSync(directory, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));
}

/** Files of the data directory that hold a text, by their names. */
function filesWith(system: System, text: string): string[] {
  return filesOf(system.dataDir)
    .filter((file) => readFileSync(file).includes(text))
    .map((file) => file.slice(system.dataDir.length + 1));
}

async function useEverySecret(system: System): Promise<void> {
  const terms = { product: 'Tea', amount: 1250, currency: 'EUR' };
  const post = (body: object) => system.gateway('POST', '/api/v1/payments', { body });
  const { token, processingUrl } = (await post({ ...terms, orderNumber: 'order-1' })).body;
  await payOnHostedPage(system.customer, { processingUrl, card });
  await eventually(async () => {
    const { body } = await system.gateway('GET', `/api/v1/payments/${token}`);
    expect(body.payment.status).toBe('declined');
  });
  // And in places where none belongs.
  await post({ ...terms, orderNumber: 'order-2', card: { pan: card, cvv: '737' } });
  await post({ ...terms, orderNumber: 'order-3', product: card });
  await system.gateway('POST', '/api/v1/payments', { body: terms, headers: { 'idempotency-key': card } });
  await system.gateway('GET', `/api/v1/payments/${card}`);
  await system.gateway('GET', `/api/v1/payments?orderNumber=${card}&key=${system.quickstart.apiKey}`);
}

it('no secret is in a log or a file, but in the one that is made for it', { timeout: 60_000 }, async () => {
  const system = await startSystem({ env: { TOLLGATE_LOG_LEVEL: 'debug' } });
  await useEverySecret(system);
  const { apiKey, paymentServiceKey } = system.quickstart;
  const callbackSecret =
    readFileSync(join(system.dataDir, 'callback-secrets'), 'utf8').trim().split(':')[1] ?? '';
  expect(callbackSecret.length).toBeGreaterThan(32);
  await system.terminate();
  for (const secret of [card, apiKey, apiKey.split('_')[3] ?? '', paymentServiceKey, callbackSecret]) {
    expect(secret.length).toBeGreaterThan(8);
    expect(system.output()).not.toContain(secret);
  }
  expect(system.output()).toContain('called the Payment Service');
  expect(filesWith(system, card)).toEqual([]);
  expect(filesWith(system, apiKey)).toEqual(['quickstart.json']);
  expect(filesWith(system, paymentServiceKey)).toEqual(['quickstart.json']);
  expect(filesWith(system, callbackSecret)).toEqual(['callback-secrets']);
});

it(
  'only the owner may read what is in the data directory, whoever made it',
  { timeout: 60_000 },
  async () => {
    const dataDir = newDataDir();
    chmodSync(dataDir, 0o755);
    const system = await startSystem({ dataDir });
    const files = filesOf(dataDir);
    expect(files.map((file) => basename(file))).toEqual(
      expect.arrayContaining(['events.db', 'events.db-wal']),
    );
    for (const file of files) expect(statSync(file).mode & 0o077, file).toBe(0);
    await system.terminate();
  },
);
