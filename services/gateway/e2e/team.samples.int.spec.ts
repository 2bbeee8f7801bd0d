/**
 * `npm run test:samples`: every sample of docs/team, in every language, against a gateway and the possible outcomes of
 * a call.
 */
import { createHmac } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Secret } from '@tollgate/service-kit';
import { type Received, type Receiver, eventually, startReceiver } from '@tollgate/testing';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { issueKey, tollgate } from './commands.ts';
import { type FirstRequest, startSamplesProxy } from './samples-proxy.ts';
import { type Sample, createSample, languages } from './samples.ts';
import { type System, newDataDir, startSystem, stopEverything } from './system.ts';

let system: System;
let key: string;
let receiver: Receiver;
let webhookSecret: Secret;

beforeAll(async () => {
  receiver = await startReceiver();
  // A payment with a lost answer stays unknown longer than a sample runs.
  system = await startSystem({ env: { PROVIDER_QUIET_MS: '60000' } });
  key = await issueKey(system, 'demo', 'payments,cards,read');
  const { secrets } = await tollgate<{ secrets: string[] }>(
    system,
    ...['webhook', 'secret', 'demo', '--environment', 'sandbox'],
  );
  webhookSecret = new Secret(secrets[0] ?? '');
});
afterAll(async () => {
  await stopEverything();
  await receiver.close();
});

const cardOf = (pan: string) => ({ pan, expires: '12/2039', holder: 'Ada Lovelace', cvv: '123' });
const [approved, declined] = [cardOf('4392963203551251'), cardOf('4730198364688516')];

function openSample(page: string, name: string, language: string): Sample {
  const description = languages[language];
  if (description === undefined) throw new Error(`there is no language ${language}`);
  const sample = createSample(page, name, description);
  onTestFinished(() => sample.remove());
  return sample;
}

/** Runs the sample with an order whose first request gets the outcome `first`. */
async function payWith(language: string, orderNumber: string, body: object, first: FirstRequest = 'through') {
  const proxy = await startSamplesProxy(system.quickstart.gatewayUrl, first);
  onTestFinished(() => proxy.close());
  const file = join(newDataDir(), 'order.json');
  writeFileSync(
    file,
    JSON.stringify({ product: 'Tea', amount: 1250, currency: 'EUR', orderNumber, ...body }),
  );
  const printed = await openSample('outcomes', 'pay', language).run({
    argv: [`key-of-${orderNumber}`, file],
    env: { TOLLGATE_URL: proxy.url, TOLLGATE_KEY: key },
  });
  return { printed, keys: proxy.keys };
}

/** @returns the tokens of all payments created for an order */
async function paymentsOf(orderNumber: string): Promise<string[]> {
  const { body } = await system.gateway('GET', `/api/v1/payments?orderNumber=${orderNumber}`);
  return body.payments.map(({ token }) => token);
}

describe.each(Object.keys(languages))('in %s, a sample', (language) => {
  const order = (what: string) => `${language}-${what}`;

  it('creates a payment', async () => {
    const { printed } = await payWith(language, order('made'), {});
    expect(printed).toMatch(/^made pay_\w+$/);
  });

  it('reports a declined card, and requests once', async () => {
    const { printed, keys } = await payWith(language, order('declined'), { card: declined });
    expect(printed).toMatch(/^declined pay_\w+$/);
    expect(keys).toHaveLength(1);
  });

  it('reports an unknown outcome, and requests once', async () => {
    await system.sandbox('POST', '/sandbox/faults', [
      { operation: 'create', fault: 'error_before', times: 1 },
    ]);
    const { printed, keys } = await payWith(language, order('unknown'), { card: approved });
    expect(printed).toMatch(/^unknown pay_\w+$/);
    expect(keys).toHaveLength(1);
  });

  it('reports a refusal with its reason, and requests once', async () => {
    const { printed, keys } = await payWith(language, order('refused'), { amount: 0 });
    expect(printed).toBe('refused incorrect_amount');
    expect(keys).toHaveLength(1);
  });

  it('retries later under its key, if the answer has Retry-After', async () => {
    const { printed, keys } = await payWith(language, order('later'), {}, 'later');
    expect(printed).toMatch(/^made pay_\w+$/);
    expect(keys).toEqual(Array(2).fill(`key-of-${order('later')}`));
  });

  it('retries under its key without an answer, and the payment is created once', async () => {
    const { printed, keys } = await payWith(language, order('lost'), { card: approved }, 'lost');
    expect(keys).toEqual(Array(2).fill(`key-of-${order('lost')}`));
    await eventually(async () => expect(await paymentsOf(order('lost'))).toHaveLength(1));
    expect(printed).toBe(`made ${(await paymentsOf(order('lost')))[0]}`);
  });

  // Five starts of a virtual machine in a row.
  it("verifies the gateway's signature, and nothing else", { timeout: 240_000 }, async () => {
    await payWith(language, order('webhook'), { card: approved, callbackUrl: receiver.url });
    const webhook = await eventually(() => {
      const found = receiver.received.find(({ text }) => text.includes(order('webhook')));
      if (found === undefined) throw new Error('no webhook yet');
      return Promise.resolve(found);
    });
    const sample = openSample('webhook-signatures', 'verify', language);
    const verify = (secret: Secret, { headers, text }: Received) =>
      sample.run({
        argv: ['id', 'timestamp', 'signature'].map((name) => String(headers[`webhook-${name}`])),
        input: text,
        env: { TOLLGATE_WEBHOOK_SECRET: secret.reveal() },
      });
    const other = new Secret(`whsec_${Buffer.from('another secret').toString('base64')}`);
    expect(await verify(webhookSecret, webhook)).toBe('genuine');
    expect(await verify(webhookSecret, duringRotation(webhook, other))).toBe('genuine');
    const forgeries = [
      verify(other, webhook),
      verify(webhookSecret, { ...webhook, text: `${webhook.text} ` }),
      verify(webhookSecret, tenMinutesOld(webhook)),
    ];
    expect(await Promise.all(forgeries)).toEqual(Array(3).fill(expect.stringMatching(/^forged\b/)));
  });
});

function signedBy(secret: Secret, { headers, text }: Received): string {
  const key = Buffer.from(secret.reveal().slice('whsec_'.length), 'base64');
  const signed = `${String(headers['webhook-id'])}.${String(headers['webhook-timestamp'])}.${text}`;
  return `v1,${createHmac('sha256', key).update(signed).digest('base64')}`;
}

const withHeaders = (webhook: Received, changes: Record<string, string>): Received => ({
  ...webhook,
  headers: { ...webhook.headers, ...changes },
});

const duringRotation = (webhook: Received, next: Secret): Received =>
  withHeaders(webhook, {
    'webhook-signature': `${signedBy(next, webhook)} ${String(webhook.headers['webhook-signature'])}`,
  });

function tenMinutesOld(webhook: Received): Received {
  const timestamp = String(Number(webhook.headers['webhook-timestamp']) - 600);
  const old = withHeaders(webhook, { 'webhook-timestamp': timestamp });
  return withHeaders(old, { 'webhook-signature': signedBy(webhookSecret, old) });
}
