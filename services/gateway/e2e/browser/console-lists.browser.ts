/** Long lists and the search box of the console in a real browser. */
import { readFile } from 'node:fs/promises';
import type { BrowserContext, Page, Request } from 'playwright-core';
import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { eventually } from '@tollgate/testing';
import { seriousFaults } from './chromium.ts';
import { driveConsole } from './console-driver.ts';

const driven = driveConsole();
const { own, signIn } = driven;
let page: Page;
let context: BrowserContext;
beforeEach(() => ({ page, context } = driven.now()));

/** Three pages. */
const count = 130;
const orderOf = (number: number) => `list-${String(number).padStart(3, '0')}`;

beforeAll(async () => {
  const { system } = driven.now();
  for (let number = 0; number < count; number += 1) {
    const { statusCode } = await system.gateway('POST', '/api/v1/payments', {
      headers: { 'idempotency-key': orderOf(number) },
      body: { product: 'Tea', amount: 100 + number, currency: 'EUR', orderNumber: orderOf(number) },
    });
    expect(statusCode).toBe(200);
  }
});

const rows = () => page.locator('tr[data-row]');
const toTheEnd = () => page.evaluate('scrollTo(0, document.body.scrollHeight)');

describe('a list of several pages', () => {
  const openList = async () => {
    await signIn('viewer');
    await eventually(async () => {
      await page.goto(own('/console/payments?team=demo&order=oldest'));
      expect(await rows().count()).toBe(50);
    });
  };

  it('is one scrollable table: each payment once, in order, in the columns of the first page', async () => {
    await openList();
    await eventually(async () => {
      await toTheEnd();
      expect(await rows().count()).toBe(count);
    });
    const orders = await page.locator('td.order').allInnerTexts();
    expect(orders).toEqual(Array.from({ length: count }, (_, number) => orderOf(number)));
    const edges = await page.evaluate<number[]>(
      "[...document.querySelectorAll('.wide')].map((each) => each.querySelector('td.state').getBoundingClientRect().left)",
    );
    expect(Math.max(...edges) - Math.min(...edges)).toBeLessThan(2);
    await page
      .getByText('The list does not refresh while further pages are open.')
      .waitFor({ state: 'attached' });
    expect(await seriousFaults(page)).toEqual([]);
  });

  it('keeps its position when the reader returns from a payment', async () => {
    await openList();
    await eventually(async () => {
      await toTheEnd();
      expect(await rows().count()).toBe(count);
    });
    await page
      .locator('tr[data-row]', { hasText: orderOf(120) })
      .locator('a')
      .click();
    await page.waitForURL(/payments\/pay_/);
    await page.goBack();
    await eventually(async () => expect(await rows().count()).toBe(count));
    await page.getByText(orderOf(120), { exact: true }).waitFor();
    expect(await page.evaluate<number>('scrollY')).toBeGreaterThan(1_600);
  });
});

describe('the search box', () => {
  const options = () => page.getByRole('option');

  it('shows results with reasons while typing, and opens one by keyboard', async () => {
    await signIn('viewer');
    await page.keyboard.press('/');
    await page.keyboard.type('list-01');
    // The answer to a shorter text may be shown first.
    await eventually(async () =>
      expect(await options().first().innerText()).toMatch(
        /list-010[\s\S]*Payment · Order number begins with this/,
      ),
    );
    expect(await seriousFaults(page)).toEqual([]);
    await page.keyboard.type('2');
    await eventually(async () => expect(await options().count()).toBe(1));
    expect(await options().innerText()).toContain('Order number matches');
    await page.keyboard.press('ArrowDown');
    expect(await page.getByRole('combobox').getAttribute('aria-activedescendant')).toBe('suggestion-0');
    await page.keyboard.press('Enter');
    await page.waitForURL(/payments\/pay_/);
    await page.getByText('list-012', { exact: true }).waitFor();
  });

  it('labels a filter as such, and clears its results', async () => {
    await signIn('viewer');
    await page.keyboard.press('/');
    await page.keyboard.type('status:init reason:"lost card"');
    await page.getByText('Payments with these properties').waitFor();
    await page.keyboard.press('Escape');
    await eventually(async () => expect(await options().count()).toBe(0));
    await page.keyboard.press('/');
    await page.keyboard.type('nothing of this kind');
    await page.keyboard.press('Enter');
    await page.getByText('No results.').waitFor();
  });
});

it('a live list stays still while the reader points at it, and counts new payments', async () => {
  const create = (orderNumber: string) =>
    driven.now().system.gateway('POST', '/api/v1/payments', {
      headers: { 'idempotency-key': orderNumber },
      body: { product: 'Tea', amount: 100, currency: 'EUR', orderNumber },
    });
  await signIn('viewer');
  await page.goto(own('/console/payments'));
  const first = rows().first();
  const known = await first.innerText();
  await first.hover();
  const place = await first.boundingBox();
  const { body } = await create('news-1');
  await page.getByRole('button', { name: '1 new · Show' }).waitFor();
  await create('news-2');
  await page.getByRole('button', { name: '2 new · Show' }).waitFor();
  expect(await first.innerText()).toBe(known);
  expect(await first.boundingBox()).toEqual(place);
  await page.getByRole('button', { name: '2 new · Show' }).click();
  await rows().filter({ hasText: 'news-2' }).waitFor();
  expect(await rows().first().innerText()).toContain('news-2');
  // A state changes in place, with the keyboard on its row.
  await page.mouse.move(0, 0);
  await page.keyboard.press('j');
  await page.keyboard.press('j');
  const chosen = page.locator('tr.at');
  expect(await chosen.innerText()).toContain('news-1');
  await create('news-3');
  await page.getByRole('button', { name: '1 new · Show' }).waitFor();
  const serviceToken = body.processingUrl.split('/').at(-1) ?? '';
  await driven.now().system.sandbox('POST', `/sandbox/payments/${serviceToken}/pay`, { outcome: 'approved' });
  await chosen.locator('.chip', { hasText: 'Approved' }).waitFor();
  expect(await chosen.innerText()).toContain('news-1');
  await page.mouse.click(5, 400);
  await page.evaluate("document.querySelector('tr.at').classList.remove('at')");
  await rows().filter({ hasText: 'news-3' }).waitFor();
});

