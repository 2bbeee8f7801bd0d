/** Attacks in a real browser: script injection, cross-site forms, session fixation, framing. */
import type { BrowserContext, Page } from 'playwright-core';
import { beforeEach, describe, expect, it } from 'vitest';
import { eventually } from '@tollgate/testing';
import type { System } from '../system.ts';
import { driveConsole } from './console-driver.ts';

const driven = driveConsole();
const { own, signIn } = driven;
let page: Page;
let context: BrowserContext;
let system: System;
let dialogs: number;
beforeEach(() => {
  ({ page, context, system } = driven.now());
  dialogs = 0;
  context.on('dialog', (dialog) => {
    dialogs += 1;
    void dialog.dismiss();
  });
});

const hostile = `"><script>alert(1)</script><img src=x onerror=alert(1)>'`;

async function createHostile(): Promise<string> {
  const { statusCode, body } = await system.gateway('POST', '/api/v1/payments', {
    headers: { 'idempotency-key': 'harm' },
    body: {
      product: hostile,
      amount: 100,
      currency: 'EUR',
      orderNumber: hostile,
      metadata: { basket: hostile },
    },
  });
  expect(statusCode).toBe(200);
  return body.token;
}

it('injected script is shown as text everywhere, including while typing', async () => {
  driven.tolerate(/status of 400/);
  const token = await createHostile();
  await signIn('admin');
  const encoded = encodeURIComponent(hostile);
  for (const path of [
    ...['/payments', `/payments/${token}`, `/search?q=${encoded}`, `/payments?orderNumber=${encoded}`],
    ...[`/payments?metadata[basket]=${encoded}`, `/payments?from=${encoded}`],
    `/payments?phase=declined&declineReason=${encoded}`,
  ]) {
    await page.goto(own(`/console${path}`));
    await page.getByRole('heading').first().waitFor();
    const made = await page.evaluate<number>(
      "document.querySelectorAll('img').length + [...document.scripts].filter(({ src }) => src === '').length",
    );
    expect(made, path).toBe(0);
  }
  await page.goto(own('/console'));
  await page.keyboard.press('/');
  await page.keyboard.type(hostile.slice(0, 6));
  await page.getByRole('option', { name: hostile }).waitFor();
  expect(await page.locator('img').count()).toBe(0);
  expect(dialogs).toBe(0);
});

describe('another site', () => {
  const elsewhere = 'http://elsewhere.test/';
  const serve = (body: string) =>
    page.route(`${elsewhere}*`, (route) => route.fulfill({ contentType: 'text/html', body }));

  it('cannot send a form of the console, or show it in a frame', async () => {
    driven.tolerate(/status of 401|frame-ancestors|ERR_BLOCKED_BY_RESPONSE/);
    driven.leaveTo(elsewhere);
    const token = await createHostile();
    await signIn('admin');
    const action = own(`/console/payments/${token}/inquire`);
    await serve(`<form method="post" action="${action}"></form><script>document.forms[0].submit()</script>`);
    await page.goto(elsewhere).catch(() => undefined);
    // The session cookie is not sent from there.
    await page.getByText('You are not signed in').waitFor();
    await page.unroute(`${elsewhere}*`);
    await serve(`<iframe src="${own('/console')}"></iframe>`);
    await page.goto(elsewhere);
    await eventually(() => {
      expect(page.frames().map((frame) => frame.url())).toContain('chrome-error://chromewebdata/');
      return Promise.resolve();
    });
  });
});
