/** Signing in with an account of the organization, in a real browser and at a real provider: access and roles. */
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest';
import { freePorts } from '../free-ports.ts';
import { type System, startSystem, stopEverything } from '../system.ts';
import { launchChromium, seriousFaults } from './chromium.ts';
import { type IdentityProvider, startIdentityProvider } from './identity-provider.ts';

const people = { ada: ['payments-admins', 'staff'] };

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
