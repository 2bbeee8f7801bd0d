import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { newPayment, openCheckout, settleAs, type CheckoutRequest, type Payment } from '../payments.ts';
import { tea } from '../testing/samples.ts';
import { authenticationPage, cardPage, outcomePage, troublePage } from './pages.ts';
import { scriptSource } from './script.ts';
import { styleSource } from './style.ts';
import { localise, showAmount } from './texts.ts';

const start = 1_800_000_000_000;
const languages = ['en', 'de'];
const hostile = `"><script>alert(1)</script><img src=x onerror='alert(1)'>`;

const payment = (fields: Partial<CheckoutRequest> = {}): Payment =>
  openCheckout(
    newPayment({ ...tea, orderNumber: 'A-1', ...fields }, { token: 'a'.repeat(32), merchantId: 1 }, start),
    start,
  );
const settled = (outcome: 'approved' | 'declined', fields: Partial<CheckoutRequest> = {}) =>
  settleAs(outcome, 'f'.repeat(32))(payment(fields), start);

describe('every page', () => {
  it.each([
    cardPage(payment()),
    authenticationPage(payment()),
    outcomePage(settled('approved')),
    troublePage('notFound'),
  ])('states that no real money moves', (page) => {
    expect(page).toContain('Test mode: no real money moves');
  });
});

describe('the card page', () => {
  it('escapes text from merchants and customers', () => {
    const faulty = { faults: { cvv: 'cvv' }, shown: { expiry: hostile, holder: hostile } } as const;
    const page = cardPage(payment({ product: hostile, orderNumber: hostile }), faulty);
    expect(page).not.toContain('<script>alert');
    expect(page).not.toContain('<img');
    expect(page).toContain('&lt;script&gt;alert(1)&lt;/script&gt;');
  });

  it('has exactly the style sheet and the script allowed by the content security policy', () => {
    const hashOf = (element: RegExp) =>
      `'sha256-${createHash('sha256')
        .update(element.exec(cardPage(payment()))?.[1] ?? '')
        .digest('base64')}'`;
    expect(styleSource).toBe(hashOf(/<style>([\s\S]*)<\/style>/));
    expect(scriptSource).toBe(hashOf(/<script>([\s\S]*)<\/script>/));
  });
});

describe('the language of the pages', () => {
  it.each(languages)('%s: every page is in it', (locale) => {
    const { texts } = localise(locale);
    expect(cardPage(payment({ locale }))).toContain(`<html lang="${locale}">`);
    expect(cardPage(payment({ locale }))).toContain(texts.payByCard);
    expect(authenticationPage(payment({ locale }))).toContain(texts.reject);
    expect(outcomePage(settled('approved', { locale }))).toContain(texts.approvedTitle);
    expect(troublePage('notFound', { locale })).toContain(texts.notFoundTitle);
  });

  it.each([
    ['de-AT', 'de'],
    ['DE-Latn-CH', 'de'],
    ['pt', 'en'],
    ['xx-YY', 'en'],
    ['de-1', 'de'],
  ])('%s is shown as %s', (tag, language) => {
    expect(localise(tag).language).toBe(language);
    expect(cardPage(payment({ locale: tag }))).toContain(`<html lang="${language}">`);
  });
});

describe('an amount', () => {
  it.each([
    [123450, 'EUR', 'en', '€1,234.50'],
    [123450, 'EUR', 'de', '1.234,50 €'],
    [5000, 'JPY', 'en', '¥5,000'],
    [1234, 'KWD', 'en', 'KWD 1.234'],
    [100, 'HUF', 'en', 'HUF 1.00'],
    [9007199254740991, 'USD', 'en', '$90,071,992,547,409.91'],
    [1, 'USD', 'en', '$0.01'],
  ])('of %i minor units of %s reads in %s as %s', (amount, currency, locale, text) => {
    expect(showAmount(amount, currency, locale).replace(/\s/g, ' ')).toBe(text);
  });
});
