/** Overview and requests in a real browser. */
import type { Page } from 'playwright-core';
import { beforeEach, expect, it } from 'vitest';
import type { System } from '../system.ts';
import { seriousFaults } from './chromium.ts';
import { driveConsole } from './console-driver.ts';

const driven = driveConsole();
const { own, signIn } = driven;
let page: Page;
let system: System;
beforeEach(() => ({ page, system } = driven.now()));

const create = (orderNumber: string) =>
  driven.now().system.gateway('POST', '/api/v1/payments', {
    headers: { 'idempotency-key': orderNumber },
    body: { product: 'Tea', amount: 1_250, currency: 'EUR', orderNumber },
  });

it('the overview has everything abnormal in one band, four figures, and fits one screen', async () => {
  await signIn('admin');
  await page.getByText('Everything is normal.').waitFor();
  const token = await driven.play('approved');
  await driven.state('Approved').waitFor();
  await driven.revise(token);
  await page.goto(own('/console'));
  const review = page.locator('.band a', { hasText: 'open review' });
  await review.waitFor();
  expect(await page.locator('.figure').count()).toBe(4);
  expect(await page.locator('.figure .plot').first().locator('title').count()).toBe(24);
  expect(await page.evaluate<number>('document.documentElement.scrollHeight')).toBeLessThanOrEqual(800);
  expect(await seriousFaults(page)).toEqual([]);
  await review.click();
  await page.waitForURL(own('/console/reviews'));
});

it('requests are listed by outcome, and each opens with its answer', async () => {
  const body = { product: 'Tea', amount: -1, currency: 'EUR', orderNumber: 'wrong-1' };
  expect((await system.gateway('POST', '/api/v1/payments', { body })).statusCode).toBe(400);
  expect((await create('right-1')).statusCode).toBe(200);
  await signIn('viewer');
  await page.getByRole('navigation', { name: 'Main' }).getByText('Requests').click();
  const rows = page.locator('tr[data-row]');
  await rows.filter({ hasText: '200' }).first().waitFor();
  await rows
    .filter({ hasText: /POST[\s\S]*200/ })
    .first()
    .locator('a')
    .first()
    .click();
  await page.locator('#request', { hasText: '"orderNumber": "right-1"' }).waitFor();
  const command = await page.getByRole('button', { name: 'Copy as curl' }).getAttribute('data-copy');
  expect(command).toContain('/api/v1/payments');
  await page.goBack();
  await page.getByLabel('Status').selectOption('4xx');
  await page.getByRole('link', { name: 'Status: 4xx' }).waitFor();
  for (const row of await rows.allInnerTexts()) expect(row).toMatch(/POST \S+\s+400\s+incorrect_amount/);
  expect(await seriousFaults(page)).toEqual([]);
  await rows.first().locator('a').first().click();
  await page.locator('#request', { hasText: 'HTTP 400' }).waitFor();
});
