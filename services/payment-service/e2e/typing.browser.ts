/** The page's behavior while a customer types. Without scripts, the service accepts the same input. */
import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { approvedCard } from '../src/testing/samples.ts';
import { entries, fillIn, openScene, payButton, press, titleOf } from './customer.ts';

const scene = await openScene();
const { openPayment } = scene;

const mistyped = '4392963203551252';

/** The content of a field after pressing the given keys in it. */
async function typed(page: Page, field: string, keys: string): Promise<string> {
  const input = page.locator(field);
  await input.fill('');
  await input.pressSequentially(keys);
  return input.inputValue();
}

const brandOf = (page: Page) => page.locator('#brand').innerText();
const postsOf = (requested: readonly string[], token: string) =>
  requested.filter((url) => url.endsWith(token)).length;

describe('the card number', () => {
  it.each([
    [approvedCard, '4392 9632 0355 1251', 'Visa'],
    ['4392-9632-0355-1251', '4392 9632 0355 1251', 'Visa'],
    ['5555555555554444', '5555 5555 5555 4444', 'Mastercard'],
    ['378282246310005', '3782 822463 10005', 'American Express'],
    ['36227206271667', '3622 7206 2716 67', 'Diners Club'],
    ['9999', '9999', ''],
  ])('%s is shown as %s, of %s', async (keys, shown, brand) => {
    const { page, complaints } = await openPayment();
    expect(await typed(page, '#number', keys)).toBe(shown);
    expect(await brandOf(page)).toBe(brand);
    expect(complaints).toEqual([]);
  });

  it('is grouped when pasted, and keeps the caret when a digit is inserted or deleted', async () => {
    const { page } = await openPayment();
    const number = page.locator('#number');
    await number.fill(approvedCard);
    expect(await number.inputValue()).toBe('4392 9632 0355 1251');
    await page.evaluate("document.getElementById('number').setSelectionRange(6, 6)");
    await page.keyboard.press('Backspace');
    await page.keyboard.type('9');
    expect(await number.inputValue()).toBe('4392 9632 0355 1251');
    await page.keyboard.press('Delete');
    expect(await number.inputValue()).toBe('4392 9320 3551 251');
  });
});

it('the slash of the expiry date is added automatically, and can be deleted', async () => {
  const { page } = await openPayment();
  expect(await typed(page, '#expiry', '1230')).toBe('12/30');
  expect(await typed(page, '#expiry', '930')).toBe('09/30');
  expect(await typed(page, '#expiry', '12/30')).toBe('12/30');
  for (let times = 0; times < 3; times += 1) await page.keyboard.press('Backspace');
  expect(await page.locator('#expiry').inputValue()).toBe('12');
});

describe('a typing error in the number', () => {
  it('is shown when the field loses focus, before anything is sent, and can be corrected', async () => {
    const { page, token, requested } = await openPayment();
    await fillIn(page, { ...entries(approvedCard), number: mistyped });
    const fault = page.locator('#number-mistyped');
    expect(await fault.innerText()).toContain('typing error');
    const asked = postsOf(requested, token);
    await payButton(page).click();
    expect(await page.evaluate('document.activeElement.id')).toBe('number');
    expect(await page.locator('#number').getAttribute('aria-invalid')).toBe('true');
    expect(postsOf(requested, token)).toBe(asked);
    await fillIn(page, { number: approvedCard });
    expect(await fault.isVisible()).toBe(false);
    await press(payButton(page));
    expect(await titleOf(page)).toBe('Payment successful');
  });

  it('is reported by the service when scripts are disabled, and the payment stays open', async () => {
    const { page, token } = await openPayment({}, { javaScriptEnabled: false });
    await fillIn(page, { ...entries(approvedCard), number: mistyped });
    await press(payButton(page));
    expect(await page.getByRole('alert').innerText()).toContain('typing error');
    expect((await scene.harness.retrieve(token)).status).toBe('pending');
  });
});
