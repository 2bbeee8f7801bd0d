/** Signing in with an account of the organization, in a real browser and at a real provider: access and roles. */
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { eventually } from '@tollgate/testing';
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest';
import { freePorts } from '../free-ports.ts';
import { reviewsOf, serviceTokenOf } from '../ledger.ts';
import { type System, startSystem, stopEverything } from '../system.ts';
import { launchChromium, seriousFaults } from './chromium.ts';
import { type IdentityProvider, startIdentityProvider } from './identity-provider.ts';

const people = {
  ada: ['payments-admins', 'staff'],
  olga: ['payments-operators', 'staff'],
};

let provider: IdentityProvider;
let system: System;
let browser: Browser;
let context: BrowserContext;
let page: Page;

beforeAll(async () => {
  const ports = await freePorts();
  const publicUrl = `http://127.0.0.1:${ports['GATEWAY_PORT']}`;
  const redirectUri = `${publicUrl}/console/sign-in/organization/callback`;
  provider = await startIdentityProvider({ id: 'tollgate', secret: 'hush', redirectUri }, people);
  system = await startSystem({
    env: {
      ...ports,
      OIDC_ISSUER: provider.issuer,
      OIDC_CLIENT_ID: 'tollgate',
      OIDC_CLIENT_SECRET: 'hush',
      CONSOLE_PUBLIC_URL: publicUrl,
      OIDC_GRANTS: 'viewer=staff; admin=payments-admins; operator=payments-operators',
      REVIEWS_BY_TWO: 'sandbox',
    },
  });
  browser = await launchChromium();
}, 120_000);
afterAll(async () => {
  await stopEverything();
  provider.stop();
  await browser.close();
});
beforeEach(async () => {
  context = await browser.newContext();
  page = await context.newPage();
});
afterEach(() => context.close());

const own = (path: string) => `${system.quickstart.gatewayUrl}${path}`;

/** From the gateway's page to the provider's, and back to the confirmation. */
async function signInAtProvider(person: string): Promise<void> {
  await page.goto(own('/console'));
  await page.getByRole('link', { name: 'Sign in with your organization' }).click();
  await page.waitForURL((url) => url.origin === provider.issuer);
  await page.locator('input[name="login"]').fill(person);
  await page.locator('input[name="password"]').fill('anything');
  await page.locator('button[type="submit"]').click();
  await page.getByRole('button', { name: 'Continue' }).click();
  await page.waitForURL((url) => url.origin === new URL(own('/')).origin);
}

async function signIn(person: string): Promise<void> {
  await signInAtProvider(person);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.waitForURL(own('/console'));
}

it('an admin by group signs in, sees the account, and signs out', async () => {
  await signInAtProvider('ada');
  await page.getByText('Sign in as ada, with the role admin.').waitFor();
  expect(await seriousFaults(page)).toEqual([]);
  expect(await context.cookies(own('/console'))).not.toContainEqual(
    expect.objectContaining({ name: 'tollgate-console' }),
  );
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.waitForURL(own('/console'));
  const kept = await context.cookies(own('/console'));
  expect(kept).toContainEqual(
    expect.objectContaining({ name: 'tollgate-console', httpOnly: true, sameSite: 'Strict' }),
  );
  await page.goto(own('/console/teams'));
  await page.getByText('Add a team').waitFor();
  await page.getByRole('button', { name: 'Sign out' }).click();
  await page.getByRole('link', { name: 'Sign in with your organization' }).waitFor();
  // A kept cookie is no longer valid.
  await context.addCookies(kept);
  const answer = await page.goto(own('/console/teams'));
  expect(answer?.status()).toBe(401);
});

/** A payment that was approved, and is later shown as declined. */
async function openReview(orderNumber: string): Promise<string> {
  const body = { product: 'Tea', amount: 1250, currency: 'EUR', orderNumber };
  const { token } = (await system.gateway('POST', '/api/v1/payments', { body })).body;
  const serviceToken = await serviceTokenOf(system.sandbox, token);
  await system.sandbox('POST', `/sandbox/payments/${serviceToken}/pay`, { outcome: 'approved' });
  await eventually(async () => {
    const { payment } = (await system.gateway('GET', `/api/v1/payments/${token}`)).body;
    expect(payment.status).toBe('approved');
  });
  await system.sandbox('POST', `/sandbox/payments/${serviceToken}/revise`, { status: 'declined' });
  await eventually(async () => expect(await reviewsOf(system.gateway, token)).toHaveLength(1));
  return token;
}

it('if two people must resolve a review, the first answer is stored and the second one decides', async () => {
  const token = await openReview('revised-2');
  const [code = ''] = await reviewsOf(system.gateway, token);
  const review = own(`/console/reviews/${token}/${code}/1`);
  const decide = async (reason: string) => {
    await page.goto(review);
    await page.getByRole('radio').first().check();
    await page.locator('textarea[name="reason"]').fill(reason);
    await page.getByRole('button', { name: 'Decide' }).click();
  };
  await signIn('ada');
  await decide('The bank has it.');
  await page
    .getByText('Your answer is stored. It takes effect when a second person gives the same one.')
    .waitFor();
  await page.getByText('takes effect when another person gives the same one').waitFor();
  expect(await seriousFaults(page)).toEqual([]);
  await context.clearCookies();
  await signIn('olga');
  await page.goto(own('/console/reviews'));
  await page.locator('tr[data-row]', { hasText: 'One of two people has answered.' }).waitFor();
  await page.goto(review);
  await page.locator('#proposal', { hasText: 'The bank has it.' }).waitFor();
  await page.getByText('The same answer from you takes effect at once').waitFor();
  expect(await seriousFaults(page)).toEqual([]);
  await decide('I have asked, too.');
  await page.getByText('Resolved: 12.50 EUR, order revised-2.').waitFor();
  await eventually(async () => expect(await reviewsOf(system.gateway, token)).toEqual([]));
});
