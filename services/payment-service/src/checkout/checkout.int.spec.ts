import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startHarness, type Harness } from '../testing/harness.ts';
import { approvedCard, goodForm } from '../testing/samples.ts';

let harness: Harness;
beforeAll(async () => {
  harness = await startHarness();
});
afterAll(() => harness.remove());

const urls = { redirectSuccessUrl: 'https://shop.example/ok', redirectFailUrl: 'http://shop.example/no' };
const submit = (token: string, form: Record<string, string>) => harness.browse(`/checkout/${token}`, form);
const titleOf = (page: { text: string }) => /<h1>(.*)<\/h1>/.exec(page.text)?.[1];
const statusesOf = async (orderNumber: string) =>
  (await harness.ledger(orderNumber)).payments[0]?.statuses.map(({ status }) => status);

describe('opening the page', () => {
  it('shows an error page if there is no payment', async () => {
    const path = `/checkout/${'0'.repeat(32)}`;
    for (const page of [
      await harness.browse(path),
      await harness.browse(`${path}/authentication`),
      await harness.browse(path, goodForm(approvedCard)),
      await harness.browse(`${path}/authentication`, { answer: 'confirm' }),
    ]) {
      expect([page.statusCode, titleOf(page)]).toEqual([404, 'Payment not found']);
      expect(page.headers['content-type']).toMatch(/^text\/html/);
    }
  });

  it('sends headers that prevent framing, caching, sniffing and scripting', async () => {
    const token = await harness.create(urls);
    for (const path of [`/checkout/${token}`, '/checkout/none']) {
      const { headers } = await harness.browse(path);
      expect(headers).toMatchObject({
        'cache-control': 'no-store',
        'referrer-policy': 'no-referrer',
        'x-content-type-options': 'nosniff',
        'x-frame-options': 'DENY',
      });
      const policy = String(headers['content-security-policy']);
      expect(policy).toMatch(
        /^default-src 'none'; style-src 'sha256-[^']+'; script-src 'sha256-[^']+'; base-uri 'none'; frame-ancestors 'none'; /,
      );
    }
  });

  it('allows its forms to redirect to the merchant, and nowhere else', async () => {
    const policyOf = async (fields: object) =>
      String(
        (await harness.browse(`/checkout/${await harness.create({ ...fields })}`)).headers[
          'content-security-policy'
        ],
      );
    expect(await policyOf(urls)).toMatch(
      /form-action 'self' https:\/\/shop\.example http:\/\/shop\.example$/,
    );
    expect(await policyOf({})).toMatch(/form-action 'self'$/);
    expect(await policyOf({ redirectSuccessUrl: 'https://a;script-src/x' })).toMatch(/form-action 'self'$/);
  });
});

describe('mistakes', () => {
  it('are shown on the form with 422, without the card number and the CVV', async () => {
    const token = await harness.create({ locale: 'de' });
    const page = await submit(token, {
      number: approvedCard,
      expiry: '13/99',
      cvv: '987',
      holder: 'Ada Lovelace',
    });
    expect(page.statusCode).toBe(422);
    expect(page.text).toContain('Bitte prüfen Sie Ihre Angaben');
    expect(page.text).toContain('value="Ada Lovelace"');
    for (const secret of [approvedCard, '4392', '1251', '987']) expect(page.text).not.toContain(secret);
    expect(await harness.retrieve(token)).toMatchObject({ status: 'pending' });
    expect((await harness.retrieve(token)).sanitizedMask).toBeUndefined();
  });

  it.each([
    ['another type than a form', goodForm(approvedCard), 'application/json', 415],
    ['a form that is too large', { number: '1'.repeat(5_000) }, undefined, 413],
  ])('are refused with a page: %s', async (_name, form, contentType, statusCode) => {
    const token = await harness.create({ locale: 'de' });
    const page = await harness.browse(`/checkout/${token}`, form, {
      ...(contentType === undefined ? {} : { 'content-type': contentType }),
    });
    expect([page.statusCode, titleOf(page)]).toEqual([statusCode, 'Angaben nicht lesbar']);
    expect((await harness.retrieve(token)).status).toBe('init');
  });
});

describe('repeated, outdated and late requests', () => {
  it('a form sent twice pays once and shows the same page', async () => {
    const token = await harness.create({ orderNumber: 'twice' });
    const both = await Promise.all([
      submit(token, goodForm(approvedCard)),
      submit(token, goodForm(approvedCard)),
    ]);
    expect(both.map(({ location }) => location)).toEqual([`/checkout/${token}`, `/checkout/${token}`]);
    expect(await statusesOf('twice')).toEqual(['init', 'pending', 'approved']);
  });

  it('an expired payment accepts no card and shows that it has expired', async () => {
    const token = await harness.create({ orderNumber: 'late', ...urls });
    await harness.browse(`/checkout/${token}`);
    await harness.advanceClock(30 * 60_000);
    const posted = await submit(token, goodForm(approvedCard));
    expect([posted.statusCode, posted.location]).toEqual([303, `/checkout/${token}`]);
    const page = await harness.browse(`/checkout/${token}`);
    expect(titleOf(page)).toBe('Payment expired');
    expect(page.text).toContain(`href="${urls.redirectFailUrl}"`);
    expect(await statusesOf('late')).toEqual(['init', 'pending', 'expired']);
  });
});
