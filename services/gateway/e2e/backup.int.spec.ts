/**
 * A machine is lost, and the gateway is restored from a backup made under load. The sandbox's databases are kept: in
 * production the provider is elsewhere.
 */
import { cpSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { eventually } from '@tollgate/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { shortTimes } from './agreement.ts';
import { eventFiles } from './arrangement.ts';
import { issueKey, tollgate, tollgateExit } from './commands.ts';
import { ledgerOf } from './ledger.ts';
import {
  type Answer,
  type CallGateway,
  type System,
  newDataDir,
  startSystem,
  stopEverything,
} from './system.ts';

const settled = { timeoutMs: 30_000 };
const card = { pan: '4392963203551251', expires: '12/2039', holder: 'Ada Lovelace', cvv: '123' };

let system: System;
let key: string;
beforeAll(async () => {
  system = await startSystem({ env: shortTimes });
  key = await issueKey(system, 'shop', 'payments,refunds,read,cards,stored-cards,admin');
  await eventually(async () => expect((await shop('GET', '/api/v1/payments')).statusCode).toBe(200), settled);
}, 120_000);
afterAll(stopEverything);

const shop: CallGateway = (method, path, options) => system.gatewayAs(key)(method, path, options);

const create = (orderNumber: string): Promise<Answer> =>
  shop('POST', '/api/v1/payments', {
    body: { product: 'Tea', amount: 1_000, currency: 'EUR', orderNumber, card },
    headers: { 'idempotency-key': orderNumber },
  });

/** Pays until it is stopped. @returns the tokens acknowledged by then */
function load(name: string) {
  let isStopped = false;
  const tokens: string[] = [];
  const one = async (worker: number) => {
    for (let number = 0; !isStopped; number += 1) {
      const { statusCode, body } = await create(`${name}-${worker}-${number}`);
      if (statusCode === 200) tokens.push(body.token);
    }
  };
  const working = Promise.all([1, 2, 3, 4].map(one));
  return {
    tokens,
    stop: () => {
      isStopped = true;
      return working;
    },
  };
}

/** Restores the event store like an operator, and keeps the sandbox's own files. */
async function restore(folder: string): Promise<void> {
  const { dataDir } = system;
  const aside = newDataDir();
  for (const name of readdirSync(dataDir))
    if (!/^(events|index|command-service-index|quickstart|operator|.*-secrets)/.test(name))
      renameSync(join(dataDir, name), join(aside, name));
  rmSync(dataDir, { recursive: true });
  const today = new Date().toISOString().slice(0, 10);
  expect(await tollgate(system, 'restore', folder)).toMatchObject({ to: today, voidedPayouts: 0 });
  cpSync(aside, dataDir, { recursive: true });
}

describe.skipIf(eventFiles.length === 0)('a restored backup', { timeout: 120_000 }, () => {
  it('contains everything acknowledged before it, and pays nothing until the lost day is reconciled', async () => {
    const { tokens, stop } = load('shop');
    await eventually(() => expect(tokens.length).toBeGreaterThan(20), settled);
    const before = [...tokens];
    const folder = join(newDataDir(), 'monday');
    const { events } = await tollgate<{ events: number }>(system, 'backup', folder, '--with-secrets');
    await eventually(() => expect(tokens.length).toBeGreaterThan(before.length + 20), settled);
    await stop();
    expect(events).toBeGreaterThan(before.length);
    expect(await tollgateExit(system, 'backup', 'verify', folder)).toMatchObject({ exitCode: 0 });

    await system.terminate();
    await restore(folder);
    system = await system.restart();
    await eventually(
      async () => expect((await shop('GET', '/api/v1/payments')).statusCode).toBe(200),
      settled,
    );
    for (const token of before)
      await eventually(async () => {
        const { statusCode, body } = await shop('GET', `/api/v1/payments/${token}`);
        expect([token, statusCode, body.payment.status]).toEqual([token, 200, 'approved']);
      }, settled);
    const made = (await ledgerOf(system.sandbox)).payments.length;
    const repeated = await create('shop-1-0');
    expect([repeated.statusCode, before]).toEqual([200, expect.arrayContaining([repeated.body.token])]);
    expect((await ledgerOf(system.sandbox)).payments.length).toBe(made);

    const forgotten: string[] = [];
    for (const token of tokens.slice(before.length))
      if ((await shop('GET', `/api/v1/payments/${token}`)).statusCode === 404) forgotten.push(token);
    expect(forgotten.length).toBeGreaterThan(0);
    expect((await create('paused')).statusCode).toBe(503);
    const account = ['--account', 'sandbox', '--environment', 'sandbox'];
    const resume = () => tollgateExit(system, 'account', 'resume', ...account, '--reason', 'reconciled');
    const refused = await resume();
    expect(refused).toMatchObject({ exitCode: 1, stderr: expect.stringContaining('run reconcile') });
    const day = new Date().toISOString().slice(0, 10);
    // Payments younger than the longest call are compared by a later run.
    await eventually(async () => {
      const { stdout } = await tollgateExit(system, 'reconcile', ...account, '--from', day, '--json');
      const [{ counts }] = JSON.parse(stdout) as [{ counts: Record<string, number> }];
      expect(counts).toMatchObject({ onlyAtService: forgotten.length });
    }, settled);
    expect(await resume()).toMatchObject({ exitCode: 0 });
    await eventually(async () => expect((await create('resumed')).statusCode).toBe(200), settled);
  });
});
