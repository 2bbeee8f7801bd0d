/** Payouts in a real browser: a person decides on another person's request, and sees the outcome. */
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Page } from 'playwright-core';
import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { eventually } from '@tollgate/testing';
import { issueKey, tollgate } from '../commands.ts';
import type { CallGateway, System } from '../system.ts';
import { seriousFaults } from './chromium.ts';
import { driveConsole } from './console-driver.ts';

const driven = driveConsole();
const { own, signIn, state, action } = driven;
let page: Page;
let system: System;
beforeEach(() => ({ page, system } = driven.now()));

const settled = { timeoutMs: 30_000 };
const destination = { bankAccount: { bankName: 'A bank', account: 'DE02120300000000202051' } };
let team: CallGateway;

beforeAll(async () => {
  ({ system } = driven.now());
  const program = join(import.meta.dirname, '..', '..', '..', 'cli', 'src', 'sandbox', 'main.ts');
  const env = { ...process.env, TOLLGATE_DATA_DIR: system.dataDir };
  await promisify(execFile)(process.execPath, [program, 'fund', '10000'], { env });
  await tollgate(
    system,
    ...['team', 'approval', 'demo', '--environment', 'sandbox', '--currency', 'EUR', '--above', '0'],
  );
  team = system.gatewayAs(await issueKey(system, 'demo', 'payouts,read'));
});

/** Repeated until the team's approval rule and balance are visible. */
const ask = (orderNumber: string) => {
  const body = { amount: 1_500, currency: 'EUR', orderNumber, destination };
  return eventually(async () => {
    const answer = await team('POST', '/api/v1/payouts', { body });
    expect(answer.statusCode).toBeLessThan(300);
    return answer;
  }, settled);
};

/** Opens the page of a payout that awaits approval, from the list. */
async function open(orderNumber: string): Promise<string> {
  const { token } = (await ask(orderNumber)).body;
  await page.goto(own('/console/payouts'));
  await page.locator(`a[title$="${token}"]`).click();
  await state('Awaiting approval').waitFor();
  return token;
}

describe("a payout above its team's threshold", () => {
  it('is approved by an admin, and shown when its team sends it', { timeout: 60_000 }, async () => {
    await signIn('admin');
    await open('order-1');
    expect(await seriousFaults(page)).toEqual([]);
    // A wrong amount is kept in the form, and can be corrected.
    await action('Compare the account').click();
    for (const [account, said] of [
      ['DE02 1203 0000 0000 2020 52', 'The payout goes to another account. Do not approve it.'],
      ['DE02 1203 0000 0000 2020 51', 'The payout goes to this account.'],
    ] as const) {
      await page.getByLabel('Account number').fill(account);
      await page.getByRole('button', { name: 'Compare', exact: true }).click();
      await page.getByText(said).waitFor();
    }
    await action('Approve').click();
    await page.getByText('Approves 15.00 EUR to A bank …2051. Approving sends nothing.').waitFor();
    await page.getByRole('button', { name: 'Approve 15.00 EUR' }).click();
    await page.getByText('Approved. Nothing is sent yet').waitFor();
    await state('Approved, not sent yet').waitFor();
    await page.evaluate('window.isSame = true');
    expect((await ask('order-1')).statusCode).toBe(200);
    await page.locator('.timeline .event', { hasText: 'The payout was made.' }).waitFor();
    await action('Refuse').waitFor({ state: 'detached' });
    expect(await page.evaluate('window.isSame')).toBe(true);
    expect(await page.locator('.timeline').innerText()).toContain('PayoutApprovalGranted · ada');
    await page.goto(own('/console/security-log?kind=review'));
    await page.getByText('confirmed the account number of payout').waitFor();
    await page.getByText('compared another account number with payout').waitFor();
    await page.goBack();
    await page.locator('.timeline .event a').first().click();
    await page.locator('#request', { hasText: '"amount": 1500' }).waitFor();
    const command = await page.getByRole('button', { name: 'Copy as curl' }).getAttribute('data-copy');
    expect(command).toContain('/api/v1/payouts');
    expect(command).not.toContain('DE0212');
    expect(await seriousFaults(page)).toEqual([]);
  });
});
