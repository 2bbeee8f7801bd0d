/** Reviews in a real browser: the list with its filters, the only allowed answer, and the end of the list. */
import type { Page } from 'playwright-core';
import { beforeEach, expect, it } from 'vitest';
import { eventually } from '@tollgate/testing';
import { serviceTokenOf } from '../ledger.ts';
import type { System } from '../system.ts';
import { seriousFaults } from './chromium.ts';
import { driveConsole } from './console-driver.ts';

/** Five lost captures take seconds. */
const driven = driveConsole({
  PROVIDER_CALL_DEADLINE_MS: '3000',
  PROVIDER_SEND_WITHIN_MS: '2000',
  PROVIDER_QUIET_MS: '500',
  PROVIDER_FAILURES_IN_A_ROW: '1000',
});
const { own, signIn, state, action } = driven;
let page: Page;
let system: System;
beforeEach(() => ({ page, system } = driven.now()));

/** An authorized payment whose capture is lost five times: checking again is the only resolution. */
async function loseCapture(orderNumber: string): Promise<string> {
  const body = { product: 'Tea', amount: 1_250, currency: 'EUR', orderNumber, needConfirmation: true };
  const { token } = (await system.gateway('POST', '/api/v1/payments', { body })).body;
  const serviceToken = await serviceTokenOf(system.sandbox, token);
  await system.sandbox('POST', `/sandbox/payments/${serviceToken}/pay`, { outcome: 'approved' });
  await system.sandbox('POST', '/sandbox/faults', [
    { operation: 'confirm', fault: 'error_before', times: 5 },
  ]);
  await page.goto(own(`/console/payments/${token}`));
  await state('Authorized').waitFor();
  await action('Capture').click();
  await page.getByRole('button', { name: 'Capture 12.50 EUR' }).click();
  await eventually(
    async () => {
      await action('Check now').click();
      await page.getByRole('button', { name: 'Check the status' }).click();
      await page.getByRole('link', { name: 'Decide' }).waitFor({ timeout: 3_000 });
    },
    { timeoutMs: 120_000 },
  );
  return token;
}

it(
  'the only allowed answer is a button, and its outcome says that no other review is open',
  { timeout: 180_000 },
  async () => {
    await signIn('admin');
    await loseCapture('only-1');
    await page.goto(own('/console/reviews'));
    // Each filter applies at once, and is removed by its chip.
    await page.locator('select[name="team"]').selectOption('demo');
    await page.getByRole('link', { name: 'Team: demo' }).click();
    await page.waitForURL(own('/console/reviews?'));
    await page.locator('tr[data-row] a', { hasText: 'A capture was sent several times' }).click();
    await page.getByRole('heading', { name: 'Decision' }).waitFor();
    expect(await page.getByRole('radio').count()).toBe(0);
    expect(await page.locator('#evidence .timeline .call').count()).toBe(6);
    expect(await seriousFaults(page)).toEqual([]);
    await page.getByLabel('Reason').fill('The Payment Service answers again.');
    await page.getByRole('button', { name: 'Check again' }).click();
    await page.getByText('Resolved: 12.50 EUR, order only-1. No other review is open.').waitFor();
  },
);
