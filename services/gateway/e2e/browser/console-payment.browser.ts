/** The page of a payment in a real browser: disputes, refusals, and the screen of 1280 x 800. */
import type { Page } from 'playwright-core';
import { beforeEach, expect, it } from 'vitest';
import type { System } from '../system.ts';
import { seriousFaults } from './chromium.ts';
import { driveConsole } from './console-driver.ts';

const driven = driveConsole();
const { own, signIn, state, action, pay } = driven;
let page: Page;
let system: System;
beforeEach(() => ({ page, system } = driven.now()));

it('a refund that the Payment Service refuses is a refusal in the outcome, as the next step and on the timeline', async () => {
  const { token, serviceToken } = await pay({ orderNumber: 'refused-1', currency: 'CZK' });
  // The only money in this currency is paid out.
  await system.sandbox('POST', `/sandbox/payments/${serviceToken}/settle`);
  const payout = {
    amount: 1_250,
    currency: 'CZK',
    orderNumber: 'all-of-it',
    destination: { bankAccount: { bankName: 'A bank', account: 'DE02120300000000202051' } },
  };
  expect((await system.sandbox('POST', '/api/v1/payouts', payout)).statusCode).toBe(200);
  await signIn();
  await page.goto(own(`/console/payments/${token}`));
  await state('Approved').waitFor();
  await action('Refund').click();
  await page.getByRole('button', { name: 'Send the refund' }).click();
  await page.locator('[data-outcome="bad"]', { hasText: 'The balance is less than the refund.' }).waitFor();
  await page.locator('.next .refused', { hasText: 'The refund was refused: The balance is less' }).waitFor();
  const call = page.locator('.timeline .call', { hasText: 'refund' });
  expect(await call.innerText()).toMatch(/refused|declined/);
  await state('Approved').waitFor();
  expect(await seriousFaults(page)).toEqual([]);
});

it('a disputed payment shows the dispute on its page, in every list and on the overview, until it is lost', async () => {
  const { token, serviceToken } = await pay({ orderNumber: 'disputed-1' });
  const asked = { token: serviceToken, reasonCode: 'fraud' };
  const { id } = (await system.sandbox('POST', '/sandbox/disputes', asked)).body.dispute;
  await signIn();
  const address = own(`/console/payments/${token}`);
  await page.goto(address);
  await state('Disputed').waitFor();
  expect(await page.locator('.next').innerText()).toContain(
    "Disputed: 12.50 EUR. Answer the bank in the provider's console.",
  );
  expect(await page.locator('#actions').innerText()).toContain(
    '12.50 EUR is disputed or lost in a dispute and cannot be refunded.',
  );
  expect(await page.getByRole('button', { name: 'Refund' }).isDisabled()).toBe(true);
  expect(await page.locator('#facts').innerText()).toMatch(/Disputed\s+12\.50 EUR/);
  expect(await seriousFaults(page)).toEqual([]);
  await page.goto(own('/console/payments'));
  const listed = page.locator('tr[data-row]', { hasText: 'disputed-1' });
  await listed.locator('.chip', { hasText: 'Disputed' }).waitFor();
  await page.goto(own('/console'));
  await page.locator('.band a', { hasText: '1 open dispute' }).click();
  await page.waitForURL(own('/console/disputes'));
  const dispute = page.locator('tr[data-row]', { hasText: 'fraud' });
  expect(await dispute.innerText()).toMatch(/Open\s+12\.50 EUR[\s\S]*demo/);
  await dispute.locator('a').click();
  await page.waitForURL(address);
  await system.sandbox('POST', `/sandbox/disputes/${id}/resolve`, { status: 'approved' });
  await state('Lost').waitFor();
  expect(await page.locator('#facts').innerText()).toMatch(/Lost in disputes\s+12\.50 EUR/);
});

it('heading, actions, next step, facts and the beginning of the timeline fit a screen of 1280 x 800', async () => {
  const orderNumber = `INVOICE-${'2026-'.repeat(12)}1`;
  const metadata = { basket: '4711', campaign: 'black-friday' };
  const { token } = await pay({ orderNumber, metadata, product: 'Tea for two, '.repeat(15) });
  await signIn();
  await page.goto(own(`/console/payments/${token}`));
  await state('Approved').waitFor();
  expect(await page.title()).toBe(`${orderNumber} · 12.50 EUR · Approved · Tollgate`);
  expect(await page.locator('h1').innerText()).toContain(orderNumber);
  const boxOf = async (what: string) => {
    const {
      x = NaN,
      y = NaN,
      width = NaN,
      height = NaN,
    } = (await page.locator(what).first().boundingBox()) ?? {};
    return { left: x, right: x + width, top: y, bottom: y + height };
  };
  for (const what of ['#facts .heading', '#actions', '#facts .next', '#facts .facts', '#timeline .kinds'])
    expect((await boxOf(what)).bottom, what).toBeLessThanOrEqual(800);
  expect((await boxOf('#timeline .event')).top).toBeLessThan(800);
  const [facts, actions, states] = [
    await boxOf('#facts'),
    await boxOf('#actions'),
    await boxOf('#way .machine'),
  ];
  for (const beside of [actions, states]) expect(beside.left).toBeGreaterThanOrEqual(facts.right);
  expect(states.top).toBeLessThan(800);
  // The picture has the words of the chip, and its labels do not overlap.
  await page.locator('.place.now', { hasText: 'Approved' }).waitFor();
  const overlaps = await page.evaluate<string[]>(`(() => {
    const all = [...document.querySelectorAll('.machine text')].map((text) => [text, text.getBoundingClientRect()]);
    return all.flatMap(([one, a], place) => all.slice(place + 1)
      .filter(([, b]) => a.left < b.right - 1 && b.left < a.right - 1 && a.top < b.bottom - 1 && b.top < a.bottom - 1)
      .map(([other]) => one.textContent + ' / ' + other.textContent));
  })()`);
  expect(overlaps).toEqual([]);
  // Everything that identifies the payment is copied by a click.
  await context().grantPermissions(['clipboard-read', 'clipboard-write']);
  for (const text of [token, orderNumber]) {
    await page.locator(`[data-copy="${text}"]`).first().click();
    expect(await page.evaluate('navigator.clipboard.readText()')).toBe(text);
  }
  await page.getByRole('link', { name: 'Newest first' }).click();
  await page.waitForURL(/timeline=newest/);
  expect(await page.locator('.timeline .event').last().innerText()).toContain('PaymentRequested');
});

const context = () => driven.now().context;
