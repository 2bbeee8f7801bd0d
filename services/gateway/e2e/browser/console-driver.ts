/** A gateway with its console in a real browser, for the specs of a file; no other host is called, and no error is logged. */
import type { Browser, BrowserContext, Cookie, Locator, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, expect } from 'vitest';
import { tollgate } from '../commands.ts';
import { serviceTokenOf } from '../ledger.ts';
import { type System, startSystem, stopEverything } from '../system.ts';
import { launchChromium } from './chromium.ts';

interface Now {
  system: System;
  browser: Browser;
  context: BrowserContext;
  page: Page;
}

interface Terms {
  orderNumber: string;
  [name: string]: unknown;
}

interface DrivenConsole {
  /** Page of the current test. */
  now(): Now;
  /** An address of the gateway. */
  own(path: string): string;
  /** A link to sign in. */
  link(role: string): Promise<string>;
  /** By a link the first time, then with the session of that role. */
  signIn(role?: string): Promise<void>;
  /** Runs a scenario of the sandbox, and opens the page of its payment. @returns its token */
  play(scenario: string): Promise<string>;
  /** Opens a review: the provider declines the payment after all. */
  revise(token: string): Promise<void>;
  /** Creates a payment of 12.50 EUR and approves it as the customer. */
  pay(terms: Terms): Promise<{ token: string; serviceToken: string }>;
  /** Errors while offline, which the test ignores. */
  tolerate(complaint: RegExp): void;
  /** The test also opens this site. */
  leaveTo(site: string): void;
  /** The state in the heading of a payment. */
  state(name: string): Locator;
  /** The button that opens the form of an action. */
  action(name: string): Locator;
}

/** @param env of the gateway */
export function driveConsole(env: Record<string, string> = {}): DrivenConsole {
  let system: System;
  let browser: Browser;
  let context: BrowserContext;
  let page: Page;
  let requested: string[];
  let complaints: string[];
  let tolerated: RegExp | undefined;
  let allowed: string[];
  const cookiesOf = new Map<string, Cookie[]>();

  beforeAll(async () => {
    system = await startSystem({ env });
    browser = await launchChromium();
  });
  afterAll(async () => {
    await stopEverything();
    await browser.close();
  });
  beforeEach(async () => {
    context = await browser.newContext({ viewport: { width: 1280, height: 800 }, timezoneId: 'Asia/Tokyo' });
    page = await context.newPage();
    [requested, complaints, tolerated] = [[], [], undefined];
    allowed = [own('/'), 'data:'];
    context.on('request', (request) => void requested.push(request.url()));
    context.on('console', (message) => void complaints.push(message.text()));
    context.on('weberror', (failure) => void complaints.push(failure.error().message));
  });
  afterEach(async () => {
    await context.close();
    expect(complaints.filter((each) => tolerated?.test(each) !== true)).toEqual([]);
    expect(requested.filter((url) => !allowed.some((start) => url.startsWith(start)))).toEqual([]);
  });

  const own = (path: string): string => `${system.quickstart.gatewayUrl}${path}`;

  const link = async (role: string): Promise<string> => {
    const argv = ['--as', 'ada', 'operator', 'link', '--role', role];
    return (await tollgate<{ link: string }>(system, ...argv)).link;
  };

  return {
    now: () => ({ system, browser, context, page }),
    own,
    link,
    async signIn(role = 'operator') {
      const known = cookiesOf.get(role);
      if (known !== undefined) {
        await context.addCookies(known);
        await page.goto(own('/console'));
        return;
      }
      await page.goto(await link(role));
      await page.getByRole('button', { name: 'Sign in' }).click();
      await page.waitForURL(own('/console'));
      cookiesOf.set(role, await context.cookies());
    },
    async play(scenario) {
      await page.goto(own('/console/sandbox'));
      await page.locator(`button[value="${scenario}"]`).click();
      await page.waitForURL(/\/console\/payments\/pay_/);
      return page.url().split('/').at(-1) ?? '';
    },
    async pay(terms) {
      const { body } = await system.gateway('POST', '/api/v1/payments', {
        headers: { 'idempotency-key': terms.orderNumber },
        body: { product: 'Tea', amount: 1_250, currency: 'EUR', ...terms },
      });
      const serviceToken = body.processingUrl.split('/').at(-1) ?? '';
      await system.sandbox('POST', `/sandbox/payments/${serviceToken}/pay`, { outcome: 'approved' });
      return { token: body.token, serviceToken };
    },
    async revise(token) {
      const path = `/sandbox/payments/${await serviceTokenOf(system.sandbox, token)}/revise`;
      await system.sandbox('POST', path, { status: 'declined' });
    },
    tolerate(complaint) {
      tolerated = complaint;
    },
    leaveTo(site) {
      allowed.push(site);
    },
    state: (name) => page.locator('#facts .heading .chip', { hasText: name }),
    action: (name) => page.locator('.action > summary', { hasText: name }),
  };
}
