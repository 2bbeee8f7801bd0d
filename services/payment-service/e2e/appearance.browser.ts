/** Layout, accessibility and security of the hosted checkout, in a real browser. */
import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { authenticatedCard } from '../src/testing/samples.ts';
import { entries, fillIn, openScene, payButton, press } from './customer.ts';

const scene = await openScene();

const locales = ['en', 'de'] as const;

/**
 * Shows every page to `inspect` in turn: the form, its error messages, the authentication, the outcome, and a missing
 * payment.
 */
async function inspectAll(
  page: Page,
  fields: object,
  inspect: (name: string) => Promise<void>,
): Promise<void> {
  const token = await scene.harness.create({ ...scene.shop.redirects, ...fields });
  await page.goto(scene.checkoutUrl(token));
  await inspect('card');
  await press(payButton(page));
  await inspect('mistakes');
  await fillIn(page, entries(authenticatedCard));
  await press(payButton(page));
  await inspect('authentication');
  await press(payButton(page));
  await page.waitForURL(`${scene.shop.url}/thanks`);
  await page.goto(scene.checkoutUrl(token));
  await inspect('outcome');
  await page.goto(scene.checkoutUrl('none'));
  await inspect('trouble');
}

describe('the width of a small phone, 320 px,', () => {
  it.each(locales)('is enough for every page in %s, whatever the merchant writes', async (locale) => {
    const { page } = await scene.newCustomer({ viewport: { width: 320, height: 568 } });
    const long = {
      product: 'W'.repeat(255),
      orderNumber: '0123456789'.repeat(25),
      amount: 999_999_999_999,
    };
    await inspectAll(page, { ...long, locale }, async (name) => {
      const width = await page.evaluate<number>('document.documentElement.scrollWidth');
      expect({ name, width }).toEqual({ name, width: 320 });
    });
  });

  it('makes every control at least 44 px high', async () => {
    const { page } = await scene.newCustomer({ viewport: { width: 320, height: 568 } });
    await inspectAll(page, {}, async (name) => {
      for (const target of await page.locator('input, button, a.button').all()) {
        const height = (await target.boundingBox())?.height ?? 0;
        expect({ name, isHighEnough: height >= 44 }).toEqual({ name, isHighEnough: true });
      }
    });
  });
});

describe('accessibility', () => {
  it('every page has a language, one heading, one main part, its own title, and no duplicate identifier', async () => {
    const { page } = await scene.newCustomer();
    const titles = new Set<string>();
    await inspectAll(page, {}, async (name) => {
      titles.add(await page.title());
      const lang = await page.locator('html').getAttribute('lang');
      const counts = {
        h1: await page.getByRole('heading', { level: 1 }).count(),
        main: await page.getByRole('main').count(),
      };
      const ids = await page.evaluate<string[]>(
        "[...document.querySelectorAll('[id]')].map((element) => element.id)",
      );
      expect({ name, lang, ...counts, ids }).toEqual({
        name,
        lang: 'en',
        h1: 1,
        main: 1,
        ids: [...new Set(ids)],
      });
    });
    expect(titles.size).toBe(5);
  });

  it('every field has a label, an autofill purpose, and existing descriptions', async () => {
    const { page } = await scene.newCustomer();
    await page.goto(scene.checkoutUrl(await scene.harness.create()));
    await press(payButton(page));
    for (const [label, purpose] of [
      ['Card number', 'cc-number'],
      ['Expiry date', 'cc-exp'],
      ['Security code', 'cc-csc'],
      ['Name on card', 'cc-name'],
    ] as const) {
      const input = page.getByRole('textbox', { name: label, exact: true });
      expect(await input.getAttribute('autocomplete')).toBe(purpose);
      for (const id of ((await input.getAttribute('aria-describedby')) ?? '').split(' '))
        expect(await page.locator(`#${id}`).innerText()).not.toBe('');
    }
  });

  it.each(['light', 'dark'] as const)(
    'text has a contrast of 4.5, and edges of fields have 3, in %s',
    async (colorScheme) => {
      const { page } = await scene.newCustomer({ colorScheme });
      await inspectAll(page, { orderNumber: 'contrast' }, async (name) => {
        const measured = await page.evaluate<{ what: string; ratio: number; needed: number }[]>(contrasts);
        expect(measured.length).toBeGreaterThan(2);
        expect({ name, tooLow: measured.filter(({ ratio, needed }) => ratio < needed) }).toEqual({
          name,
          tooLow: [],
        });
      });
    },
  );
});

/** Runs in the page: the contrast, as WCAG 2 computes it, of each text and of each edge of a field. */
const contrasts = `(() => {
  const channels = (color) => color.match(/[\\d.]+/g).map(Number);
  const isSolid = (color) => (channels(color)[3] ?? 1) === 1;
  const background = (element) => {
    for (let each = element; each !== null; each = each.parentElement) {
      const color = getComputedStyle(each).backgroundColor;
      if (isSolid(color)) return color;
    }
    throw new Error('no background');
  };
  const luminance = (color) => {
    const [r, g, b] = channels(color).slice(0, 3).map((value) => value / 255)
      .map((value) => (value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const ratio = (one, other) => {
    const [high, low] = [luminance(one), luminance(other)].sort((a, b) => b - a);
    return (high + 0.05) / (low + 0.05);
  };
  const hasText = (element) => [...element.childNodes].some((node) => node.nodeType === 3 && node.data.trim() !== '');
  const texts = [...document.body.querySelectorAll('*')].filter(hasText).map((element) => ({
    what: element.tagName + '.' + element.getAttribute('class'), needed: 4.5,
    ratio: ratio(getComputedStyle(element).color, background(element)),
  }));
  const edges = [...document.querySelectorAll('input, button.second')].map((element) => ({
    what: 'edge of ' + element.tagName, needed: 3,
    ratio: ratio(getComputedStyle(element).borderTopColor, background(element.parentElement)),
  }));
  return [...texts, ...edges];
})()`;

describe('every answer', () => {
  it('makes the browser contact only the service, store nothing, and report no errors', async () => {
    const { page, context, requested, complaints } = await scene.newCustomer();
    await inspectAll(page, {}, async () => {
      expect(await page.locator('script[src], link, img, iframe, [style], [onclick]').count()).toBe(0);
    });
    const origins = new Set(requested.map((url) => new URL(url).origin));
    expect(origins).toEqual(new Set([new URL(scene.checkoutUrl('x')).origin, scene.shop.url]));
    expect(await context.cookies()).toEqual([]);
    // Browsers log any page with 422 or 404 as an error.
    expect(complaints.filter((text) => !/status of (422|404)/.test(text))).toEqual([]);
  });
});
