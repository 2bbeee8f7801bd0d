import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { WebhookBody } from '@tollgate/gateway-api';
import { createWebhookJournal } from '@tollgate/notifier';
import { readConfig, silentLog, systemClock, systemIds, hourMs } from '@tollgate/service-kit';
import { eventually } from '@tollgate/testing';
import { expect, it, onTestFinished } from 'vitest';
import { gatewayConfigSchema } from '../../configuration/config.ts';
import { openDataDirectory } from '../../configuration/data-directory.ts';
import { type Parts, createParts } from '../parts.ts';
import { startClockCheck } from '../start-clock-check.ts';
import { startNotifier } from './notifier.ts';

const body: WebhookBody = {
  ...{ token: 'pay_1', orderNumber: 'o', amount: 5, currency: 'EUR' },
  type: 'payment',
  status: 'approved',
};

function partsOfOneProcess(): Parts {
  const dataDir = mkdtempSync(join(tmpdir(), 'tollgate-notifier-'));
  const config = readConfig(gatewayConfigSchema, { TOLLGATE_DATA_DIR: dataDir });
  const stops = new AsyncDisposableStack();
  onTestFinished(async () => {
    await stops.disposeAsync();
    rmSync(dataDir, { recursive: true });
  });
  const deps = {
    config,
    clock: systemClock,
    ids: systemIds,
    env: {},
    pid: process.pid,
    logOf: () => silentLog,
  };
  return createParts(deps, { dataDirectory: openDataDirectory(dataDir), stops, runs: () => true });
}

/** As `parts`, on a machine whose clock is so far ahead of the store's. */
async function withClockAhead(parts: Parts, aheadMs: number): Promise<Parts> {
  const clock = { ...systemClock, now: () => systemClock.now() + aheadMs };
  const [store, directory] = [await parts.store(), await parts.teams()];
  return {
    ...{ ...parts, clock },
    clockCheck: async () => startClockCheck({ ...parts, clock }, store),
    teams: async () => ({ ...directory, callbackOriginsOf: () => ['https://shop.example'] }),
  };
}

// A machine four hours ahead failed a delivery: the next attempt came four hours late, on any machine (simulation, seed 47).
// One four hours behind used up the first attempts at once.
it.each([4, -4])('a clock %d hours ahead moves no next attempt', async (hours) => {
  const parts = partsOfOneProcess();
  const store = await parts.store();
  const journal = createWebhookJournal({ store, clock: systemClock, ids: systemIds });
  const due = { id: 'whk_1', environment: 'sandbox', team: 'shop', url: 'https://shop.example/' } as const;
  const cause = { correlationId: 'c', causationId: 'c' };
  await journal.recordDue('pay_1', [{ ...due, body, at: systemClock.now() }], cause);
  const client = { post: async () => 500, close: async () => undefined };
  await startNotifier(await withClockAhead(parts, hours * hourMs), { client });
  const failed = await eventually(async () => {
    const [webhook] = (await journal.load('pay_1')).state.webhooks;
    expect(webhook?.deliveries).toHaveLength(1);
    return webhook;
  });
  const waitMs = (failed?.nextAt ?? Infinity) - (failed?.deliveries[0]?.at ?? 0);
  expect(waitMs).toBeGreaterThanOrEqual(5_000);
  expect(Math.abs((failed?.deliveries[0]?.at ?? 0) - systemClock.now())).toBeLessThan(hourMs);
});

// Where the store was slow from its start on, it sent nothing, and said so to nobody (found by attack).
it('says that its clock is wrong', async () => {
  const own = await withClockAhead(partsOfOneProcess(), hourMs);
  const service = await startNotifier(own, {
    client: { post: async () => 500, close: async () => undefined },
  });
  await eventually(async () => expect(await service.degraded?.()).toEqual(['clock-skew']));
});
