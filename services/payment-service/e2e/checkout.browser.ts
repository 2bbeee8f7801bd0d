/** The customer's journey through the hosted checkout, in a real browser. */
import { describe, expect, it } from 'vitest';
import {
  approvedCard,
  authenticatedCard,
  authenticatedDeclinedCard,
  declinedCard,
} from '../src/testing/samples.ts';
import { entries, fillIn, openScene, payButton, press, titleOf, type Customer } from './customer.ts';

const scene = await openScene();
const { openPayment } = scene;

const focused = (page: Customer['page']) =>
  page.evaluate<string>(
    'document.activeElement.id || document.activeElement.className || document.activeElement.tagName',
  );

const paths = [
  ['approved', approvedCard, undefined, 'Payment successful'],
  ['declined', declinedCard, undefined, 'Payment declined'],
  ['declined', '4111111111111111', undefined, 'Payment declined'],
  ['approved', authenticatedCard, 'Confirm payment', 'Payment successful'],
  ['declined', authenticatedCard, 'Reject', 'Payment declined'],
  ['declined', authenticatedDeclinedCard, 'Confirm payment', 'Payment declined'],
  ['declined', authenticatedDeclinedCard, 'Reject', 'Payment declined'],
] as const;

describe.each([
  ['with JavaScript', {}],
  ['without JavaScript', { javaScriptEnabled: false }],
])('a card, %s,', (_how, options) => {
  it.each(paths)('leads to %s: %s, answered %s', async (status, number, answer, title) => {
    const { page, token, requested, complaints } = await openPayment({}, options);
    await fillIn(page, entries(number));
    await press(page.getByRole('button', { name: 'Pay €12.50' }));
    if (answer !== undefined) {
      expect(await titleOf(page)).toBe('Confirm your payment');
      expect((await scene.harness.retrieve(token)).status).toBe('pending');
      await press(page.getByRole('button', { name: answer }));
    }
    expect(await titleOf(page)).toBe(title);
    expect((await scene.harness.retrieve(token)).status).toBe(status);
    const { origin } = new URL(scene.checkoutUrl(token));
    expect(requested.filter((url) => new URL(url).origin !== origin)).toEqual([]);
    expect(complaints).toEqual([]);
  });
});

describe('a merchant with pages of its own', () => {
  it.each([
    [approvedCard, '/thanks'],
    [declinedCard, '/sorry'],
  ])('gets the customer back after %s at %s', async (number, path) => {
    const { page, token, complaints } = await openPayment(scene.shop.redirects);
    await fillIn(page, entries(number));
    await press(payButton(page));
    expect(page.url()).toBe(`${scene.shop.url}${path}`);
    await page.goto(scene.checkoutUrl(token));
    await press(page.getByRole('link', { name: 'Back to the merchant' }));
    expect(page.url()).toBe(`${scene.shop.url}${path}`);
    // The browser requests the shop's icon, which does not exist.
    expect(complaints.filter((text) => !text.includes('favicon'))).toEqual([]);
  });

  it('cannot frame the page', async () => {
    const { page, token } = await openPayment();
    const url = scene.checkoutUrl(token);
    await page.goto(`${scene.shop.url}/?frame=${encodeURIComponent(url)}`);
    const texts = await Promise.all(page.frames().map((frame) => frame.locator('body').innerText()));
    expect(texts).toHaveLength(2);
    expect(texts.join()).not.toContain('Card number');
  });
});

