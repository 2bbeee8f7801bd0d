import { readFile, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { Writable } from 'node:stream';
import { createLog } from '@tollgate/service-kit';
import { startReceiver } from '@tollgate/testing';
import { describe, expect, it } from 'vitest';
import { startHarness } from './testing/harness.ts';
import { dayMs, goodForm, tea, testCards } from './testing/samples.ts';

const otherCard = '5555341244441115';
const cvv = '8642';

async function readAll(folder: string): Promise<Map<string, string>> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  return new Map(
    await Promise.all(files.map(async (file) => [file, await readFile(file, 'latin1')] as const)),
  );
}

describe('card numbers, security codes and keys', () => {
  it('are in no file and no log line after any operation', async () => {
    let logged = '';
    const sink = new Writable({
      write: (chunk: Buffer, _encoding, done) => {
        logged += chunk.toString();
        done();
      },
    });
    const harness = await startHarness({ log: createLog('payment-service', 'debug', sink) });
    const receiver = await startReceiver();
    const callbackUrl = `${receiver.url}/capability-of-the-merchant`;
    const seen: string[] = [];
    try {
      for (const number of [...testCards, otherCard]) {
        const form = { ...goodForm(number), cvv };
        const hosted = await harness.create({
          callbackUrl,
          orderNumber: `hosted-${number.slice(-4)}`,
        });
        seen.push((await harness.browse(`/checkout/${hosted}`, { ...form, expiry: 'x' })).text);
        seen.push(
          (await harness.browse(`/checkout/${hosted}`, { ...form, holder: number, number: cvv })).text,
        );
        seen.push((await harness.browse(`/checkout/${hosted}`, form)).text);
        seen.push((await harness.browse(`/checkout/${hosted}`, form, { 'content-type': 'text/plain' })).text);
        seen.push((await harness.browse(`/checkout/${number}`)).text);
        seen.push((await harness.browse(`/checkout/${hosted}/authentication`, { answer: number })).text);
        seen.push((await harness.pay(await harness.create(), { pan: number })).text);
        seen.push((await harness.pay(await harness.create(), { pan: number, cvv })).text);
        seen.push((await harness.call('GET', `/api/v1/payments/${number}`)).text);
        seen.push((await harness.call('POST', '/api/v1/payments', { card: { pan: number, cvv } })).text);
        const card = { pan: number, expires: '12/2099', holder: 'Ada', cvv };
        const post = async (path: string, body: object) =>
          seen.push((await harness.call('POST', path, body)).text);
        await post('/api/v1/payments', { ...tea, callbackUrl, recurring: true, card });
        await post('/api/v1/payments', { ...tea, card: { ...card, expires: '01/2020' } });
        await post('/api/v1/payments', { ...tea, card: { ...card, [number]: number } });
        await post('/api/v1/payments', { ...tea, recurringToken: number });
        const payout = { amount: 1, currency: 'EUR', orderNumber: 'x', callbackUrl };
        const payoutCard = { pan: number, expires: '12/2099' };
        await harness.advanceClock(dayMs);
        await post('/api/v1/payouts', { ...payout, destination: { card: payoutCard } });
        await post('/api/v1/payouts', { ...payout, destination: { card } });
        await post('/api/v1/refunds', { token: number });
        await post('/api/v1/payments/confirm', { token: number });
        seen.push((await harness.call('POST', '/api/v1/payments', `{"card":{"pan":"${number}"`)).text);
      }
      seen.push(
        JSON.stringify(await harness.ledger()),
        JSON.stringify(receiver.received.map(({ body }) => body)),
      );
      const key = harness.key();
      await harness.stop();

      const files = await readAll(harness.dataDir);
      // Control: data that is meant to be stored is found in the same way.
      expect([...files.values()].some((content) => content.includes('439296******1251'))).toBe(true);
      expect(logged).toContain('callback tried');
      for (const secret of [...testCards, otherCard, key]) {
        const holders = [...files].filter(([, content]) => content.includes(secret));
        expect(holders.map(([file]) => file)).toEqual([]);
        expect(logged).not.toContain(secret);
        expect(seen.filter((text) => text.includes(secret))).toEqual([]);
      }
      // A callback address may contain a capability of the merchant.
      expect(logged).not.toContain('capability-of-the-merchant');
      expect(seen.filter((text) => new RegExp(`\\b${cvv}\\b`).test(text))).toEqual([]);
    } finally {
      await receiver.close();
      await harness.remove();
    }
  });
});
