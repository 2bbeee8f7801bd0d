import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startHarness, type Harness } from '../testing/harness.ts';
import {
  approvedCard,
  authenticatedCard,
  authenticatedDeclinedCard,
  declinedCard,
  goodForm,
} from '../testing/samples.ts';

let harness: Harness;
beforeAll(async () => {
  harness = await startHarness();
});
afterAll(() => harness.remove());

const urls = { redirectSuccessUrl: 'https://shop.example/ok', redirectFailUrl: 'http://shop.example/no' };
const submit = (token: string, form: Record<string, string>) => harness.browse(`/checkout/${token}`, form);
const answer = (token: string, choice: string) =>
  harness.browse(`/checkout/${token}/authentication`, { answer: choice });
const titleOf = (page: { text: string }) => /<h1>(.*)<\/h1>/.exec(page.text)?.[1];
const statusesOf = async (orderNumber: string) =>
  (await harness.ledger(orderNumber)).payments[0]?.statuses.map(({ status }) => status);

describe('opening the page', () => {
  it('makes the payment pending, once, and shows the form', async () => {
    const token = await harness.create({ orderNumber: 'open-1', product: 'Darjeeling' });
    for (let times = 0; times < 2; times += 1) {
      const page = await harness.browse(`/checkout/${token}`);
      expect(page.statusCode).toBe(200);
      expect(page.text).toContain('Darjeeling');
      expect(page.text).toContain('<form method="post"');
    }
    expect(await statusesOf('open-1')).toEqual(['init', 'pending']);
  });

  it("is in the language of the customer's browser where the merchant asked for none", async () => {
    const languageOf = async (token: string, header: string) =>
      /<html lang="(..)">/.exec(
        (await harness.browse(`/checkout/${token}`, undefined, { 'accept-language': header })).text,
      )?.[1];
    const token = await harness.create();
    expect(await languageOf(token, 'pt-BR,fr-CA;q=0.8,de;q=0.9')).toBe('de');
    expect(await languageOf(token, 'xx, *;q=0.5')).toBe('en');
    expect(await languageOf(await harness.create({ locale: 'es' }), 'de')).toBe('es');
    expect(await languageOf('none', 'ja')).toBe('ja');
  });

  it('names the product first, the merchant, and a long order number by its ends', async () => {
    const orderNumber = 'pay_jf3eput2ajepzunav74niglt4b.1';
    const { text } = await harness.browse(`/checkout/${await harness.create({ orderNumber })}`);
    expect(text).toContain(`<dd title="${orderNumber}">pay_jf3ep…iglt4b.1</dd>`);
    expect(text).toContain('<dd title="demo">demo</dd>');
    expect(text.indexOf('Tea')).toBeLessThan(text.indexOf('€12.50'));
  });

  it('shows a clear page where there is no payment', async () => {
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

  it('sends headers that keep the page from being framed, stored, sniffed and scripted', async () => {
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

  it('allows its forms to lead to the merchant, and nowhere else', async () => {
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

describe('paying by card', () => {
  it.each([
    ['approved', approvedCard, 'Payment successful', undefined],
    ['declined', declinedCard, 'Payment declined', 'card_declined'],
    ['declined', '4111111111111111', 'Payment declined', 'card_declined'],
  ])('is %s with %s', async (status, number, title, declineReason) => {
    const token = await harness.create({ orderNumber: `pay-${number}` });
    await harness.browse(`/checkout/${token}`);
    const posted = await submit(token, goodForm(number));
    expect([posted.statusCode, posted.location]).toEqual([303, `/checkout/${token}`]);
    expect(titleOf(await harness.browse(`/checkout/${token}`))).toBe(title);
    const payment = await harness.retrieve(token);
    expect(payment).toMatchObject({
      status,
      sanitizedMask: `${number.slice(0, 6)}******${number.slice(-4)}`,
    });
    expect(payment.declineReason).toBe(declineReason);
    expect(await statusesOf(`pay-${number}`)).toEqual(['init', 'pending', status]);
  });

  it.each([
    ['approved', authenticatedCard, 'confirm', 'Payment successful', undefined],
    ['declined', authenticatedCard, 'reject', 'Payment declined', 'authentication_rejected'],
    ['declined', authenticatedDeclinedCard, 'confirm', 'Payment declined', 'card_declined'],
    ['declined', authenticatedDeclinedCard, 'reject', 'Payment declined', 'authentication_rejected'],
  ])(
    'is %s with %s after the customer has answered %s',
    async (status, number, choice, title, declineReason) => {
      const token = await harness.create();
      const authentication = `/checkout/${token}/authentication`;
      const posted = await submit(token, goodForm(number));
      expect([posted.statusCode, posted.location]).toEqual([303, authentication]);
      const page = await harness.browse(authentication);
      expect(titleOf(page)).toBe('Confirm your payment');
      expect(page.text.match(/<button /g)).toHaveLength(2);
      expect((await harness.retrieve(token)).status).toBe('pending');
      expect((await answer(token, choice)).location).toBe(`/checkout/${token}`);
      expect(titleOf(await harness.browse(`/checkout/${token}`))).toBe(title);
      const payment = await harness.retrieve(token);
      expect([payment.status, payment.declineReason]).toEqual([status, declineReason]);
    },
  );

  it('leads to the merchant where the merchant has said where', async () => {
    const paid = await submit(await harness.create(urls), goodForm(approvedCard));
    expect([paid.statusCode, paid.location]).toEqual([303, urls.redirectSuccessUrl]);
    const failed = await submit(await harness.create(urls), goodForm(declinedCard));
    expect([failed.statusCode, failed.location]).toEqual([303, urls.redirectFailUrl]);
    const authenticated = await harness.create(urls);
    await submit(authenticated, goodForm(authenticatedCard));
    expect((await answer(authenticated, 'confirm')).location).toBe(urls.redirectSuccessUrl);
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
    const token = await harness.create({ locale: 'fr' });
    const page = await harness.browse(`/checkout/${token}`, form, {
      ...(contentType === undefined ? {} : { 'content-type': contentType }),
    });
    expect([page.statusCode, titleOf(page)]).toEqual([statusCode, 'Saisie illisible']);
    expect((await harness.retrieve(token)).status).toBe('init');
  });
});

describe('what is done twice, backwards or too late', () => {
  it('a form sent twice pays once and shows the same', async () => {
    const token = await harness.create({ orderNumber: 'twice' });
    const both = await Promise.all([
      submit(token, goodForm(approvedCard)),
      submit(token, goodForm(approvedCard)),
    ]);
    expect(both.map(({ location }) => location)).toEqual([`/checkout/${token}`, `/checkout/${token}`]);
    expect(await statusesOf('twice')).toEqual(['init', 'pending', 'approved']);
  });

  it('the way back from the authentication page leads forward again', async () => {
    const token = await harness.create();
    await submit(token, goodForm(authenticatedCard));
    const page = await harness.browse(`/checkout/${token}`);
    expect([page.statusCode, page.location]).toEqual([303, `/checkout/${token}/authentication`]);
  });

  it('an expired payment takes no card and says so', async () => {
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
