/** The console in a real browser: people sign in, watch a payment, find a lost callback, and decide a review. */
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { beforeEach, describe, expect, it } from 'vitest';
import { eventually } from '@tollgate/testing';
import type { System } from '../system.ts';
import { seriousFaults } from './chromium.ts';
import { driveConsole } from './console-driver.ts';

const driven = driveConsole();
const { own, signIn, play, pay, state, action } = driven;
let page: Page;
let context: BrowserContext;
let browser: Browser;
let system: System;
beforeEach(() => ({ page, context, browser, system } = driven.now()));

describe('a payment', () => {
  it('is seen through its phases as they come, without loading its page again', async () => {
    await signIn('admin');
    await page.goto(own('/console/sandbox'));
    await page.getByLabel('Authorize only').check();
    await page.locator('button[value="waiting"]').click();
    await state('Waiting for the customer').waitFor();
    await page.evaluate('window.isSame = true');
    const token = page.url().split('/').at(-1) ?? '';
    // The page reads events, the API a view of them, which may lag slightly.
    const serviceToken = await eventually(async () => {
      const { body } = await system.gateway('GET', `/api/v1/payments/${token}`);
      return body.payment.processingUrl.split('/').at(-1) ?? '';
    });
    await system.sandbox('POST', `/sandbox/payments/${serviceToken}/pay`, { outcome: 'approved' });
    await state('Authorized').waitFor();
    await page.locator('.place.now', { hasText: 'Authorized' }).waitFor();
    expect(await page.evaluate('window.isSame')).toBe(true);
    await action('Capture').click();
    await page.getByText('Captures the authorized 12.50 EUR through account sandbox').waitFor();
    await page.getByRole('button', { name: 'Capture 12.50 EUR' }).click();
    await page.getByText('The capture was accepted.').waitFor();
    await state('Approved').waitFor();
    expect(page.url()).not.toContain('done=');
    await action('Refund').click();
    await page.getByLabel('Amount (EUR)').fill('2.50');
    await page.getByRole('button', { name: 'Send the refund' }).click();
    await page.getByText('The refund was accepted.').waitFor();
    await page.locator('.timeline .refund', { hasText: 'The refund was approved.' }).waitFor();
    expect(await page.locator('#facts').innerText()).toContain('2.50 EUR');
    expect(await page.locator('.timeline').innerText()).toContain('RefundSubmitted · ada');
    expect(await page.title()).toMatch(/^\S+ · 12\.50 EUR · Approved/);
    expect(await seriousFaults(page)).toEqual([]);
  });
});

it('a review is resolved by a person, with a reason that is recorded', async () => {
  await signIn();
  const tokens: string[] = [];
  for (const orderNumber of ['revised-1', 'revised-2']) {
    const { token } = await pay({ orderNumber });
    tokens.push(token);
    await page.goto(own(`/console/payments/${token}`));
    await state('Approved').waitFor();
    await driven.revise(token);
    await page.getByText('A review waits for a decision.').waitFor();
  }
  await page.keyboard.press('g');
  await page.keyboard.press('r');
  await page.waitForURL(own('/console/reviews'));
  await page.keyboard.press('j');
  await page.keyboard.press('Enter');
  await page.locator('.heading', { hasText: 'The Payment Service shows another final status.' }).waitFor();
  const differing = page.locator('#evidence tr', { has: page.locator('strong .sign'), hasText: 'Status' });
  const changed = await differing.innerText();
  expect(changed).toMatch(/Approved\s+Declined/);
  expect(await page.locator('#evidence').innerText()).not.toMatch(/observedStatus|final_status_revised/);
  await page.locator('#evidence .timeline .event', { hasText: 'Approved → Declined' }).waitFor();
  expect(await seriousFaults(page)).toEqual([]);
  await page.getByRole('radio').first().check();
  await page.getByLabel('Reason').fill('Seen at the bank.');
  await page.getByRole('button', { name: 'Decide' }).click();
  // The next review follows, with its own heading and an empty reason.
  await page.getByText('Resolved: 12.50 EUR, order revised-1. Next: 12.50 EUR, order revised-2.').waitFor();
  await page.locator('.heading', { hasText: 'revised-2' }).waitFor();
  expect(await page.getByLabel('Reason').inputValue()).toBe('');
  await page.goto(own(`/console/payments/${tokens[0]}`));
  await page.locator('.timeline .event', { hasText: 'Seen at the bank.' }).waitFor();
});

