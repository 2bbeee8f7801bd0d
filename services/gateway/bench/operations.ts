/**
 * `npm run bench -- operations`: each operation of the API by itself, with a Payment Service that answers at once: rate,
 * duration, and CPU time. The embedded store and topics, or those of EVENTSTORE_URL and KAFKA_BROKERS.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { readCount } from '@tollgate/testing/bench';
import { get, newOrderNumbers, post, sendAll } from './http-load.ts';
import {
  type GatewayTarget,
  countOf,
  cpuMsOf,
  memoryOf,
  rounded,
  say,
  startBareService,
  startGateway,
  stopAll,
  untilShown,
} from './programs.ts';

const connections = 32;
const card = { pan: '4392963203551251', expires: '12/2030', holder: 'ANNA MUSTER', cvv: '123' };
const terms = { product: 'Tea', amount: 1250, currency: 'EUR' };

interface Bench {
  gateway: GatewayTarget;
  durationMs: number;
}

/**
 * Sends the results of `next`, waits until everything can be read, and prints its row. Returns the matches of `pattern` in each
 * answer.
 */
async function measure(
  { gateway, durationMs }: Bench,
  operation: string,
  { next, pattern }: { next: (number: number) => string | undefined; pattern?: RegExp },
): Promise<string[]> {
  const found: string[] = [];
  const before = cpuMsOf(gateway.child);
  const pace = { url: gateway.url, connections, durationMs };
  const { count, perSecond, medianMs, p99Ms } = await sendAll(pace, next, (answer) => {
    const name = pattern?.exec(answer)?.[1];
    if (name !== undefined) found.push(name);
  });
  await untilShown(gateway);
  const cpuMs = (cpuMsOf(gateway.child) - before) / count;
  say(
    `${operation} (${rounded(count)})`,
    `${rounded(perSecond)}/s, p50 / p99 ${medianMs.toFixed(1)} / ${p99Ms.toFixed(1)} ms, processor ${cpuMs.toFixed(2)} ms`,
  );
  return found;
}

const tokenPattern = /"token":"(pay_[^"]+)"/;

async function measureAll(bench: Bench): Promise<void> {
  const { url, key } = bench.gateway;
  const orderNumber = newOrderNumbers();
  const create = (more: object) => () =>
    post(url, {
      key,
      path: '/api/v1/payments',
      body: { ...terms, orderNumber: orderNumber(), ...more },
    });
  const each = (tokens: readonly string[], path: string) => (number: number) => {
    const token = tokens[number];
    return token === undefined
      ? undefined
      : post(url, { key, path, body: { token }, idempotencyKey: orderNumber() });
  };
  const withToken = { pattern: tokenPattern };
  await measure(bench, 'hosted payment', { next: create({ customer: { email: 'anna@example.com' } }) });
  const paid = await measure(bench, 'payment by card', {
    next: create({ card }),
    ...withToken,
  });
  const held = await measure(bench, 'payment by card, held', {
    next: create({ card, needConfirmation: true }),
    ...withToken,
  });
  while ((await countOf(bench.gateway, 'authorized')) < held.length) await pause(50);
  await measure(bench, 'capture', { next: each(held, '/api/v1/payments/confirm') });
  const [recurringToken] = await measure({ ...bench, durationMs: 1 }, 'first recurring payments', {
    next: create({ card, recurring: true }),
    pattern: /"recurringToken":"(rec_[^"]+)"/,
  });
  await measure(bench, 'payment by recurring token', {
    next: create({ recurringToken }),
  });
  await measure(bench, 'refund', { next: each(paid, '/api/v1/refunds') });
  const pathOf = (number: number) => `/api/v1/payments/${paid[number % paid.length]}`;
  await measure(bench, 'retrieve', { next: (number) => get(url, { key, path: pathOf(number) }) });
  const list = get(url, { key, path: '/api/v1/payments?perPage=20' });
  await measure(bench, 'list, 20 of them', { next: () => list });
}

async function main(): Promise<void> {
  const durationMs = 1_000 * readCount({ name: '--seconds', usual: 4 });
  const service = await startBareService();
  const names = ['EVENTSTORE_URL', 'KAFKA_BROKERS'];
  const env = Object.fromEntries(
    names.flatMap((name) => (process.env[name] === undefined ? [] : [[name, process.env[name]]])),
  );
  const gateway = await startGateway({ service, name: 'gateway', env });
  await measureAll({ gateway, durationMs });
  const { now, most } = memoryOf(gateway.child);
  say('memory of the gateway: now, at the most', `${rounded(now)}, ${rounded(most)} MiB`);
}

try {
  await main();
} finally {
  await stopAll();
}
