/** The shipped distributed setup: docker-compose.yml on a real engine. */
import { eventually } from '@tollgate/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createCustomer, payOnHostedPage } from '@tollgate/payment-service/customer';
import { expectAgreement, flowsOf } from './agreement.ts';
import { fund, newLoad, runFlows } from './mixed-load.ts';
import {
  compose,
  containers,
  crash,
  gatewayWith,
  lastLogs,
  memoryInMiB,
  originsOf,
  readTopic,
  removeEverything,
  sandboxOfContainers,
  startShop,
  stopShop,
  tollgateCommand,
  untilHealthy,
} from './compose-system.ts';
import type { CallGateway, ReachedSystem } from './system.ts';

const services = [
  ...['api', 'command-service', 'query-service', 'callback-ingester'],
  ...['projector', 'event-publisher', 'notifier'],
];
const others = ['payment-service', 'kafka', 'eventstoredb'];
const minutes = 60_000;
/** Number of payments and of payouts in parallel with the kills. */
const roundsMin = 3;
/** Memory requested by most Deployments of infra/kubernetes. */
const restMiB = 384;
const settled = { timeoutMs: 3 * minutes, intervalMs: 500 };

let system: ReachedSystem;
let shop: Awaited<ReturnType<typeof startShop>>;
let ca: string;
let origins: string[] = [];

const paymentOf = async (token: string) =>
  (await system.gateway('GET', `/api/v1/payments/${token}`)).body.payment;

beforeAll(async () => {
  await removeEverything();
}, 2 * minutes);

afterAll(async () => {
  if (origins.length === 0) process.stdout.write(await lastLogs());
  await removeEverything();
}, 2 * minutes);

it('start from scratch, and all are healthy', { timeout: 8 * minutes }, async () => {
  await compose('up', '--detach', '--no-build');
  await untilHealthy();
  const all = await containers();
  expect(all.map(({ service }) => service).toSorted()).toEqual(
    [...services, ...others, 'topics', 'signing'].toSorted(),
  );
  for (const each of all.filter(({ service }) => service === 'topics' || service === 'signing'))
    expect(each).toMatchObject({ state: 'exited' });
  origins = await originsOf('api', 3_000);
});

it('accept a payment of a team created by the command line', { timeout: 3 * minutes }, async () => {
  const scopes = ['--environment', 'sandbox', '--scopes', 'payments,refunds,payouts,read,admin'];
  shop = await startShop();
  await tollgateCommand('team', 'add', 'shop');
  await tollgateCommand('team', 'allow-origins', 'shop', '--callback', new URL(shop.url).origin);
  const { key } = JSON.parse(await tollgateCommand('key', 'issue', 'shop', ...scopes, '--json')) as {
    key: string;
  };
  const ofSandbox = await sandboxOfContainers();
  ca = ofSandbox.ca;
  const gateway: CallGateway = gatewayWith(key, () => origins);
  system = { gateway, sandbox: ofSandbox.sandbox };

  const body = { ...terms('first'), amount: 1_250, callbackUrl: shop.url };
  const created = await eventually(async () => {
    const answer = await gateway('POST', '/api/v1/payments', { body });
    expect(answer).toMatchObject({ statusCode: 200 });
    return answer.body;
  });
  const { token, processingUrl } = created;
  await payOnHostedPage(createCustomer(ca), { processingUrl, card: '4392963203551251' });
  await eventually(async () => expect(await paymentOf(token)).toMatchObject({ status: 'approved' }), settled);
  const refund = { body: { token, amount: 250 }, headers: { 'idempotency-key': 'first' } };
  expect(await gateway('POST', '/api/v1/refunds', refund)).toMatchObject({ statusCode: 200 });
  await eventually(
    async () => expect(await paymentOf(token)).toMatchObject({ refundedAmount: 250 }),
    settled,
  );

  await eventually(async () => {
    const statuses = (await shop.received()).filter(({ body: of }) => of.token === token);
    expect(statuses.length).toBeGreaterThan(0);
  }, settled);
  const records = (await readTopic('gateway.payments.v1')).filter(
    ({ value }) => (value as { payment: { token: string } }).payment.token === token,
  );
  expect(records.at(-1)?.value).toMatchObject({ payment: { status: 'approved', refundedAmount: 250 } });
});

