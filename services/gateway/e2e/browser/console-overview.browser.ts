/** Search, overview, requests and approval rates in a real browser. */
import type { Page } from 'playwright-core';
import { beforeEach, describe, expect, it } from 'vitest';
import { eventually } from '@tollgate/testing';
import type { System } from '../system.ts';
import { seriousFaults } from './chromium.ts';
import { driveConsole } from './console-driver.ts';

const driven = driveConsole();
const { own, signIn } = driven;
let page: Page;
let system: System;
beforeEach(() => ({ page, system } = driven.now()));

const waits = { timeoutMs: 20_000 };

const create = (orderNumber: string) =>
  driven.now().system.gateway('POST', '/api/v1/payments', {
    headers: { 'idempotency-key': orderNumber },
    body: { product: 'Tea', amount: 1_250, currency: 'EUR', orderNumber },
  });

async function search(text: string): Promise<void> {
  await page.keyboard.press('/');
  await page.getByRole('combobox', { name: 'Search' }).fill(text);
  await page.keyboard.press('Enter');
}

describe('the search', () => {
  it('ignores case, # and spaces, opens the only hit, and otherwise searches for the prefix', async () => {
    const { body } = await create('# AB 4711');
    await create('AB4711-2');
    await signIn('viewer');
    await page.goto(own('/console/teams'));
    await eventually(async () => {
      await search('#ab 4711');
      await page.waitForURL(`**/payments/${body.token}`, { timeout: 1_000 });
    }, waits);
    // In the format of the Payment Service's hosted page.
    await search(`${body.token.slice(0, 9)}…${body.token.slice(-6)}.1`);
    await page.waitForURL(`**/payments/${body.token}`);
    await search('ab47');
    await page.getByText('Order number begins with this').first().waitFor();
    expect(await page.locator('tr[data-row]').count()).toBe(2);
    expect(await seriousFaults(page)).toEqual([]);
  });

  it.each([
    ['Secur', '/console/security-log'],
    ['approval rate', '/console/approval'],
    ['DEMO', '/console/teams/demo'],
  ])('%s opens %s', async (text, path) => {
    await signIn('viewer');
    await search(text);
    await page.waitForURL(own(path));
  });
});

it(
  'the overview has everything abnormal in one band, four figures, and fits one screen',
  { timeout: 60_000 },
  async () => {
    await signIn('admin');
    await page.getByText('Everything is normal.').waitFor();
    const token = await driven.play('approved');
    await driven.state('Approved').waitFor();
    const { calls } = (await system.sandbox('GET', '/sandbox/ledger')).body;
    const there = calls.find(({ orderNumber }) => orderNumber?.startsWith(token))?.token ?? '';
    await system.sandbox('POST', `/sandbox/payments/${there}/revise`, { status: 'declined' });
    await page.goto(own('/console'));
    const review = page.locator('.band a', { hasText: 'open review' });
    await review.waitFor();
    expect(await page.locator('.figure').count()).toBe(4);
    expect(await page.locator('.figure .plot').first().locator('title').count()).toBe(24);
    expect(await page.evaluate<number>('document.documentElement.scrollHeight')).toBeLessThanOrEqual(800);
    expect(await seriousFaults(page)).toEqual([]);
    await review.click();
    await page.waitForURL(own('/console/reviews'));
  },
);

it(
  'the approval rate is plotted by group, with the same figures in a table',
  { timeout: 60_000 },
  async () => {
    await signIn('admin');
    for (const scenario of ['approved', 'declined']) await driven.play(scenario);
    await driven.state('Declined').waitFor();
    for (const [by, text] of [
      ['By team', 'demo'],
      ['By account', 'sandbox'],
      ['By currency', 'EUR'],
    ] as const) {
      await page.goto(own('/console/approval'));
      await page.getByRole('link', { name: by }).click();
      await page.locator('#rates th', { hasText: text }).waitFor();
      const today = await page.locator('.plot title').last().textContent();
      const rate = /: ([\d.]+ %)/.exec(today ?? '')?.[1] ?? 'none';
      expect(await page.locator('#rates tbody tr').nth(1).innerText(), by).toContain(rate);
    }
    expect(await seriousFaults(page)).toEqual([]);
  },
);

it('requests are listed by outcome, and each opens with its answer', async () => {
  const body = { product: 'Tea', amount: -1, currency: 'EUR', orderNumber: 'wrong-1' };
  expect((await system.gateway('POST', '/api/v1/payments', { body })).statusCode).toBe(400);
  expect((await create('right-1')).statusCode).toBe(200);
  await signIn('viewer');
  await page.getByRole('navigation', { name: 'Main' }).getByText('Requests').click();
  const rows = page.locator('tr[data-row]');
  await rows.filter({ hasText: '200' }).first().waitFor();
  await page.getByLabel('Status').selectOption('4xx');
  await page.getByRole('link', { name: 'Status: 4xx' }).waitFor();
  for (const row of await rows.allInnerTexts()) expect(row).toMatch(/POST \S+\s+400\s+incorrect_amount/);
  expect(await seriousFaults(page)).toEqual([]);
  await rows.first().locator('a').first().click();
  await page.locator('#request', { hasText: 'HTTP 400' }).waitFor();
});
