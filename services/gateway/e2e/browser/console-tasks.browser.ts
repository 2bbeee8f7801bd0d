/**
 * The ten tasks of the console, each from the overview. Every click on a link, button or the search box counts, including
 * the button that sends a form. Typing, Enter and filling in a form's fields do not.
 */
import type { Locator, Page } from 'playwright-core';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { dayMs, systemClock } from '@tollgate/service-kit';
import { type Receiver, eventually, startReceiver } from '@tollgate/testing';
import { tollgate } from '../commands.ts';
import { driveConsole } from './console-driver.ts';

const driven = driveConsole();
const { own, signIn, action, state } = driven;
let page: Page;
let clicks: number;
beforeEach(() => ({ page } = driven.now()));

const clicksMax = 3;
const report: string[] = [];
afterAll(() => {
  process.stdout.write(`\n${report.join('\n')}\n`);
});

async function click(what: Locator): Promise<void> {
  clicks += 1;
  await what.click();
}

async function search(text: string): Promise<void> {
  await click(page.getByRole('combobox', { name: 'Search' }));
  await page.keyboard.type(text);
  await page.keyboard.press('Enter');
}

const menu = (name: string): Locator =>
  page.getByRole('navigation', { name: 'Main' }).getByText(name, { exact: true });

let receiver: Receiver;

/** Order numbers of the payments prepared for the tasks. */
const orders = { approved: 'task-approved', declined: 'task-declined' } as const;

beforeAll(async () => {
  const { system } = driven.now();
  receiver = await startReceiver();
  const callbackUrl = receiver.url;
  await tollgate(system, 'team', 'allow-origins', 'demo', '--callback', new URL(callbackUrl).origin);
  const limit = 'team limit demo --environment sandbox --operation payout --currency EUR'.split(' ');
  for (const sum of ['50000', '100000']) await tollgate(system, '--as', 'ann', ...limit, '--per-day', sum);
  for (const [outcome, orderNumber] of Object.entries(orders)) {
    const { body } = await eventually(async () => {
      const answer = await system.gateway('POST', '/api/v1/payments', {
        headers: { 'idempotency-key': orderNumber },
        body: { product: 'Tea', amount: 1_250, currency: 'EUR', orderNumber, callbackUrl },
      });
      expect(answer.statusCode).toBe(200);
      return answer;
    });
    const serviceToken = body.processingUrl.split('/').at(-1) ?? '';
    await system.sandbox('POST', `/sandbox/payments/${serviceToken}/pay`, { outcome });
  }
});
afterAll(() => receiver.close());

const tasks: [name: string, work: () => Promise<unknown>][] = [
  [
    'find a payment by order number',
    async () => {
      await search(orders.approved);
      await page.waitForURL(/payments\/pay_/);
    },
  ],
  [
    'see why it failed',
    async () => {
      await search(orders.declined);
      await page.getByText('card_declined').first().waitFor();
    },
  ],
  [
    'refund part',
    async () => {
      await search(orders.approved);
      await click(action('Refund'));
      await page.getByLabel('Amount (EUR)').fill('2.50');
      await click(page.getByRole('button', { name: 'Send the refund' }));
      await page.getByText('The refund was accepted.').waitFor();
    },
  ],
  [
    'resolve a review',
    async () => {
      await click(page.locator('.band a', { hasText: 'open review' }));
      await click(page.locator('tr[data-row] a').first());
      await page.getByRole('radio').first().check();
      await page.getByLabel('Reason').fill('Checked at the bank.');
      await click(page.getByRole('button', { name: 'Decide' }));
      // The review that the page shows has ended, so a refresh finds none.
      driven.tolerate(/status of 404/);
      await page.getByText(/Resolved: /).waitFor();
    },
  ],
  [
    'resend a webhook',
    async () => {
      const before = receiver.received.length;
      await search(orders.declined);
      await click(page.locator('form[action$="/replay"] button').first());
      await eventually(async () => expect(receiver.received.length).toBeGreaterThan(before));
    },
  ],
  [
    'issue a key',
    async () => {
      await search('demo');
      await click(action('Issue a key'));
      await page.getByLabel('Environment').first().selectOption('production');
      await page.getByLabel('read', { exact: true }).check();
      await click(page.getByRole('button', { name: 'Issue the key' }));
      await page.locator('[data-copy^="tg_"]').waitFor();
    },
  ],
  [
    'pause an account',
    async () => {
      await click(menu('Accounts'));
      await click(action('Pause'));
      await page.getByLabel('Reason').first().fill('Maintenance of the bank.');
      await click(page.getByRole('button', { name: 'Pause the account' }));
      await page.getByText('is paused.').waitFor();
    },
  ],
  [
    'export a month',
    async () => {
      await click(menu('Payments'));
      await click(page.getByText('CSV', { exact: true }));
      const file = page.waitForEvent('download');
      await click(page.locator('.menu a').nth(1));
      expect((await file).suggestedFilename()).toMatch(/^payments-all-teams-\d{4}-\d\d\.csv$/);
    },
  ],
  [
    'reconcile yesterday',
    async () => {
      await click(menu('Reconciliation'));
      const yesterday = new Date(systemClock.now() - dayMs).toISOString().slice(0, 10);
      await page.getByLabel('Day (UTC)').fill(yesterday);
      await click(page.getByRole('button', { name: 'Compare' }));
      await page.getByText('is being compared.').waitFor();
    },
  ],
  [
    'who changed a limit',
    async () => {
      await click(menu('Security log'));
      await page.getByLabel('Change').selectOption('MoneyLimited');
      await page
        .locator('#security-log', {
          hasText: 'ann raised the daily payout limit of team demo from 500.00 EUR to 1,000.00 EUR',
        })
        .waitFor();
    },
  ],
];

it('a review for the tasks is open', async () => {
  await signIn('admin');
  const token = await driven.play('approved');
  await state('Approved').waitFor();
  await driven.revise(token);
  await eventually(
    async () => {
      await page.goto(own('/console'));
      await page.locator('.band a', { hasText: 'open review' }).waitFor({ timeout: 1_000 });
    },
    { timeoutMs: 20_000 },
  );
});

it.each(tasks)('%s takes at most three clicks', async (name, work) => {
  clicks = 0;
  await signIn('admin');
  const start = systemClock.monotonic();
  await work();
  const seconds = (systemClock.monotonic() - start) / 1_000;
  report.push(`${name}: ${clicks} ${clicks === 1 ? 'click' : 'clicks'}, ${seconds.toFixed(1)} s`);
  expect(clicks).toBeLessThanOrEqual(clicksMax);
});