it('use no more memory at rest than their pods request', { timeout: 2 * minutes }, async () => {
  for (const [name, mib] of await memoryInMiB())
    if (services.some((service) => name.includes(`_${service}_`))) expect(mib, name).toBeLessThan(restMiB);
});

it('run with two instances each', { timeout: 5 * minutes }, async () => {
  const scales = services.flatMap((service) => ['--scale', `${service}=2`]);
  await compose('up', '--detach', '--no-build', ...scales);
  await untilHealthy();
  const counts = Map.groupBy(await containers(), ({ service }) => service);
  for (const service of services) expect(counts.get(service), service).toHaveLength(2);
  origins = await originsOf('api', 3_000);
  expect(new Set(origins).size).toBe(2);
});

const terms = (orderNumber: string) => ({ product: 'Tea', amount: 100, currency: 'EUR', orderNumber });
const freshOrder = () => `probe-${process.hrtime.bigint()}`;

async function untilTaken(): Promise<void> {
  const answer = await system.gateway('POST', '/api/v1/payments', { body: terms(freshOrder()) });
  expect(answer).toMatchObject({ statusCode: 200 });
}

describe('killed in turn under load', () => {
  const load = newLoad(() => system);

  it('they restart, and lose nothing', { timeout: 20 * minutes }, async () => {
    await fund(load);
    let isKilling = true;
    let rounds = 0;
    const loading = (async () => {
      for (; isKilling || rounds < roundsMin; rounds += 1) {
        const flows = flowsOf(load, { refunded: 4, captureOrVoid: 4, payouts: 2 }, `round-${rounds}-`);
        await runFlows(flows, 2);
      }
    })();
    loading.catch(() => undefined);
    for (const service of [...services, ...others]) {
      const [victim] = (await containers()).filter((each) => each.service === service);
      if (victim === undefined) throw new Error(`there is no ${service}`);
      await crash(victim);
      // An account that did not answer is not called for a while, which is unrelated to the next kill.
      await eventually(untilTaken, settled);
      if (service === 'api') origins = await originsOf('api', 3_000);
    }
    isKilling = false;
    await loading;
    expect(load.contradictions).toEqual([]);
    expect(load.outcomes).toHaveLength(10 * rounds);
  });

  it('and gateway and ledger agree', { timeout: 5 * minutes }, async () => {
    await eventually(() => expectAgreement(system, load), settled);
  });

  it('and every event is on the topic once, in order', { timeout: 6 * minutes }, async () => {
    await eventually(async () => {
      const records = await readTopic('gateway.payments.v1');
      const byPayment = Map.groupBy(records, ({ value }) => (value as TopicRecord).payment.token);
      for (const { token, kind } of load.outcomes) {
        if (kind !== 'payment') continue;
        const sequences = (byPayment.get(token) ?? []).map(
          ({ value }) => (value as TopicRecord).event.sequence,
        );
        expect(sequences, token).toEqual(sequences.map((_, index) => index));
        const { events } = (await system.gateway('GET', `/api/v1/payments/${token}/events`)).body;
        expect(sequences.length, token).toBe(events.length);
      }
    }, settled);
  });

  it('and the read models match the events', { timeout: 6 * minutes }, async () => {
    await eventually(
      async () => expect(await tollgateCommand('rebuild', '--check')).toContain('views match their events'),
      settled,
    );
  });

  it('and all data is still there after down and up', { timeout: 8 * minutes }, async () => {
    await stopShop();
    await compose('down', '--timeout', '20');
    expect(await containers()).toEqual([]);
    await compose('up', '--detach', '--no-build');
    await untilHealthy();
    origins = await originsOf('api', 3_000);
    await eventually(() => expectAgreement(system, load), settled);
  });
});

interface TopicRecord {
  payment: { token: string };
  event: { sequence: number };
}
