/** The documentation site in a real browser: served by a gateway, and opened from a folder. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Browser, BrowserContext, BrowserContextOptions, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { type System, startSystem, stopEverything } from '../system.ts';
import { launchChromium, seriousFaults } from './chromium.ts';

let system: System;
let browser: Browser;
let context: BrowserContext;

beforeAll(async () => {
  system = await startSystem();
  browser = await launchChromium();
});
afterEach(() => context.close());
afterAll(async () => {
  // First, so that it runs even without a browser.
  await stopEverything();
  await browser.close();
});

interface Opened {
  page: Page;
  /** Requests to other hosts, which are blocked in the browser. */
  elsewhere: string[];
  complaints: string[];
}

const phone = { viewport: { width: 360, height: 740 } };

async function openSite(path: string, options: BrowserContextOptions = {}): Promise<Opened> {
  context = await browser.newContext(options);
  const page = await context.newPage();
  const opened: Opened = { page, elsewhere: [], complaints: [] };
  await context.route('**', (route) => {
    const url = route.request().url();
    if (url.startsWith(`${system.quickstart.gatewayUrl}/docs`) || url.startsWith('file:'))
      return route.continue();
    opened.elsewhere.push(url);
    return route.abort();
  });
  context.on('console', (message) => void opened.complaints.push(message.text()));
  context.on('weberror', (failure) => void opened.complaints.push(failure.error().message));
  await page.goto(path.startsWith('file:') ? path : `${system.quickstart.gatewayUrl}${path}`);
  return opened;
}

async function search(page: Page, words: string, result: string): Promise<void> {
  await page.keyboard.press('/');
  await page.keyboard.type(words);
  await page.locator('#results a', { hasText: result }).first().click();
}

const shownWithin = (page: Page) =>
  page.evaluate<number>("document.querySelector(':target').getBoundingClientRect().top / innerHeight");

/** The first sample under the heading of an operation. */
const sampleOf = (page: Page, operation: string) =>
  page.locator(`#${operation}`).locator('xpath=following::pre[1]').innerText();

const background = (page: Page) => page.evaluate<string>('getComputedStyle(document.body).backgroundColor');

it('a search for a word leads to an operation, without calls to another host', async () => {
  const { page, elsewhere, complaints } = await openSite('/docs');
  expect(await page.title()).toBe('Tollgate · Tollgate');
  await search(page, 'approve payout', 'Approves a payout');
  await page.waitForURL('**/docs/api/payouts.html#approvePayout');
  expect(await shownWithin(page)).toBeLessThan(0.5);
  expect(await sampleOf(page, 'approvePayout')).toContain('/approve"');
  expect([elsewhere, complaints]).toEqual([[], []]);
});

it('the choice of colors persists across pages', async () => {
  const { page, complaints } = await openSite('/docs/', { colorScheme: 'light' });
  const light = await background(page);
  await page.getByRole('button', { name: 'Dark' }).click();
  const dark = await background(page);
  expect(dark).not.toBe(light);
  await page.getByRole('navigation').getByRole('link', { name: 'API reference' }).click();
  await page.waitForURL('**/docs/api/index.html');
  expect(await background(page)).toBe(dark);
  await page.getByRole('button', { name: 'Light' }).click();
  expect(await background(page)).toBe(light);
  expect(complaints).toEqual([]);
});

it.each(['light', 'dark'] as const)('the pages are accessible in %s colors', async (colorScheme) => {
  const { page } = await openSite('/docs/', { colorScheme });
  for (const path of ['index.html', 'api/requests.html', 'team/webhooks.html']) {
    await page.goto(`${system.quickstart.gatewayUrl}/docs/${path}`);
    expect(await seriousFaults(page), path).toEqual([]);
  }
});

it('no page is wider than a phone', async () => {
  const { page } = await openSite('/docs/', phone);
  const pages = [
    'index.html',
    'api/payments.html',
    'api/objects.html',
    'api/operators.html',
    'team/errors.html',
  ];
  for (const path of [...pages, 'operator/configuration.html', 'architecture.html', 'changelog.html']) {
    await page.goto(`${system.quickstart.gatewayUrl}/docs/${path}`);
    expect(await page.evaluate<number>('document.documentElement.scrollWidth'), path).toBe(360);
  }
});

it('the URL of an error leads to its explanation', async () => {
  const { page } = await openSite('/docs/errors#payment_not_found');
  expect(page.url()).toMatch(/\/docs\/team\/errors\.html#payment_not_found$/);
  expect(await shownWithin(page)).toBeLessThan(1);
});

it('the sample of an operation runs unchanged', async () => {
  const { page } = await openSite('/docs/api/payments.html', { javaScriptEnabled: false });
  const sample = await sampleOf(page, 'createPayment');
  const env = {
    PATH: process.env.PATH,
    TOLLGATE_URL: system.quickstart.gatewayUrl,
    TOLLGATE_KEY: system.quickstart.apiKey,
  };
  const answer = execFileSync('sh', ['-c', `${sample} -sS`], { env, encoding: 'utf8' });
  expect(JSON.parse(answer)).toMatchObject({ success: true, processingUrl: expect.any(String) });
});

it('the site works from a folder, with search', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'tollgate-docs-'));
  try {
    const program = join(import.meta.dirname, '../../../../infra/documentation/site.ts');
    execFileSync(process.execPath, [program, '--to', folder]);
    const { page, elsewhere, complaints } = await openSite(`${pathToFileURL(folder).href}/index.html`);
    await search(page, 'idempotency_key_reused', 'idempotency_key_reused');
    await page.waitForURL('**/team/errors.html#idempotency_key_reused');
    expect([elsewhere, complaints]).toEqual([[], []]);
  } finally {
    rmSync(folder, { recursive: true });
  }
});
