/** The page of the interface, in a real browser. */
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { type System, startSystem, stopEverything } from '../e2e/system.ts';
import { launchChromium } from './chromium.ts';
import { operations } from '@tollgate/gateway-api/http';

let system: System;
let browser: Browser;
let context: BrowserContext;

beforeAll(async () => {
  system = await startSystem();
  browser = await launchChromium();
});
afterEach(() => context.close());
afterAll(async () => {
  // First, and so also where there is no browser.
  await stopEverything();
  await browser.close();
});

/** Opens the page on a phone; gives what the browser has asked for and complained of. */
async function openDocs(): Promise<{ page: Page; requested: string[]; complaints: string[] }> {
  context = await browser.newContext({ viewport: { width: 360, height: 740 } });
  const page = await context.newPage();
  const opened = { page, requested: [] as string[], complaints: [] as string[] };
  context.on('request', (request) => void opened.requested.push(request.url()));
  context.on('console', (message) => void opened.complaints.push(message.text()));
  context.on('weberror', (failure) => void opened.complaints.push(failure.error().message));
  await page.goto(`${system.quickstart.gatewayUrl}/docs`);
  await page.locator('.opblock').first().waitFor();
  return opened;
}

/** As the page names them. */
async function webhooks(): Promise<string[]> {
  const answer = await fetch(`${system.quickstart.gatewayUrl}/openapi.json`);
  const { webhooks: byName } = (await answer.json()) as { webhooks: Record<string, object> };
  return Object.entries(byName).flatMap(([name, methods]) =>
    Object.keys(methods).map((method) => `${method} ${name}`),
  );
}

const widthOf = (page: Page) => page.evaluate<number>('document.documentElement.scrollWidth');

it('lists every call and webhook on a screen that is 360 px wide, without scrolling sideways', async () => {
  const { page, complaints } = await openDocs();
  const listed = await page.locator('.opblock-summary').evaluateAll((summaries) =>
    summaries.map((summary) => {
      const textOf = (part: string) =>
        (summary.querySelector(part)?.textContent ?? '').replaceAll(/[^\x21-\x7e]/g, '');
      return `${textOf('.opblock-summary-method').toLowerCase()} ${textOf('.opblock-summary-path')}`;
    }),
  );
  const calls = operations.map(({ method, path }) => `${method} ${path}`);
  expect(listed.sort()).toEqual([...calls, ...(await webhooks())].sort());
  expect(await widthOf(page)).toBe(360);
  expect(complaints).toEqual([]);
});

it('asks nobody but the gateway', async () => {
  const { requested } = await openDocs();
  const elsewhere = requested.filter(
    (url) => !url.startsWith(system.quickstart.gatewayUrl) && !url.startsWith('data:'),
  );
  expect(elsewhere).toEqual([]);
  expect(requested.length).toBeGreaterThan(5);
});

it('creates a payment with a key and the example, as it stands', async () => {
  const { page, complaints } = await openDocs();
  await page.locator('button.authorize').first().click();
  await page.locator('.auth-container input').fill(system.quickstart.apiKey);
  await page.locator('.auth-btn-wrapper button.authorize').click();
  await page.locator('.auth-btn-wrapper button.btn-done').click();
  const call = page.locator('#operations-Payments-createPayment');
  await call.locator('.opblock-summary-control').click();
  await call.locator('.try-out__btn').click();
  await call.locator('button.execute').click();
  const answer = call.locator('.live-responses-table .response .microlight').first();
  await answer.waitFor();
  expect(await answer.innerText()).toContain('"processingUrl"');
  expect(await widthOf(page)).toBe(360);
  expect(complaints).toEqual([]);
});
