/** Typed text and deep links in a real browser: neither is lost when a value is refused or a session ends. */
import type { BrowserContext, Page } from 'playwright-core';
import { beforeEach, expect, it } from 'vitest';
import { driveConsole } from './console-driver.ts';

const driven = driveConsole();
const { own, signIn, state, action, pay } = driven;
let page: Page;
let context: BrowserContext;
beforeEach(() => ({ page, context } = driven.now()));

/** The cookie stays, but its session is unknown. */
async function expireSession(): Promise<void> {
  await context.clearCookies();
  const domain = new URL(own('/')).hostname;
  await context.addCookies([{ name: 'tollgate-console', value: 'expired', domain, path: '/console' }]);
}

/** Signs in again from the page that asks for it. @returns the address after the sign-in */
async function signInAgain(): Promise<string> {
  await page.getByText('You are not signed in').waitFor();
  await page.goto(await driven.link('operator'));
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.waitForURL((url) => !url.pathname.startsWith('/console/sign-in'));
  await page.getByRole('button', { name: 'Sign out' }).waitFor();
  return page.url();
}

it('a typed amount survives a refusal, a gateway that is down and an expired session, and then is sent once', async () => {
  driven.tolerate(/ERR_FAILED|status of 401/);
  const { token } = await pay({ orderNumber: 'draft-1' });
  const address = own(`/console/payments/${token}`);
  await signIn();
  await page.goto(address);
  await state('Approved').waitFor();
  await action('Refund').click();
  const amount = page.getByLabel('Amount (EUR)');
  const send = page.getByRole('button', { name: 'Send the refund' });
  for (const [typed, said] of [
    ['99', 'At most 12.50 EUR can be refunded now.'],
    ['much', 'This is not an amount in EUR.'],
  ] as const) {
    await amount.fill(typed);
    await send.click();
    await page.getByText(said).waitFor();
    expect(await amount.inputValue()).toBe(typed);
  }
  await amount.fill('2.50');
  await context.route('**/refund', (route) => route.abort());
  await send.click();
  await page.waitForURL('chrome-error://**');
  await context.unroute('**/refund');
  // Otherwise a change noticed without a session would reload the page before the click.
  await context.route(address, (route) =>
    route.request().headers()['tollgate-unattended'] === undefined ? route.continue() : route.abort(),
  );
  await page.goto(address);
  expect(await amount.inputValue()).toBe('2.50');
  await expireSession();
  await send.click();
  expect(await signInAgain()).toBe(address);
  expect(await amount.inputValue()).toBe('2.50');
  await send.click();
  await page.getByText('The refund was accepted.').waitFor();
  await page.reload();
  expect(await page.locator('#facts').innerText()).toMatch(/Refunded\s+2\.50 EUR/);
  await action('Refund').click();
  expect(await amount.inputValue()).toBe('10.00');
});

it('a typed reason survives a reload that the reader did not want', async () => {
  await signIn();
  await page.goto(own('/console/accounts'));
  await action('Pause').click();
  await page.getByLabel('Reason').first().fill('Maintenance of the bank.');
  await page.reload();
  expect(await page.getByLabel('Reason').first().inputValue()).toBe('Maintenance of the bank.');
});

it.each(['/console/payments?team=demo&phase=declined&order=oldest', '/console/security-log?person=ada'])(
  'signing in leads to the requested page: %s',
  async (path) => {
    driven.tolerate(/status of 401/);
    await page.goto(own(path));
    expect(await signInAgain()).toBe(own(path));
    await expireSession();
    await page.reload();
    expect(await signInAgain()).toBe(own(path));
  },
);