describe('every page', () => {
  it('has no serious axe violation in both themes, and fits every width', { timeout: 180_000 }, async () => {
    await signIn('admin');
    const token = await play('approved');
    await state('Approved').waitFor();
    await pay({ orderNumber: `LONG-${'4711-'.repeat(40)}`, product: 'Tea for two, '.repeat(15) });
    for (const path of [
      ...['', '/payments', `/payments/${token}`, '/payouts?phase=', '/reviews', '/reconciliations'],
      ...['/refunds?status=', '/disputes', '/money', '/money/journal'],
      ...['/webhooks', '/webhooks?status=open', '/requests', '/people', '/teams', '/teams/demo', '/accounts'],
      ...['/security-log', '/sandbox', '/search?q=nothing'],
    ])
      for (const [colorScheme, width, isLoaded] of [
        ['light', 1280, false],
        ['light', 3840, true],
        ['dark', 360, false],
        ['dark', 768, true],
      ] as const) {
        await page.emulateMedia({ colorScheme });
        await page.setViewportSize({ width, height: 800 });
        if (!isLoaded) await page.goto(own(`/console${path}`));
        expect(await page.evaluate<number>('document.documentElement.scrollWidth'), path).toBe(width);
        const hidden = await page.evaluate<number[]>(
          "[...document.querySelectorAll('.wide')].map((each) => each.scrollWidth - each.clientWidth)",
        );
        if (width >= 1_280) expect(Math.max(0, ...hidden), path).toBe(0);
        if (width === 360 || width === 1_280)
          expect(await seriousFaults(page), `${path} ${colorScheme}`).toEqual([]);
      }
  });

  it('is searched, filtered and left by keyboard, and keeps its state in the URL', async () => {
    await signIn('viewer');
    await page.keyboard.press('/');
    await page.keyboard.type('status:approved amount:>1');
    await page.keyboard.press('Enter');
    await page.waitForURL(/status=approved&amountFrom=1/);
    await page.locator('tr[data-row]').first().waitFor();
    await page.keyboard.press('j');
    await page.keyboard.press('Enter');
    await page.waitForURL(/\/console\/payments\/pay_/);
    expect(await page.locator('#actions').innerText()).toContain('Your role, viewer, allows no action here.');
    await page.goBack();
    expect(page.url()).toContain('status=approved');
    await page.keyboard.press('?');
    await page.getByRole('dialog').waitFor();
  });

  it("shows times in the reader's zone, and the chosen theme", async () => {
    await signIn();
    await page.goto(own('/console/payments'));
    expect(await page.locator('#payments [data-zone]').innerText()).toBe('GMT+9');
    await page.getByRole('button', { name: 'Light or dark' }).click();
    await page.reload();
    expect(await page.evaluate('document.documentElement.dataset.theme')).toBe('dark');
  });

  it('is readable without script', async () => {
    await signIn();
    const plain = await browser.newContext({
      javaScriptEnabled: false,
      storageState: await context.storageState(),
    });
    const read = await plain.newPage();
    await read.goto(own('/console/payments'));
    expect(await read.locator('tr[data-row]').count()).toBeGreaterThan(0);
    await read.locator('tr[data-row] a').first().click();
    await read.locator('.machine').waitFor();
    expect(await read.locator('.timeline .event').count()).toBeGreaterThan(1);
    await plain.close();
  });
});
