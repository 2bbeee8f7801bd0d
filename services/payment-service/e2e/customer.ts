/** A real browser for the real service, and a shop for the customer to return to. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import {
  chromium,
  type BrowserContext,
  type BrowserContextOptions,
  type Locator,
  type Page,
} from 'playwright-core';
import { afterAll, afterEach } from 'vitest';
import { startHarness, type Harness } from '../src/testing/harness.ts';

const launchOptions = {
  executablePath: '/usr/bin/chromium',
  args: [
    ...['--headless', '--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-sync'],
    ...['--disable-background-networking', '--disable-component-update'],
  ],
};

/** A customer's browser window. */
export interface Customer {
  page: Page;
  context: BrowserContext;
  /** URLs of every request that the browser has made. */
  requested: string[];
  /** Browser errors: blocked content, broken scripts, failed loads. */
  complaints: string[];
}

/** Closes with the spec file, and the windows after each case. */
export async function openScene() {
  const harness: Harness = await startHarness();
  const shop = await openShop();
  const browser = await chromium.launch(launchOptions);
  const contexts: BrowserContext[] = [];

  const newCustomer = async (options: BrowserContextOptions = {}): Promise<Customer> => {
    const context = await browser.newContext({ ignoreHTTPSErrors: true, locale: 'en-GB', ...options });
    contexts.push(context);
    const customer: Customer = { page: await context.newPage(), context, requested: [], complaints: [] };
    context.on('request', (request) => void customer.requested.push(request.url()));
    context.on('console', (message) => void customer.complaints.push(message.text()));
    context.on('weberror', (failure) => void customer.complaints.push(failure.error().message));
    return customer;
  };
  const checkoutUrl = (token: string): string => `${harness.addresses().httpsUrl}/checkout/${token}`;
  afterEach(async () => {
    for (const context of contexts.splice(0)) await context.close();
  });
  afterAll(async () => {
    await browser.close();
    await shop.close();
    await harness.remove();
  });
  return {
    harness,
    shop,
    newCustomer,
    checkoutUrl,
    /** A payment that a new customer sees. */
    openPayment: async (fields: object = {}, options?: BrowserContextOptions) => {
      const token = await harness.create({ ...fields });
      const customer = await newCustomer(options);
      await customer.page.goto(checkoutUrl(token));
      return { token, ...customer };
    },
    statusesOf: async (orderNumber: string) =>
      (await harness.ledger(orderNumber)).payments[0]?.statuses.map(({ status }) => status),
  };
}

/** The merchant's site: a page for success, one for failure, and one that frames a given page. */
async function openShop() {
  const server = createServer((request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? '/', 'http://shop');
    response.setHeader('content-type', 'text/html');
    const frame = searchParams.get('frame');
    response.end(
      frame === null ? `<h1>Shop ${pathname}</h1>` : `<iframe src="${encodeURI(frame)}"></iframe>`,
    );
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    url,
    redirects: { redirectSuccessUrl: `${url}/thanks`, redirectFailUrl: `${url}/sorry` },
    close: () => {
      server.closeAllConnections();
      return new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
}

/** The customer's input. */
export const entries = (number: string) => ({ number, expiry: '12/99', cvv: '987', holder: 'Ada Lovelace' });

export async function fillIn(page: Page, fields: Partial<ReturnType<typeof entries>>): Promise<void> {
  for (const [name, text] of Object.entries(fields)) await page.locator(`#${name}`).fill(text);
}

/** Clicks an element that leads to another page, and waits for that page. */
export async function press(locator: Locator): Promise<void> {
  const loaded = locator.page().waitForEvent('load');
  await locator.click();
  await loaded;
}

export const payButton = (page: Page) => page.locator('form button').first();

export const titleOf = (page: Page): Promise<string> => page.locator('h1').innerText();