describe('a mistake', () => {
  it('is reported next to its field and in a focused list, without returning secrets', async () => {
    const { page, token } = await openPayment();
    await fillIn(page, { number: '4392 9632 0355 12', expiry: '13/99', cvv: '98', holder: 'Ada Lovelace' });
    await fillIn(page, { number: `${approvedCard}12345` });
    await press(payButton(page));
    expect(await page.title()).toBe('Error: Pay by card');
    expect(await focused(page)).toBe('faults');
    expect(await page.getByRole('alert').getByRole('link').allInnerTexts()).toEqual([
      'Enter the card number: 12 to 19 digits',
      'Enter the expiry date as MM/YY',
      'Enter the security code: 3 or 4 digits',
    ]);
    for (const name of ['number', 'expiry', 'cvv']) {
      const input = page.locator(`#${name}`);
      expect(await input.getAttribute('aria-invalid')).toBe('true');
      expect(await input.getAttribute('aria-describedby')).toContain(`${name}-fault`);
      expect(await page.locator(`#${name}-fault`).isVisible()).toBe(true);
      expect(await input.inputValue()).toBe('');
    }
    expect(await page.locator('#holder').inputValue()).toBe('Ada Lovelace');
    expect(await page.content()).not.toMatch(/4392|0355|>98<|"98"/);
    expect((await scene.harness.retrieve(token)).status).toBe('pending');
  });

  it('is one link away from its field, and can be corrected', async () => {
    const { page, token } = await openPayment();
    await fillIn(page, { ...entries(approvedCard), cvv: '1' });
    await press(payButton(page));
    await page.getByRole('alert').getByRole('link').click();
    expect(await focused(page)).toBe('cvv');
    await fillIn(page, entries(approvedCard));
    await press(payButton(page));
    expect((await scene.harness.retrieve(token)).status).toBe('approved');
  });
});

describe('going back', () => {
  it('after the payment shows its outcome and never the form', async () => {
    const { page, token } = await openPayment({ orderNumber: 'back-1' });
    await fillIn(page, entries(approvedCard));
    await press(payButton(page));
    await page.goBack();
    await page.reload();
    expect(await titleOf(page)).toBe('Payment successful');
    expect(await page.content()).not.toContain(approvedCard);
    expect((await scene.harness.retrieve(token)).status).toBe('approved');
    expect(await scene.statusesOf('back-1')).toEqual(['init', 'pending', 'approved']);
  });

  it('from the merchant shows the outcome, with the card number gone', async () => {
    const { page } = await openPayment(scene.shop.redirects);
    await fillIn(page, entries(declinedCard));
    await press(payButton(page));
    await page.goBack();
    expect(await titleOf(page)).toBe('Payment declined');
    expect(await page.locator('input').count()).toBe(0);
  });

  it('from the authentication page leads to it again', async () => {
    const { page } = await openPayment();
    await fillIn(page, entries(authenticatedCard));
    await press(payButton(page));
    await page.goBack();
    expect(await titleOf(page)).toBe('Confirm your payment');
  });
});

describe('the keyboard alone', () => {
  const hasVisibleFocus = "getComputedStyle(document.activeElement).outlineStyle === 'solid'";

  it('is enough to pay, in page order, with the focus always visible', async () => {
    const { page, token } = await openPayment();
    const { keyboard } = page;
    for (const [name, text] of Object.entries(entries(authenticatedCard))) {
      await keyboard.press('Tab');
      expect([await focused(page), await page.evaluate(hasVisibleFocus)]).toEqual([name, true]);
      await keyboard.type(text);
    }
    await keyboard.press('Tab');
    expect([await focused(page), await page.evaluate(hasVisibleFocus)]).toEqual(['BUTTON', true]);
    await keyboard.press('Enter');
    await page.waitForURL(/authentication$/);
    await keyboard.press('Tab');
    expect(await page.evaluate('document.activeElement.value')).toBe('confirm');
    expect(await page.evaluate(hasVisibleFocus)).toBe(true);
    await keyboard.press('Space');
    await page.getByRole('heading', { name: 'Payment successful' }).waitFor();
    expect((await scene.harness.retrieve(token)).status).toBe('approved');
  });

  it('submits the form with Enter in a field, and moves from the list of errors to the field', async () => {
    const { page } = await openPayment();
    await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    await page.getByRole('alert').waitFor();
    await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    expect(await focused(page)).toBe('number');
  });
});