it('filters act at once, each is a chip that removes it, and the file has the same', async () => {
  await signIn('viewer');
  await page.goto(own('/console/payments?from=2030-01-31T14:05'));
  const field = page.getByLabel(/^Created from/);
  // Times are shown in the zone of the reader, and are in UTC in the URL.
  expect(await field.inputValue()).toBe('2030-01-31T23:05');
  await field.fill('2030-02-01T09:30');
  await field.blur();
  await page.waitForURL(/from=2030-02-01T00%3A30$/);
  await page.getByText('No payment matches these filters').waitFor();
  await page.getByRole('link', { name: /^Created from: 2030-02-01 09:30/ }).click();
  await page.getByLabel('State').selectOption('init');
  await page.waitForURL(/phase=init/);
  await page.getByText('More filters').click();
  await page.getByLabel('Amount from').fill('2.29');
  await page.getByLabel('Amount from').blur();
  await page.getByRole('link', { name: 'Amount from: 2.29 in each currency' }).waitFor();
  expect(await rows().count()).toBe(1);
  await page.getByText('CSV', { exact: true }).click();
  const [file] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('link', { name: 'This list' }).click(),
  ]);
  expect(file.suggestedFilename()).toBe('payments-all-teams.csv');
  const text = await readFile(await file.path(), 'utf8');
  expect(text.trim().split('\r\n')).toHaveLength(2);
  expect(text).toContain(',EUR,229,2.29,');
  // From the list of all payments, a month is two clicks away.
  await page.goto(own('/console/payments'));
  await page.getByText('CSV', { exact: true }).click();
  const month = page.locator('.menu a').nth(1);
  const [whole] = await Promise.all([page.waitForEvent('download'), month.click()]);
  expect(whole.suggestedFilename()).toMatch(/^payments-all-teams-\d{4}-\d\d\.csv$/);
  expect((await readFile(await whole.path(), 'utf8')).trim().split('\r\n').length).toBeGreaterThan(count);
});

it('a list fits with the columns that its reader chose, is small to transfer, and distinguishes a sandbox from production', async () => {
  await signIn('viewer');
  const network = await context.newCDPSession(page);
  await network.send('Network.enable');
  await network.send('Network.setCacheDisabled', { cacheDisabled: true });
  const loaded: Request[] = [];
  page.on('requestfinished', (request) => loaded.push(request));
  await page.goto(own('/console/payments'));
  const scripts = () => loaded.filter((request) => request.resourceType() === 'script');
  await eventually(() => expect(scripts().length).toBeGreaterThanOrEqual(7));
  const answers = await Promise.all(loaded.map((request) => request.sizes()));
  const bytes = answers.reduce((sum, one) => sum + one.responseHeadersSize + one.responseBodySize, 0);
  expect(bytes).toBeGreaterThan(10_000);
  expect(bytes).toBeLessThan(25_600);
  await page.getByText('Columns', { exact: true }).click();
  await page.getByLabel('Token', { exact: true }).check();
  await page.getByRole('columnheader', { name: 'Token' }).waitFor();
  await page.getByText('Columns', { exact: true }).click();
  await page.getByLabel('Product', { exact: true }).uncheck();
  await page.getByRole('columnheader', { name: 'Product' }).waitFor({ state: 'detached' });
  // A second visit has the same columns; the day is above its rows, and the head stays in view.
  await page.goto(own('/console/payments?team=demo'));
  await page.getByRole('columnheader', { name: 'Token' }).waitFor();
  expect(
    await page.evaluate(
      'document.querySelector(".wide").scrollWidth - document.querySelector(".wide").clientWidth',
    ),
  ).toBe(0);
  await page
    .getByRole('rowheader', { name: /^\w+day, \d+ \w+ \d{4}$/ })
    .first()
    .waitFor();
  await page.evaluate('scrollTo(0, 600)');
  await eventually(async () =>
    expect((await page.getByRole('columnheader', { name: 'State' }).boundingBox())?.y).toBeLessThan(100),
  );
  expect(await page.locator('link[rel="icon"]').getAttribute('href')).toMatch(/sandbox\.svg$/);
  await page.getByText('Sandbox', { exact: true }).first().waitFor();
  expect(await seriousFaults(page)).toEqual([]);
  // A payment is printed on one sheet.
  await rows().first().locator('a').click();
  await page.waitForURL(/payments\/pay_/);
  const pdf = await page.pdf({ format: 'A4' });
  expect(pdf.toString('latin1').match(/\/Type \/Page\b/g)).toHaveLength(1);
});

it('a page that has lost its connection shows it, and since when', async () => {
  driven.tolerate(/ERR_FAILED/);
  await signIn('viewer');
  await page.goto(own('/console/payments'));
  const payments = '**/console/payments';
  await context.route(payments, (route) => route.abort());
  await page.getByText('Connection lost.').waitFor();
  await context.unroute(payments);
  await page.getByText('Connection lost.').waitFor({ state: 'detached' });
});
